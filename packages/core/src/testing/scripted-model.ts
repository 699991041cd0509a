/** A model that plays a script: deterministic, instant, without a network. For tests and for a first run without a key. */
import type { ModelToolCall } from '../model/message.ts'
import type { Model, ModelCallOptions, ModelPart, ModelPrice, ModelReply, ModelRequest } from '../model/model.ts'
import { ModelCallError } from '../model/model.ts'

/** A tool call in a script. `arguments` as text is sent as it is, also when it is no JSON; an id is made where none is given. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>> | string
  readonly id?: string
}

/** A reply in full. What is left out is empty; `usage` left out is estimated, and null is unknown. */
export interface ScriptedReply {
  readonly text?: string
  /** The text in exactly these pieces. */
  readonly deltas?: readonly string[]
  readonly toolCalls?: readonly ScriptedCall[]
  readonly finishReason?: ModelReply['finishReason']
  readonly usage?: ModelReply['usage']
  /** Waits first, by the `sleep` of the options. */
  readonly delayMs?: number
  /** Breaks off with this after the text. */
  readonly error?: Error
  /** Never ends, after the text, until the caller aborts. */
  readonly hang?: boolean
}

/** What a rule answers: a text, a reply in full, an error that is thrown, or undefined to leave it to the next rule. */
export type ScriptedAnswer = string | ScriptedReply | Error | undefined

/** One rule. `turn` counts the model's own messages since the last user message: 0 is the first reply to it. */
export type Rule = (request: ModelRequest, turn: number) => ScriptedAnswer | Promise<ScriptedAnswer>

/** A scripted model; `requests` holds every request it got, in order. */
export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[]
}

/** `sleep` serves `delayMs`; without it a delay is no wait at all, so that tests need no clock. */
export interface ScriptedModelOptions {
  /** Default `scripted/model`. Two scripts of one runtime need two ids. */
  readonly id?: string
  readonly price?: ModelPrice
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Plays a rule, or the first of several that has an answer.
 *
 * ```ts
 * const model = scriptedModel((request, turn) =>
 *   turn === 0 ? call('weather', { city: 'Oslo' }) : `In Oslo it is ${toolResults(request)[0]}.`,
 * )
 * ```
 *
 * The same in order, for one agent among others:
 *
 * ```ts
 * scriptedModel([when(/You plan trips/, turns(call('weather', { city: 'Oslo' }), 'Take a coat.')), () => 'Hello!'])
 * ```
 *
 * Bad behaviour is a reply too: `call('no_such_tool', {})`, `call('weather', '{"city":')`, a rule that always calls, `{ deltas:
 * ['Half a'], error: new Error('cut') }`, `{ hang: true }`. A request that no rule answers fails and names what was asked.
 */
export function scriptedModel(script: Rule | readonly Rule[], options: ScriptedModelOptions = {}): ScriptedModel {
  const rules = typeof script === 'function' ? [script] : script
  const requests: ModelRequest[] = []
  return {
    id: options.id ?? 'scripted/model',
    isUnique: true,
    ...(options.price === undefined ? {} : { price: options.price }),
    requests,
    stream: (request, call) => {
      let played: AsyncIterator<ModelPart> | undefined
      const begin = async (): Promise<IteratorResult<ModelPart>> => {
        call.signal.throwIfAborted()
        requests.push(request)
        const reply = await answer(rules, request)
        call.signal.throwIfAborted()
        if (reply.delayMs !== undefined) await orAbort(options.sleep?.(reply.delayMs, call.signal), call.signal)
        played = play(reply, request, call)
        return played.next()
      }
      const iterator = {
        next: () => played?.next() ?? begin(),
        return: () => Promise.resolve({ done: true as const, value: undefined }),
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
  }
}

/** A reply that calls one tool. */
export function call(name: string, args: ScriptedCall['arguments'] = {}): ScriptedReply {
  return { toolCalls: [{ name, arguments: args }] }
}

/** A rule with one answer for each turn, in order; after the last it has none. */
export function turns(...answers: readonly ScriptedAnswer[]): Rule {
  return (_, turn) => answers[turn]
}

/** A rule for the requests whose system text or last user message holds the text or fits the pattern. */
export function when(match: string | RegExp, then: Rule | Exclude<ScriptedAnswer, undefined>): Rule {
  return (request, turn) => {
    const texts = [systemText(request), lastUserMessage(request)]
    const fits = texts.some((text) => (typeof match === 'string' ? text.includes(match) : text.search(match) !== -1))
    if (!fits) return undefined
    return typeof then === 'function' ? then(request, turn) : then
  }
}

/** The last user message, or ''. */
export function lastUserMessage(request: ModelRequest): string {
  return request.messages.findLast((message) => message.role === 'user')?.content ?? ''
}

/** The results of the tools called last, in the order of the calls; empty before the first call of this turn. */
export function toolResults(request: ModelRequest): readonly string[] {
  const { messages } = request
  const from = messages.findLastIndex((message) => message.role === 'assistant' || message.role === 'user')
  return messages.slice(from + 1).map((message) => message.content)
}

/** The system message, or ''. */
export function systemText(request: ModelRequest): string {
  const first = request.messages[0]
  return first?.role === 'system' ? first.content : ''
}

async function answer(rules: readonly Rule[], request: ModelRequest): Promise<ScriptedReply> {
  const turn = turnOf(request)
  for (const rule of rules) {
    const given = rule(request, turn)
    const found = given instanceof Promise ? await given : given
    if (found === undefined) continue
    if (found instanceof Error) return { error: found }
    return typeof found === 'string' ? { text: found } : found
  }
  const asked = `"${lastUserMessage(request)}", turn ${turn}`
  throw new ModelCallError(`The script has no answer to ${asked}.`, { retryable: false })
}

function turnOf({ messages }: ModelRequest): number {
  let turn = 0
  for (let at = messages.length - 1; at >= 0 && messages[at]?.role !== 'user'; at -= 1) {
    if (messages[at]?.role === 'assistant') turn += 1
  }
  return turn
}

function play(
  reply: ScriptedReply,
  request: ModelRequest,
  { deltas, signal }: ModelCallOptions,
): AsyncIterator<ModelPart> {
  const text = reply.text ?? reply.deltas?.join('') ?? ''
  // Word by word, as a provider would, where the script does not say how.
  const pieces = deltas ? (reply.deltas ?? text.match(/\s*\S+|\s+$/g) ?? []) : []
  let at = 0
  const next = async (): Promise<IteratorResult<ModelPart>> => {
    signal.throwIfAborted()
    while (pieces[at] === '') at += 1
    const piece = pieces[at]
    at += 1
    if (piece !== undefined) return { done: false, value: { type: 'delta', text: piece } }
    if (at > pieces.length + 1) return { done: true, value: undefined }
    if (reply.error !== undefined) throw asCallError(reply.error)
    if (reply.hang === true) await orAbort(new Promise<never>(() => undefined), signal)
    return { done: false, value: { type: 'reply', reply: whole(reply, text, request) } }
  }
  return { next }
}

function whole(reply: ScriptedReply, text: string, request: ModelRequest): ModelReply {
  const toolCalls = (reply.toolCalls ?? []).map((scripted, position) => toToolCall(scripted, position, request))
  const usage = reply.usage === undefined ? estimate(request, text, toolCalls) : reply.usage
  const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')
  return { text, toolCalls, finishReason, usage, model: null }
}

function toToolCall(scripted: ScriptedCall, position: number, request: ModelRequest): ModelToolCall {
  const id = scripted.id ?? `call_${request.messages.length}_${position}`
  const args = scripted.arguments
  return { id, name: scripted.name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
}

/** Four characters to a token, as a rule of thumb: enough for budgets and screens to show something that grows. */
function estimate(request: ModelRequest, text: string, calls: readonly ModelToolCall[]): ModelReply['usage'] {
  let read = 0
  for (const message of request.messages) read += message.content.length
  let written = text.length
  for (const made of calls) written += made.name.length + made.arguments.length
  const [inputTokens, outputTokens] = [Math.ceil(read / 4), Math.ceil(written / 4)]
  return { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 }
}

function asCallError(error: Error): ModelCallError {
  return error instanceof ModelCallError ? error : new ModelCallError(error.message, { retryable: false, cause: error })
}

function orAbort(wait: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (wait === undefined) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
