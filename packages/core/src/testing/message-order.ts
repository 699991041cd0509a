/** The order of messages that the strictest model servers take: what they refuse fails here too. */
import type { ModelMessage } from '../model/message.ts'

/**
 * What such a server refuses in these messages, or null. It takes a system message at the front; then `user` and `assistant` alternate, beginning
 * with `user`; each call of a reply has its result directly after it, in call order, and only the model speaks after results; the last
 * message is not the model's [T11].
 */
export function messageOrderProblem(messages: readonly ModelMessage[]): string | null {
  let previous: ModelMessage['role'] = 'system'
  let open: readonly string[] = []
  for (const [at, message] of messages.entries()) {
    const { role } = message
    if (role === 'system' && at === 0) continue
    if (!after[previous].includes(role)) return `Unexpected role '${role}' after role '${previous}'.`
    if (role === 'tool') {
      if (message.toolCallId !== open[0]) return `Unexpected tool call id ${message.toolCallId} in tool results.`
      open = open.slice(1)
    } else {
      if (open.length > 0)
        return `Not the same number of function calls and responses: ${open.length} without a result.`
      open = role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : []
    }
    if (role === 'assistant' && message.content === '' && open.length === 0)
      return 'Assistant message must have either content or tool_calls, but not none.'
    previous = role
  }
  if (open.length > 0) return `Not the same number of function calls and responses: ${open.length} without a result.`
  return previous === 'assistant' ? "Expected last role 'user' or 'tool', but got 'assistant'." : null
}

/** Which roles may follow each. */
const after: Readonly<Record<ModelMessage['role'], readonly ModelMessage['role'][]>> = {
  system: ['user'],
  user: ['assistant'],
  assistant: ['user', 'tool'],
  tool: ['tool', 'assistant'],
}
