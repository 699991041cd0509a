/** The queries that run by themselves when a document begins [Rb40]. */
import type { AgentData } from '@witan/protocol'
import type { LoggedToolCall } from '@witan/protocol/entries'

/** The calls that stand at the beginning of a new document of `agent`; none where it has messages already. */
export function initialCalls(agent: AgentData, isNew: boolean): readonly LoggedToolCall[] {
  if (!isNew) return []
  const queries = agent.queries.filter((query) => query.addToInitialContext)
  return queries.map(({ name }, index) => ({ id: `initial_${index + 1}`, name, arguments: '{}' }))
}
