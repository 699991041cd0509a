/** Anthropic's messages: a reply that thinks must come back with its signed thoughts in front, as long as the turn lasts. */
import { type Dialect, events, halves, type Json, type Step } from './tape.ts'

const usage = { input_tokens: 20, output_tokens: 8 }

/** `sealed`: its thoughts come as `redacted_thinking`. */
export function anthropic({ sealed = false }: { readonly sealed?: boolean } = {}): Dialect {
  return {
    name: sealed ? 'Anthropic, sealed' : 'Anthropic',
    plain: (step) => ({
      ...head,
      content: contentOf(step, sealed),
      stop_reason: step.calls.length > 0 ? 'tool_use' : 'end_turn',
      usage,
    }),
    stream: (step) => events(streamOf(step, sealed)),
    history: (body) => [body.system, body.messages],
    refusal: (body, tape) => missingThought(body.messages as readonly Message[], { tape, sealed }),
    wordsOf: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  }
}

interface Message {
  readonly role: string
  readonly content: readonly Json[]
}

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null }

function contentOf({ thought, sign, text, calls }: Step, sealed: boolean): Json[] {
  const thinking = sealed
    ? { type: 'redacted_thinking', data: sign }
    : { type: 'thinking', thinking: thought, signature: sign }
  const said = text === '' ? [] : [{ type: 'text', text }]
  return [
    thinking,
    ...said,
    ...calls.map(({ id, city }) => ({ type: 'tool_use', id, name: 'weather', input: { city } })),
  ]
}

function streamOf(step: Step, sealed: boolean): Json[] {
  const blocks = contentOf(step, sealed).flatMap((block, index) => {
    const [content_block, deltas] = opened(block)
    return [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
  })
  const stop_reason = step.calls.length > 0 ? 'tool_use' : 'end_turn'
  return [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function opened(block: Json): [Json, Json[]] {
  if (block.type === 'thinking') {
    const thoughts = halves(block.thinking as string).map((thinking) => ({ type: 'thinking_delta', thinking }))
    const signed = { type: 'signature_delta', signature: block.signature }
    return [{ ...block, thinking: '', signature: '' }, [...thoughts, signed]]
  }
  if (block.type === 'text')
    return [{ ...block, text: '' }, halves(block.text as string).map((text) => ({ type: 'text_delta', text }))]
  if (block.type === 'redacted_thinking') return [block, []]
  const pieces = halves(JSON.stringify(block.input))
  return [{ ...block, input: {} }, pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }))]
}

function missingThought(
  messages: readonly Message[],
  { tape, sealed }: { readonly tape: readonly Step[]; readonly sealed: boolean },
): string | null {
  const from = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.some(({ type }) => type === 'text'),
  )
  const marks = tape.map((step) => JSON.stringify(contentOf(step, sealed)[0]))
  for (const [at, { role, content }] of messages.entries()) {
    if (at < from || role !== 'assistant') continue
    const first = content[0]?.type
    if (first !== 'thinking' && first !== 'redacted_thinking')
      return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`.`
    if (!marks.includes(JSON.stringify(content[0])))
      return `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block`
  }
  return null
}
