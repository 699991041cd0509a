/** Plays an agent by a generator: it yields tool calls, gets what they returned, and returns the words of the answer. No language model is involved. */
import type { ModelRequest } from '@witan/core'
import { type FinishedCall, finishedCalls, type Rule, type ScriptedCall, type ScriptedReply } from '@witan/core/testing'

/** What a tool returned. */
export interface Result {
  readonly text: string
  /** The JSON that it is, or the text. */
  readonly value: unknown
  /** Why it failed, or null. */
  readonly error: string | null
}

/** A block of memory as a model reads it. */
export interface Block {
  readonly key: string
  readonly text: string
  readonly revision: number
}

/** What a script may look at. */
export interface Asked {
  /** What was asked, without the lines that the runtime adds. */
  readonly message: string
  readonly known: readonly Block[]
  /** Tool calls before it in this document that have a result. */
  readonly past: readonly FinishedCall[]
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

/** Yields the calls of one step, gets their results in order, and returns something. */
export type StepsTo<T> = Generator<readonly ScriptedCall[], T, readonly Result[]>

/** Steps to an answer. */
export type Steps = StepsTo<string>

/** A rule that plays the steps. They are run from the beginning for each request, over the results that the request has. */
export function playing(steps: (asked: Asked) => Steps): Rule {
  return (request) => played(steps(askedIn(request)), resultsAfter(request))
}

/** What the steps reply to these results; words are a reply already. */
export function played(steps: Steps | string, results: readonly Result[]): ScriptedReply {
  if (typeof steps === 'string') return { text: steps }
  let [at, step] = [0, steps.next([])]
  while (step.done !== true) {
    const { length } = step.value
    if (at + length > results.length) return { toolCalls: step.value }
    step = steps.next(results.slice(at, at + length))
    at += length
  }
  return { text: step.value }
}

/** One call. */
export function call(name: string, args: Readonly<Record<string, unknown>> = {}): ScriptedCall {
  return { name, arguments: args }
}

/** The steps of a call alone: its result. */
export function* one(name: string, args: Readonly<Record<string, unknown>> = {}): StepsTo<Result> {
  const [result] = yield [call(name, args)]
  return result ?? { text: '', value: null, error: 'there is no result' }
}

/** Scripts look at no more of a message: their patterns are not made for long ones. */
const maxCharacters = 4_000

/** What a request asks. `before` leaves out the messages behind that one. */
export function askedIn({ messages, tools }: ModelRequest, before = messages.length): Asked {
  const until = messages.slice(0, before).findLastIndex(({ role }) => role === 'user') + 1
  const earlier = messages.slice(0, until)
  const users = earlier.filter(({ role }) => role === 'user')
  const lines = users.flatMap(({ content }) => content.split('\n'))
  const memory = lines.findLast((line) => /^\[from @witan to @[\w-]+\] memory: /.test(line))
  const { blocks = [] } = objectOf(memory?.slice(memory.indexOf('{')) ?? '{}') as { blocks?: readonly Block[] }
  const message = (users.at(-1)?.content ?? '').split(/^\[from @witan to @/m)[0] ?? ''
  return {
    message: message.slice(0, maxCharacters).trim(),
    known: blocks,
    past: finishedCalls({ messages: earlier } as unknown as ModelRequest),
    tools,
  }
}

/** What the tools returned since a user's message: the last one, or the one at `from`. */
export function resultsAfter(
  { messages }: ModelRequest,
  from = messages.findLastIndex(({ role }) => role === 'user'),
): readonly Result[] {
  return messages.slice(from + 1).flatMap((message) => (message.role === 'tool' ? [resultOf(message.content)] : []))
}

/** A result as scripts read it. */
export function resultOf(text: string): Result {
  const value = parsed(text)
  const failed = typeof value === 'object' && value !== null && 'error' in value
  return { text, value, error: failed ? String(value.error) : null }
}

/** The rows of a query; none if it failed. */
export function rowsOf({ value }: Result): readonly Readonly<Record<string, string | number | null>>[] {
  return Array.isArray(value) ? value.filter((row) => typeof row === 'object' && row !== null) : []
}

/** The fields of a result; none if it is no object. */
export function objectOf(text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** One line for each. */
export function lines<T>(all: readonly T[], line: (item: T) => string): string {
  return all.map((item) => `- ${line(item)}`).join('\n')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
