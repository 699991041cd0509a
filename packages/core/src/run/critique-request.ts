/** The request for a critique of an agent's answer by its own model [F08]. */
import { checkLine } from '../conversation/critique.ts'
import type { AgentCall } from '../conversation/state.ts'
import { critiqueSchema } from '../model/critique.ts'
import type { ModelRequest } from '../model/model.ts'

/** The request: a copy of the history, which ends with the answer, and what it is judged by. Tools stay listed, so that the prefix stays the same. */
export function critiqueRequest({ agent }: AgentCall, request: ModelRequest): ModelRequest {
  const messages = [...request.messages, { role: 'user' as const, content: checkLine(agent).text }]
  return { ...request, messages, toolChoice: 'none', output: { name: 'critique', schema: critiqueSchema } }
}
