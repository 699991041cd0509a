/** What a strict server of chat completions says of the order of messages on the wire, written apart from our own rule. */

interface WireMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

const expected: Readonly<Record<string, string>> = {
  start: 'user',
  user: 'assistant',
  assistant: 'user',
  tool: 'assistant',
}

/** Why the messages of a request are refused, in words like those of Mistral's API; null where they are taken. */
export function strictRefusal(given: readonly WireMessage[]): string | null {
  const messages = given[0]?.role === 'system' ? given.slice(1) : given
  let previous = 'start'
  let open: string[] = []
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (open.shift() !== id) return `Unexpected tool call id ${id} in tool results`
    } else {
      if (open.length > 0) return 'Not the same number of function calls and responses'
      if (role !== expected[previous]) return `Unexpected role '${role}' after role '${previous}'`
      if (role === 'assistant' && calls.length === 0 && (content ?? '') === '')
        return 'Assistant message must have either content or tool_calls, but not none'
    }
    if (role === 'assistant') open = calls.map((call) => call.id)
    previous = role
  }
  if (open.length > 0) return 'Not the same number of function calls and responses'
  return previous === 'assistant' ? 'Expected last role User or Tool, but got assistant' : null
}
