/** What the models of a conversation were asked, by its log, beside what they got. */
import assert from 'node:assert/strict'
import type { ModelRequest, Runtime } from '@witan/core'
import type { ModelCall, ModelCallLine } from '@witan/protocol/schemas'

type Reader = Pick<Runtime, 'modelCalls'>

/** Every model call of a conversation, as the list has it. */
export async function linesOf(runtime: Reader, conversation: string, limit = 200): Promise<readonly ModelCallLine[]> {
  const items: ModelCallLine[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await runtime.modelCalls.list(conversation, { limit, ...(cursor === null ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === null) return items
  }
}

/** Every model call of a conversation, whole. */
export async function modelCallsOf(runtime: Reader, conversation: string): Promise<readonly ModelCall[]> {
  const calls: ModelCall[] = []
  for (const line of await linesOf(runtime, conversation)) {
    const whole = await runtime.modelCalls.get(conversation, line.id)
    const { request: _, reply: __, leftOut: ___, ...rest } = whole
    assert.deepEqual(rest, line, 'the list and the model call differ')
    calls.push(whole)
  }
  return calls
}

/** A request as text that a computed one can be compared with. `hide` takes out what is hidden from its agent. */
export function askedText(request: ModelRequest, hide: (text: string) => string = (text) => text): string {
  const messages = request.messages.map((message) => {
    const { role, content } = message
    if (message.role === 'tool') return { role, content, toolCallId: message.toolCallId, name: message.name }
    if (message.role === 'user')
      return { role, content, files: message.files?.map(({ name, mediaType }) => [name, mediaType]) ?? [] }
    if (message.role === 'system') return { role, content }
    return { role, content, toolCalls: message.toolCalls ?? [], kept: message.kept?.by ?? null }
  })
  return textOf({ ...request, messages }, hide)
}

/** The same of a computed one. Files whose text is in a message are not among those that its adapter got. */
export function computedText(request: NonNullable<ModelCall['request']>): string {
  const messages = request.messages.map(({ role, content, toolCallId, name, attached = [], toolCalls = [], kept }) => {
    if (role === 'tool') return { role, content, toolCallId, name }
    const files = attached.filter(({ mediaType }) => !mediaType.startsWith('text/'))
    if (role === 'user') return { role, content, files: files.map((file) => [file.name, file.mediaType]) }
    return role === 'system' ? { role, content } : { role, content, toolCalls, kept: kept?.by ?? null }
  })
  return textOf({ ...request, messages }, (text) => text)
}

function textOf(
  request: Omit<ModelRequest, 'messages' | 'maxOutputTokens'> & {
    readonly messages: readonly unknown[]
    readonly maxOutputTokens?: number | null | undefined
  },
  hide: (text: string) => string,
): string {
  const { messages, tools, toolChoice, temperature, reasoningEffort, maxOutputTokens = null, output } = request
  const offers = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  const all = { messages, tools: offers, toolChoice, temperature, reasoningEffort, maxOutputTokens, output }
  return JSON.stringify(all, (_, value: unknown) => (typeof value === 'string' ? hide(value) : value))
}

/** How many model calls were compared, and in how many of them a hidden value was masked. */
export interface Compared {
  readonly calls: number
  readonly masked: number
}

/**
 * The computed requests are those that the models got, one for one. If a call was cut off, nobody knows whether
 * its model had been asked. `hide` masks hidden values. `isAnswer` is false for requests of summaries and progress, which are not computed. Set
 * `mayBeLost` if a process died: it may have asked a model without storing anything of it.
 */
export function assertAsked(
  calls: readonly ModelCall[],
  got: readonly ModelRequest[],
  { hide = (text: string) => text, isAnswer = (_: ModelRequest): boolean => true, mayBeLost = false } = {},
): Compared {
  const left = new Map<string, number>()
  for (const request of got) {
    if (!isAnswer(request)) continue
    const text = askedText(request, hide)
    left.set(text, 1 + (left.get(text) ?? 0))
  }
  const answers = calls.filter(({ purpose }) => purpose !== 'summary' && purpose !== 'progress')
  const isCut = ({ error }: ModelCall) => error?.code === 'MODEL_CALL_LOST'
  for (const call of [...answers.filter((one) => !isCut(one)), ...answers.filter(isCut)]) {
    assert.ok(call.request !== null, `the request of model call ${call.id} is not computed`)
    const text = computedText(call.request)
    const count = left.get(text) ?? 0
    if (count === 0 && isCut(call)) continue
    if (count === 0) assert.equal(text, nearest(text, left), `no model got what is computed for model call ${call.id}`)
    if (call.status === 'completed')
      assert.equal(call.exact, true, `model call ${call.id} is not exact: ${call.changed}`)
    if (count === 1) left.delete(text)
    else left.set(text, count - 1)
  }
  if (!mayBeLost) assert.deepEqual([...left.keys()], [], 'a model got what is not computed')
  return { calls: answers.length, masked: answers.filter(({ masked }) => masked).length }
}

/** The one that is alike for longest, so that a failure shows where both part. */
function nearest(text: string, all: ReadonlyMap<string, number>): string {
  let best = ''
  let most = -1
  for (const one of all.keys()) {
    let at = 0
    while (at < text.length && text[at] === one[at]) at += 1
    if (at > most) [best, most] = [one, at]
  }
  return best
}
