/** The bodies of a chat completion, plain and in chunks, as an OpenAI-compatible server writes them. */
import type { CallOut, Reply, Seen } from './exchange.ts'

/** A whole answer for a request that did not ask for a stream, or for a server that cannot stream. */
export function completion(seen: Seen, reply: Reply): Record<string, unknown> {
  const calls = reply.calls?.map((call, index) => wireCall(seen, call, index))
  return {
    ...head(seen, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
          ...(calls ? { tool_calls: calls } : {}),
        },
        finish_reason: finish(reply),
      },
    ],
    ...usage(reply),
  }
}

/** The same answer in chunks: text and arguments cut into `pieces`, then the finish, then the usage if it was asked for. */
export function completionChunks(seen: Seen, reply: Reply): Record<string, unknown>[] {
  const shell = head(seen, 'chat.completion.chunk')
  const chunk = (delta: Record<string, unknown>, reason: string | null = null) => ({
    ...shell,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const chunks: Record<string, unknown>[] = [chunk({ role: 'assistant', content: '' })]
  for (const piece of cut(reply.reasoning ?? '', reply.pieces ?? 2)) chunks.push(chunk({ reasoning_content: piece }))
  for (const piece of cut(reply.text ?? '', reply.pieces ?? 2)) chunks.push(chunk({ content: piece }))
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const whole = wireCall(seen, call, index)
    chunks.push(chunk({ tool_calls: [{ index, ...whole, function: { name: call.name, arguments: '' } }] }))
    for (const piece of cut(whole.function.arguments, reply.pieces ?? 2)) {
      chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
    }
  }
  chunks.push(chunk({}, finish(reply)))
  if (seen.body.stream_options?.include_usage && reply.usage !== null)
    chunks.push({ ...shell, choices: [], ...usage(reply) })
  return chunks
}

function head(seen: Seen, object: string): Record<string, unknown> {
  return { id: `chatcmpl-${seen.model}-${seen.nth}`, object, created: 1, model: seen.model }
}

function finish(reply: Reply): string {
  return reply.calls?.length ? 'tool_calls' : 'stop'
}

function wireCall(
  seen: Seen,
  call: CallOut,
  index: number,
): { id: string; type: string; function: { name: string; arguments: string } } {
  return {
    id: `call_${seen.model}_${seen.nth}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: call.rawArgs ?? JSON.stringify(call.args ?? {}) },
  }
}

function usage(reply: Reply): Record<string, unknown> {
  if (reply.usage === null) return {}
  const { input, output, cached = 0, reasoning = 0 } = reply.usage ?? { input: 10, output: 5 }
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }
}

function cut(text: string, pieces: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces))
  const parts: string[] = []
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size))
  return parts
}
