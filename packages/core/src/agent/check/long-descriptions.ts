/** Warns of descriptions that are longer than some providers take, and of those that the runtime makes and has no room for. */
import type { AgentData, Finding } from '@witan/protocol'
import { agentEdgesOf, takesControlFrom } from '@witan/protocol/edges'
import { knownPeople } from '../../parameter/known-people.ts'
import type { Pausable } from '../../identity/pausable.ts'
import { longestDescription, roomBeside, titled } from '../../tool/description.ts'
import { describeAskingAll } from '../../tool/people-list.ts'
import { listOf } from '../capabilities.ts'
import { describePeer, describeProtocol } from '../protocol/describe-peer.ts'
import { peerMessagesIn } from '../protocol/peer-messages.ts'
import { rosterOf } from '../roster.ts'
import { type AgentSet, reachable } from './graph.ts'
import type { Surroundings } from './names.ts'

type Set = Pick<Surroundings, 'tools' | 'protocols'> & { readonly agents: AgentSet }

/** Warnings about the descriptions of the tools that the model of an agent reads. */
export function* checkLongDescriptions(agent: AgentData, set: Set): Pausable<Finding[]> {
  const { actions, queries, tools } = agent
  return [
    ...actions.flatMap(({ name, description }, index) => own(agent, `actions.${index}`, { name, description })),
    ...queries.flatMap(({ name, description }, index) => own(agent, `queries.${index}`, { name, description })),
    ...tools.flatMap((name, index) =>
      own(agent, `tools.${index}`, { name, description: set.tools.get(name)?.description ?? '' }),
    ),
    ...(yield* ofDelegates(agent, set.agents)),
    ...ofRoster(agent, set.agents),
    ...(yield* ofPeers(agent, set)),
    ...ofPeople(agent),
  ]
}

function warning({ id }: AgentData, path: string, of: Pick<Finding, 'detail' | 'hint'>): Finding {
  return { code: 'DESCRIPTION_LONG', severity: 'warning', agent: id, path, ...of }
}

/** A description that its author has written for one tool. Models read it as it is. */
function own(
  agent: AgentData,
  path: string,
  { name, description }: { readonly name: string; readonly description: string },
): Finding[] {
  if (description.length <= longestDescription) return []
  const detail = `The description of \`${name}\` has ${description.length} characters; some providers refuse more than ${longestDescription}.`
  return [warning(agent, path, { detail, hint: 'Shorten it: a model decides by the first sentences.' })]
}

function* ofDelegates(agent: AgentData, agents: AgentSet): Pausable<Finding[]> {
  const findings: Finding[] = []
  for (const [index, edge] of agent.subAgents.entries()) {
    yield
    const child = agents.get(edge.agent)
    if (child === undefined) continue
    const path = `subAgents.${index}`
    const words = edge.description || child.description
    const tooLong = own(agent, path, { name: edge.agent, description: words })
    findings.push(...tooLong)
    if (tooLong.length > 0) continue
    const title = titled(child, words)
    const others = agentEdgesOf(child).map((one) => agents.get(one.agent) ?? null)
    const { leftOut } =
      edge.style === 'delegate'
        ? listOf(child, { others, deeper: true, isShown: () => true, room: roomBeside(title.text) })
        : { leftOut: 0 }
    const missing = [
      ...(title.isWhole ? [] : ['its display name']),
      ...(leftOut === 0 ? [] : [`${leftOut} of the tools that it can use`]),
    ]
    if (missing.length === 0) continue
    const detail = `The description of \`${edge.agent}\` leaves out ${missing.join(' and ')}: it would have more than ${longestDescription} characters or 40 tools.`
    const hint = `Say in its description what \`${edge.agent}\` is for, or split it into several agents.`
    findings.push(warning(agent, path, { detail, hint }))
  }
  return findings
}

/** The agents to hand over to. With reach `tree` those below this one, which it always reaches. */
function ofRoster(agent: AgentData, agents: AgentSet): Finding[] {
  const { id, transfers, transferReach, disableTransfer } = agent
  if (disableTransfer) return []
  const described = new Map(transfers.map((edge) => [edge.agent, edge.description]))
  const below = transferReach === 'tree' ? reachable(agent, agents).filter((one) => one !== agent) : []
  const ids = new Set([...described.keys(), ...below.map((one) => one.id)])
  const entries = [...ids].flatMap((one) => {
    const target = agents.get(one)
    if (target === undefined || !takesControlFrom(target, id)) return []
    return [{ id: one, name: target.name, description: described.get(one) || target.description }]
  })
  if (rosterOf(entries).isWhole) return []
  const detail = `The roster of the ${entries.length} agents that \`${id}\` may hand over to shows only the beginning of what they say, or leaves some out.`
  const hint = `Shorten their descriptions: each has at most ${longestDescription} characters there, and less where there are many.`
  return [warning(agent, 'transfers', { detail, hint })]
}

/** One warning for each protocol that its agent answers by, and one for each peer: the descriptions of its messages differ in their names only. */
function* ofPeers(agent: AgentData, set: Set): Pausable<Finding[]> {
  const findings = agent.speaks.flatMap(({ protocol, role }, index): Finding[] => {
    const known = set.protocols.get(protocol)
    if (role === 'initiator' || known === undefined || describeProtocol(known).isWhole) return []
    const detail = `The purpose of protocol \`${protocol}\` is cut for \`${agent.id}\`: its line has at most ${longestDescription} characters.`
    return [warning(agent, `speaks.${index}`, { detail, hint: 'Shorten it, or move the rest to `processing`.' })]
  })
  const seen = new Map<string, string>()
  for (const message of agent.speaks.length === 0 ? [] : peerMessagesIn(agent, set)) {
    const { at, peer, tool } = message
    const child = set.agents.get(peer)
    if (child === undefined || seen.get(peer) === at) continue
    yield
    seen.set(peer, at)
    if (describePeer(message, child).isWhole) continue
    const detail = `The description of \`${tool}\` is cut: it would have more than ${longestDescription} characters.`
    const hint = `Shorten the purpose of protocol \`${message.protocol.name}\` or the description of \`${peer}\`.`
    findings.push(warning(agent, at, { detail, hint }))
  }
  return findings
}

/** The people that an agent lists. Who takes part in a conversation is known only there. */
function ofPeople(agent: AgentData): Finding[] {
  if (agent.users === 'participants' || describeAskingAll(knownPeople(agent)).isWhole) return []
  const detail = `The description of \`ask_all_users\` leaves out some of the ${agent.users.length} people, or their names and roles: it would have more than ${longestDescription} characters.`
  return [warning(agent, 'users', { detail, hint: 'List fewer people, or a role for many of them.' })]
}
