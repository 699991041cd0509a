/** What an agent on another server demands before it goes on: conditions of any kind, known here or not. Their words reach people, and no model. */
import { readAddress } from '@witan/protocol/names'
import { cutTo } from '../parameter/scrub.ts'
import { fieldOf, isRecord, type JsonRecord, textIn } from './record.ts'
import { type Asks, asksOf, longestText, mostAsked } from './remote-asks.ts'
import { type RemotePart, type RemoteTask, textOf } from './remote-task.ts'

/** Where a server between says whose condition it passes on. */
const issuerKey = 'dev.witan.issuer'

/** Who demands. */
interface Demanding {
  /** The address that was called. */
  readonly remote: string
  /** Whether it is believed about who demanded first. */
  readonly passesIssuers: boolean
}

/** The conditions in the status of a task. What is left out of them is named in `dropped` of the task. */
export function conditionsIn({ said, state, dropped }: RemoteTask, by: Demanding): Asks {
  const found = said.flatMap((part: RemotePart) => {
    const policy = part.kind === 'data' && textIn(part.data, 'type') === 'policy' ? fieldOf(part.data, 'policy') : null
    return isRecord(policy) ? [{ policy, id: textIn(part.kind === 'data' ? part.data : null, 'state') ?? null }] : []
  })
  const unsaid = { policy: { kind: 'unauthorized', message: cutTo(textOf(said), longestText) }, id: null }
  const all = found.length === 0 && state === 'TASK_STATE_AUTH_REQUIRED' ? [unsaid] : found
  return asksOf(
    all.slice(0, mostAsked).map(({ policy, id }) => [{ kind: 'policy', ...shownCondition(policy, by, dropped) }, id]),
  )
}

/** A condition as it is shown: with the issuer that is believed, and without a link that does not lead to that one. */
function shownCondition(
  given: JsonRecord,
  { remote, passesIssuers }: Demanding,
  dropped: Set<string>,
): { readonly issuer: string; readonly policy: JsonRecord } {
  const { state: _, url, ...others } = given
  const rest: Record<string, unknown> = others
  const named = fieldOf(fieldOf(given, 'data'), issuerKey)
  const believed = passesIssuers ? issuerIn(named) : null
  if (named !== undefined && believed === null) {
    const { [issuerKey]: __, ...data } = rest['data'] as JsonRecord
    rest['data'] = data
    dropped.add(`policy.data.${issuerKey}`)
  }
  const issuer = believed ?? remote
  if (typeof url === 'string' && leadsTo(url, hostOf(issuer))) return { issuer, policy: { ...rest, url } }
  if (url !== undefined) dropped.add('policy.url')
  return { issuer, policy: rest }
}

/** An address, or the URL of a card, in canonical form; null for anything else. */
function issuerIn(named: unknown): string | null {
  if (typeof named !== 'string' || named.length > 2_000) return null
  const read = readAddress(named)
  if (read.ok) return read.address.text
  const url = URL.canParse(named) ? new URL(named) : null
  return url?.protocol === 'https:' && url.username === '' ? url.href : null
}

/** The domain of an address, or the host of a card. */
export function hostOf(remote: string): string {
  if (remote.includes('://')) return URL.canParse(remote) ? new URL(remote).hostname : ''
  return remote.slice(remote.lastIndexOf('@') + 1)
}

function leadsTo(url: string, domain: string): boolean {
  if (domain === '' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' && (hostname === domain || hostname.endsWith(`.${domain}`))
}
