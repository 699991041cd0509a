/** How the models of peers read their protocol: in the tools that write to a peer, and in the system message of a responder [Tb25]. */
import type { AgentData } from '@witan/protocol'
import type { Protocol } from '@witan/protocol/protocols'
import { displayName } from '../../identity/display-name.ts'
import { type Description, firstLines, longestDescription, oneLine } from '../../tool/description.ts'
import type { PeerMessage } from './peer-messages.ts'

/** What the model of a responder reads of a protocol, in at most 1,024 characters; what it is to do with messages comes after that. */
export function describeProtocol({ name, purpose }: Pick<Protocol, 'name' | 'purpose'>): Description {
  return oneLine(`Protocol ${name}: ${purpose}`, longestDescription)
}

/** Describes a message to a peer in at most 1,024 characters. Purpose and description are cut where both have no room. */
export function describePeer(
  { peer, protocol, message }: Pick<PeerMessage, 'peer' | 'protocol' | 'message'>,
  child: Pick<AgentData, 'id' | 'name' | 'description'>,
): Description {
  const name = displayName(child)
  const to = name === null ? peer : `${peer} (${name})`
  const sends = `Sends \`${message.name}\` to ${to} by the protocol ${protocol.name}`
  const room = longestDescription - sends.length - ': \n\n'.length
  const about = firstLines(child.description, room).text
  const purpose = oneLine(protocol.purpose, Math.max(Math.floor(room / 2), room - about.length))
  const rest = firstLines(child.description, room - purpose.text.length)
  const first = purpose.text === '' ? `${sends}.` : `${sends}: ${purpose.text}`
  const text = rest.text === '' ? first : `${first}\n\n${rest.text}`
  return { text, isWhole: purpose.isWhole && rest.isWhole }
}
