/** The queries that run by themselves where an agent begins to read: with a document, or anew in an isolated delegation [Rb40]. */
import type { AgentData } from '@witan/protocol'
import type { LoggedToolCall } from '@witan/protocol/entries'

/** The calls that stand at the beginning of what `agent` reads; none where it reads on in a document. */
export function initialCalls(agent: AgentData, isFresh: boolean): readonly LoggedToolCall[] {
  if (!isFresh) return []
  const queries = agent.queries.filter((query) => query.addToInitialContext)
  return queries.map(({ name }, index) => ({ id: `initial_${index + 1}`, name, arguments: '{}' }))
}
