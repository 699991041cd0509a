/** Checks who speaks with whom: each protocol exists, both ends fit, and the tools have names that a model can call. */
import type { AgentData, Finding } from '@witan/protocol'
import { edgesOf } from '@witan/protocol/edges'
import type { Acquaintance, Protocol, ProtocolUse } from '@witan/protocol/protocols'
import { nearest } from '../../identity/nearest.ts'
import { otherRole, peerMessagesIn, peerTool, speaksWith } from '../protocol/peer-messages.ts'
import type { AgentSet } from './graph.ts'
import { speakersIn } from './likely.ts'
import { errorAt } from './names.ts'

/** The protocols of a set, by name. */
type ProtocolSet = ReadonlyMap<string, Protocol>

/** The agents of a set, its protocols, and the agents that the same call checks. */
interface PeerSurvey {
  readonly agents: AgentSet
  readonly protocols: ProtocolSet
  readonly checked?: ReadonlySet<string>
}

/** Errors of one agent as an end of its protocols [T19, T20]. */
export function checkPeers(agent: AgentData, survey: PeerSurvey): Finding[] {
  return [
    ...ownEnds(agent, survey),
    ...otherEnds(agent, survey),
    ...longNames(agent, survey),
    ...othersTools(agent, survey),
  ]
}

const longestTool = 64

function ownEnds(agent: AgentData, { agents, protocols }: PeerSurvey): Finding[] {
  return agent.speaks.flatMap(({ protocol, role, peers }, index): Finding[] => {
    if (!protocols.has(protocol)) return [unknownProtocol(agent, { protocol, index }, protocols)]
    return (peers ?? []).flatMap((id, place) => {
      const peer = agents.get(id)
      if (peer === undefined || id === agent.id) return []
      const path = `speaks.${index}.peers.${place}`
      const end = { protocol, role: otherRole(role), peer: agent.id }
      return speaksWith(peer, end) ? [] : [mismatch(agent, { path, peer, protocol, role })]
    })
  })
}

function unknownProtocol(
  agent: AgentData,
  { protocol, index }: { readonly protocol: string; readonly index: number },
  protocols: ProtocolSet,
): Finding {
  const near = nearest(protocol, [...protocols.keys()])
  const meant = near === null ? '' : ` Did you mean \`${near}\`?`
  return errorAt(agent, `speaks.${index}.protocol`, {
    code: 'PROTOCOL_UNKNOWN',
    detail: `Agent \`${agent.id}\` speaks \`${protocol}\`, which does not exist.${meant}`,
    hint: 'Create the protocol first, or send both in one batch.',
  })
}

interface Mismatch {
  readonly path: string
  readonly peer: AgentData
  readonly protocol: string
  readonly role: 'initiator' | 'responder'
}

function mismatch(agent: AgentData, { path, peer, protocol, role }: Mismatch): Finding {
  const other = otherRole(role)
  const isOther = peer.speaks.some((one) => one.protocol === protocol && one.role === other)
  const why = isOther ? `does not name \`${agent.id}\` among its peers` : `does not speak it as ${other}`
  return errorAt(agent, path, {
    code: 'PROTOCOL_ENDS_MISMATCH',
    detail: `\`${agent.id}\` speaks \`${protocol}\` as ${role} with \`${peer.id}\`, which ${why}.`,
    hint: `Give \`${peer.id}\` the role ${other} with \`${agent.id}\` in \`speaks\`; send both in one batch.`,
  })
}

/** Peers that count on this agent for an end that it does not have. One that is checked too reports it itself. */
function otherEnds(agent: AgentData, { agents, checked }: PeerSurvey): Finding[] {
  return speakersIn(agents).flatMap((other) => {
    if (other.id === agent.id || checked?.has(other.id) === true) return []
    return other.speaks.flatMap(({ protocol, role, peers }): Finding[] => {
      const end = { protocol, role: otherRole(role), peer: other.id }
      if (peers?.includes(agent.id) !== true || speaksWith(agent, end)) return []
      const detail = `\`${other.id}\` speaks \`${protocol}\` as ${role} with \`${agent.id}\`, which then would not speak it as ${end.role} with \`${other.id}\`.`
      const hint = `Keep that role in \`speaks\`, or take \`${agent.id}\` out of \`${other.id}\` first.`
      return [errorAt(agent, 'speaks', { code: 'PROTOCOL_ENDS_MISMATCH', detail, hint })]
    })
  })
}

function longNames(agent: AgentData, survey: PeerSurvey): Finding[] {
  return peerMessagesIn(agent, survey).flatMap(({ tool, at, peer, message }) =>
    tool.length <= longestTool
      ? []
      : [
          errorAt(agent, at, {
            code: 'TOOL_NAME_TOO_LONG',
            detail: `The tool \`${tool}\` of agent \`${agent.id}\` has ${tool.length} characters; models take ${longestTool}.`,
            hint: `Give the agent \`${peer}\` or the message \`${message.name}\` a shorter name.`,
          }),
        ],
  )
}

/** Tools that agents which answer this one would get and cannot have. One that is checked too reports them itself. */
function othersTools(agent: AgentData, { agents, protocols, checked }: PeerSurvey): Finding[] {
  return agent.speaks.flatMap(({ protocol, role, peers }, index) => {
    const back = (protocols.get(protocol)?.messages ?? []).filter(({ from }) => from === 'responder')
    if (role !== 'initiator' || back.length === 0) return []
    return (peers ?? []).flatMap((id) => {
      const other = agents.get(id)
      if (other === undefined || checked?.has(id) === true) return []
      const messages = peerMessagesIn(other, { agents, protocols })
      const taken = [...toolNamesOf(other), ...messages.map(({ tool }) => tool)]
      return back.flatMap(({ name }): Finding[] => {
        const tool = peerTool(agent.id, name)
        const isTooLong = tool.length > longestTool
        if (!isTooLong && taken.filter((one) => one === tool).length < 2) return []
        const why = isTooLong ? `is longer than ${longestTool} characters` : 'it has already'
        const detail = `By \`${protocol}\` agent \`${id}\` would get the tool \`${tool}\`, which ${why}.`
        const code = isTooLong ? 'TOOL_NAME_TOO_LONG' : 'NAME_TAKEN'
        return [errorAt(agent, `speaks.${index}`, { code, detail, hint: 'Rename the message, the tool or the agent.' })]
      })
    })
  })
}

/** The names of the tools of an agent that no protocol gives it. */
function toolNamesOf(agent: AgentData): readonly string[] {
  const named = [...agent.queries, ...agent.actions].map(({ name }) => name)
  return [...named, ...agent.tools, ...edgesOf(agent).flatMap(({ tool }) => tool ?? [])]
}

/** Who speaks each protocol, in the order of the protocols' names. */
export function protocolUses(agents: AgentSet, protocols: ProtocolSet): readonly ProtocolUse[] {
  const names = [...protocols.keys()].sort()
  return names.map((name) => {
    const speakers = (role: 'initiator' | 'responder') =>
      [...agents.values()]
        .filter(({ speaks }) => speaks.some((one) => one.protocol === name && one.role === role))
        .map(({ id }) => id)
        .sort()
    return { name, initiators: speakers('initiator'), responders: speakers('responder') }
  })
}

/** Who may begin to write to whom: the pairs whose both ends fit, in the order of the agents' ids. */
export function acquaintancesOf(agents: AgentSet): readonly Acquaintance[] {
  const answers = (id: string, from: string, protocol: string) =>
    agents
      .get(id)
      ?.speaks.some((one) => one.protocol === protocol && one.role === 'responder' && takes(one.peers, from)) === true
  return [...agents.values()]
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .flatMap(({ id: from, speaks }) =>
      speaks.flatMap(({ protocol, role, peers }) =>
        role === 'initiator'
          ? (peers ?? []).filter((to) => answers(to, from, protocol)).map((to) => ({ from, to, protocol }))
          : [],
      ),
    )
}

function takes(peers: readonly string[] | null, from: string): boolean {
  return peers === null || peers.includes(from)
}

/** Warns of protocols that nobody speaks. */
export function unspoken(uses: readonly ProtocolUse[]): Finding[] {
  return uses.flatMap(({ name, initiators, responders }): Finding[] =>
    initiators.length + responders.length > 0
      ? []
      : [
          {
            code: 'PROTOCOL_UNSPOKEN',
            severity: 'warning',
            agent: '',
            path: `protocols.${name}`,
            detail: `No agent speaks the protocol \`${name}\`.`,
            hint: 'Name it in `speaks` of two agents, or delete it.',
          },
        ],
  )
}
