/** Vendors over chat completions: each has fields of its own for thoughts, and its own idea of what must come back. */
import { type Dialect, events, halves, type Json, type Step } from './tape.ts'

interface Fields {
  /** Of the message. */
  readonly message?: (step: Step) => Json
  /** Of its calls; null for those that have none. */
  readonly call?: (step: Step, at: number) => Json | null
  /** Pieces of a stream before the text, instead of the message's own fields. */
  readonly pieces?: (step: Step) => readonly Json[]
  /** How a text stands in a message. */
  readonly content?: (step: Step) => unknown
  /** The words of a refusal of a message that came back without its marks. */
  readonly refusal?: string
}

function chat(name: string, fields: Fields): Dialect {
  return {
    name,
    plain: (step) => ({
      ...head,
      object: 'chat.completion',
      choices: [choice('message', messageOf(step, fields), finishOf(step))],
      usage,
    }),
    stream: (step) => `${events(streamOf(step, fields))}data: [DONE]\n\n`,
    history: (body) => body.messages,
    refusal: (body, tape) =>
      fields.refusal === undefined
        ? null
        : missing(body.messages as readonly Json[], tape, { ...fields, refusal: fields.refusal }),
    wordsOf: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  }
}

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'thinker' }
const usage = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 }

function choice(key: 'message' | 'delta', said: Json, finish_reason: string | null): Json {
  return { index: 0, [key]: said, finish_reason }
}

function finishOf({ calls }: Step): string {
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

function messageOf(step: Step, fields: Fields): Json {
  const content = fields.content === undefined ? step.text : fields.content(step)
  const asked = step.calls.length > 0 ? { tool_calls: callsOf(step, fields) } : {}
  return { role: 'assistant', content, ...fields.message?.(step), ...asked }
}

function callsOf(step: Step, { call }: Fields): Json[] {
  return step.calls.map(({ id, city }, at) => {
    const asked = { name: 'weather', arguments: JSON.stringify({ city }) }
    return { id, type: 'function', function: asked, ...call?.(step, at) }
  })
}

function streamOf(step: Step, fields: Fields): Json[] {
  const { message, pieces, content } = fields
  const thoughts = pieces?.(step) ?? (message === undefined ? [] : [message(step)])
  const words =
    content === undefined ? halves(step.text).map((text) => ({ content: text })) : [{ content: content(step) }]
  const calls = callsOf(step, fields).map((one, index) => ({ tool_calls: [{ index, ...one }] }))
  const deltas = [{ role: 'assistant', content: '' }, ...thoughts, ...words, ...calls]
  const chunk = (delta: Json, finish: string | null, more: Json = {}) => {
    return { ...head, object: 'chat.completion.chunk', choices: [choice('delta', delta, finish)], ...more }
  }
  return [...deltas.map((delta) => chunk(delta, null)), chunk({}, finishOf(step), { usage })]
}

/** Each message of the model is sent back with all its fields, in the same form. */
function missing(
  messages: readonly Json[],
  tape: readonly Step[],
  fields: Fields & { readonly refusal: string },
): string | null {
  const replies = messages.filter(({ role }) => role === 'assistant')
  for (const [at, reply] of replies.entries()) {
    const step = tape[at] as Step
    for (const [key, value] of Object.entries(fields.message?.(step) ?? {}))
      if (JSON.stringify(reply[key]) !== JSON.stringify(value)) return fields.refusal
    for (const [place, call] of ((reply.tool_calls ?? []) as readonly Json[]).entries())
      for (const [key, value] of Object.entries(fields.call?.(step, place) ?? {}))
        if (JSON.stringify(call[key]) !== JSON.stringify(value)) return fields.refusal
  }
  return null
}

/** DeepSeek in its thinking mode. */
export const deepseek = chat('DeepSeek', {
  message: ({ thought }) => ({ reasoning_content: thought }),
  pieces: ({ thought }) => halves(thought).map((half) => ({ reasoning_content: half })),
  refusal: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
})

/** Gemini 3 behind Google's chat completions: the first call of a step is signed. */
export const geminiChat = chat('Gemini 3 over chat completions', {
  call: ({ sign }, at) => (at === 0 ? { extra_content: { google: { thought_signature: sign } } } : null),
  refusal: 'Function call is missing a thought_signature in functionCall parts.',
})

/** OpenRouter before a model that signs: its details come in pieces and go back whole. */
export const openrouter = chat('OpenRouter', {
  message: ({ thought, sign }) => ({ reasoning: thought, reasoning_details: [detail(thought, sign), sealed(sign)] }),
  pieces: ({ thought, sign }) => [
    ...halves(thought).map((half) => ({ reasoning: half, reasoning_details: [detail(half, null)] })),
    { reasoning_details: [detail('', sign)] },
    { reasoning_details: [sealed(sign)] },
  ],
  refusal: 'messages: Invalid `signature` in `thinking` block',
})

function detail(text: string, signature: string | null): Json {
  return { type: 'reasoning.text', text, format: 'anthropic-claude-v1', index: 0, signature }
}

function sealed(sign: string): Json {
  return { type: 'reasoning.encrypted', data: `sealed ${sign}`, id: sign, format: 'anthropic-claude-v1', index: 1 }
}

/** OpenAI's own chat completions: its thoughts stay with the vendor. */
export const openaiChat = chat('OpenAI chat completions', {})

/** Mistral's thinking models: thoughts stand in the content. */
export const mistral = chat('Mistral', {
  content: ({ thought, text }) => [
    { type: 'thinking', thinking: [{ type: 'text', text: thought }] },
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ],
})
