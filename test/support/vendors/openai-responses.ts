/** OpenAI's responses: a call comes back with the thoughts that led to it, by reference where they are stored, else sealed. */
import { type Dialect, events, halves, type Json, type Step } from './tape.ts'

/** Whether the vendor keeps the items, so that a later request only names them. */
export function openaiResponses({ stored }: { readonly stored: boolean }): Dialect {
  return {
    name: stored ? 'OpenAI responses, stored' : 'OpenAI responses, not stored',
    plain: (step) => ({ ...head, status: 'completed', output: itemsOf(step), usage, incomplete_details: null }),
    stream: (step) => events(streamOf(step)),
    history: (body) => body.input,
    refusal: (body, tape) => missingItem(body.input as readonly Json[], { tape, stored }),
    wordsOf: (message) => ({ error: { message, type: 'invalid_request_error', param: 'input', code: null } }),
  }
}

const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt-5', error: null }
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 3 },
}

function itemsOf({ thought, sign, text, calls }: Step): Json[] {
  const summary = [{ type: 'summary_text', text: thought }]
  const said = text === '' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return [
    { type: 'reasoning', id: `rs_${sign}`, summary, encrypted_content: `sealed ${sign}` },
    ...said.map((part) => ({
      type: 'message',
      id: `msg_${sign}`,
      status: 'completed',
      role: 'assistant',
      content: [part],
    })),
    ...calls.map(({ id, city }) => callItem(id, JSON.stringify({ city }))),
  ]
}

function callItem(id: string, written: string): Json {
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'weather',
    arguments: written,
    status: 'completed',
  }
}

function streamOf(step: Step): Json[] {
  const items = itemsOf(step).flatMap((item, output_index) => {
    const at = { output_index, item_id: item.id }
    return [
      { type: 'response.output_item.added', output_index, item: emptied(item) },
      ...piecesOf(item, step).map((piece) => ({ ...at, ...piece })),
      { type: 'response.output_item.done', output_index, item },
    ]
  })
  return [
    { type: 'response.created', response: head },
    ...items,
    { type: 'response.completed', response: { ...head, usage, incomplete_details: null } },
  ]
}

function emptied(item: Json): Json {
  if (item.type === 'function_call') return { ...item, arguments: '' }
  return item.type === 'message' ? { ...item, content: [] } : { ...item, summary: [] }
}

function piecesOf(item: Json, { thought, text }: Step): Json[] {
  if (item.type === 'function_call')
    return halves(item.arguments as string).map((delta) => ({ type: 'response.function_call_arguments.delta', delta }))
  if (item.type === 'message')
    return halves(text).map((delta) => ({ type: 'response.output_text.delta', delta, content_index: 0 }))
  const at = { summary_index: 0 }
  return [
    { type: 'response.reasoning_summary_part.added', ...at },
    ...halves(thought).map((delta) => ({ type: 'response.reasoning_summary_text.delta', delta, ...at })),
    { type: 'response.reasoning_summary_part.done', ...at },
  ]
}

/** Each step's items stand behind its thoughts. */
function missingItem(
  input: readonly Json[],
  { tape, stored }: { readonly tape: readonly Step[]; readonly stored: boolean },
): string | null {
  for (const step of tape) {
    const [reasoning, ...rest] = itemsOf(step)
    const thought = input.findIndex((item) => (stored ? item.id === reasoning?.id : isSealed(item, reasoning)))
    for (const item of rest) {
      const at = input.findIndex(({ id, call_id, type }) => {
        return (
          type !== 'function_call_output' && (id === item.id || (call_id !== undefined && call_id === item.call_id))
        )
      })
      if (at >= 0 && (thought < 0 || thought > at))
        return `Item '${item.id}' of type '${item.type}' was provided without its required 'reasoning' item: '${reasoning?.id}'.`
    }
  }
  return null
}

function isSealed(item: Json, reasoning: Json | undefined): boolean {
  return item.type === 'reasoning' && item.encrypted_content === reasoning?.encrypted_content
}
