/** Warns of agents that may give one alias to two people. */
import type { AgentData, Finding } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import { aliasPrefix, listedIds } from '../../parameter/known-people.ts'
import type { AgentSet, Listers } from './graph.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** The survey that this check reads. */
interface Around {
  readonly agents: AgentSet
  readonly listers: Listers
}

/**
 * One warning if another agent of the same system has the same prefix of aliases and a list of its own: what the models of both call
 * `worker-0` may then be two people. Two agents are of one system if edges connect them, in any direction and over any number.
 */
export function* checkAliases(agent: AgentData, around: Around): Pausable<Finding[]> {
  const prefix = aliasPrefix(agent)
  if (prefix === null) return []
  const clashing = (other: AgentData) => aliasPrefix(other) === prefix && firstDifference(agent, other) !== null
  if (![...around.agents.values()].some(clashing)) return []
  const other = (yield* connected(agent, around)).find(clashing)
  const index = other === undefined ? null : firstDifference(agent, other)
  if (other === undefined || index === null) return []
  return [
    {
      code: 'ALIAS_SHARED',
      severity: 'warning',
      agent: agent.id,
      path: 'anonymizeUsers',
      detail: `\`${prefix}-${index}\` of \`${agent.id}\` and \`${prefix}-${index}\` of \`${other.id}\` may be two people: both count from 0, each its own \`users\`.`,
      hint: `Give \`${agent.id}\` or \`${other.id}\` another prefix, or both the same people in the same order.`,
    },
  ]
}

/** The first place at which two lists may mean different people; null if the lists name the same. */
function firstDifference(one: AgentData, other: AgentData): number | null {
  const [mine, theirs] = [listedIds(one), listedIds(other)]
  for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1)
    if (mine[index] !== theirs[index]) return index
  return null
}

/** All agents that edges connect with this one, without it; the nearest first. */
function* connected({ id }: AgentData, { agents, listers }: Around): Pausable<readonly AgentData[]> {
  const found = new Set([id])
  for (const at of found) {
    yield
    const below = agentEdgesOf(agents.get(at) as AgentData).map((edge) => edge.agent)
    for (const next of [...below, ...(listers.get(at) ?? [])]) if (agents.has(next)) found.add(next)
  }
  return [...found].slice(1).map((one) => agents.get(one) as AgentData)
}
