/** The approval predicates of agents defined in code. */
import type { Agent } from '../agent/define-agent.ts'
import type { ApprovalOptions } from '../tool/kinds/approval.ts'

/**
 * Predicates by agent and tool. They apply to every revision of an agent with that id whose approval says `code`, whoever
 * saved it.
 */
export function approvalsOf(agents: readonly (Agent | object)[], report: ApprovalOptions['report']): ApprovalOptions {
  const live = agents.filter((agent): agent is Agent => 'data' in agent && 'predicates' in agent)
  const predicates = new Map(live.map((agent) => [agent.data.id, agent.predicates]))
  return { predicate: (agent, tool) => predicates.get(agent)?.get(tool), report }
}
