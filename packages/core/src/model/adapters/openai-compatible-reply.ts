/** Gathers the documents of one reply, streamed or plain, into a `ModelReply`. */
import type { ModelUsage } from '@witan/protocol/entries'
import { endingOf, isBreak } from '../ending.ts'
import { longestKept } from '../kept.ts'
import type { ModelMessage } from '../message.ts'
import type { ModelReply, ModelRequest, ReplyFinish } from '../model.ts'
import { mostCalls } from '../reply-limit.ts'
import { writtenOf } from '../usage-parts.ts'
import { addThoughts, keptOf, readableIn, type Thoughts } from './openai-compatible-kept.ts'
import type { CollectedCalls, ToolCallCollector } from './openai-compatible-tool-calls.ts'
import { createToolCallCollector } from './openai-compatible-tool-calls.ts'

type Json = Readonly<Record<string, unknown>>

/** A reply so far. `fresh` and `freshReasoning` are text that was not yielded yet; `finishReason` is null until the server sends one. */
export interface ReplySoFar {
  text: string
  fresh: string
  finishReason: ReplyFinish | null
  /** The error object that the server sent in place of a reply or in the middle of it; undefined where there is none. */
  error: unknown
  calls: ToolCallCollector | null
  usage: ModelUsage | null
  model: string | null
  refused: boolean
  readonly thoughts: Thoughts
  /** About how many characters their JSON has. */
  thoughtLength: number
  /** The thoughts as people read them; null where nobody may. */
  reasoning: string | null
  freshReasoning: string
}

/** An empty reply, before its first part. */
export function emptyReply(shows: boolean): ReplySoFar {
  return {
    text: '',
    fresh: '',
    finishReason: null,
    error: undefined,
    calls: null,
    usage: null,
    model: null,
    refused: false,
    thoughts: {},
    thoughtLength: 0,
    reasoning: shows ? '' : null,
    freshReasoning: '',
  }
}

/** Takes in one document, but no calls beyond one more than a reply may have: a chunk of a stream or a whole completion, which differ only in `delta` and `message`. */
export function addDocument(reply: ReplySoFar, document: unknown, { messages }: ModelRequest): void {
  const value: unknown = Array.isArray(document) ? document[0] : document
  if (!isObject(value)) return
  const failed = value.error ?? (value.object === 'error' ? value : undefined)
  if (failed !== undefined) {
    reply.error ??= failed
    return
  }
  if (typeof value.model === 'string' && value.model !== '') reply.model = value.model
  if (isObject(value.usage)) reply.usage = readUsage(value.usage)
  const choice: unknown = Array.isArray(value.choices) ? value.choices[0] : undefined
  if (!isObject(choice)) return
  const { finish_reason: reason } = choice
  if (typeof reason === 'string' && reason !== '') reply.finishReason = endingOf(reason)
  // What goes wrong behind a gateway may stand at the choice.
  if (isObject(choice.error)) reply.error ??= choice.error
  else if (isBreak(reason)) reply.error ??= reason
  const said = choice.delta ?? choice.message
  if (!isObject(said)) return
  addText(reply, readText(said.content))
  // What is longer is not kept: no more of it is put together.
  if (reply.thoughtLength <= longestKept) reply.thoughtLength += addThoughts(reply.thoughts, said)
  if (reply.reasoning !== null) addReasoning(reply, readableIn(said))
  if (typeof said.refusal === 'string' && said.refusal !== '') {
    reply.refused = true
    addText(reply, said.refusal)
  }
  if (!Array.isArray(said.tool_calls)) return
  reply.calls ??= createToolCallCollector(freshIds(messages))
  for (const piece of said.tool_calls) {
    if (reply.calls.count > mostCalls) return
    reply.calls.add(piece)
  }
}

/** Takes the fresh text away. */
export function takeFresh(reply: ReplySoFar): string {
  const { fresh } = reply
  reply.fresh = ''
  return fresh
}

/** Takes the fresh reasoning away. */
export function takeReasoning(reply: ReplySoFar): string {
  const { freshReasoning } = reply
  reply.freshReasoning = ''
  return freshReasoning
}

/** Whether the model has written something. */
export function hasBegun({ text, calls, thoughts }: ReplySoFar): boolean {
  return text !== '' || calls !== null || Object.keys(thoughts).length > 0
}

const noCalls: CollectedCalls = { calls: [], extras: new Map() }

/** The complete reply. If a server ended properly without a reason, the reply counts as finished. */
export function finishReply(
  { text, calls, usage, model, refused, thoughts, thoughtLength, reasoning, ...reply }: ReplySoFar,
  by: string,
): ModelReply {
  const { calls: toolCalls, extras } = calls?.finish(reply.finishReason !== null) ?? noCalls
  // Without an ending, a call that has no arguments may have been cut before them.
  const isCut = reply.finishReason === null && toolCalls.some((call) => call.arguments.trim() === '')
  let finishReason = reply.finishReason ?? (isCut ? 'error' : 'stop')
  if (finishReason === 'stop' || finishReason === 'tool_calls')
    finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop'
  if (finishReason === 'stop' && refused) finishReason = 'content_filter'
  const kept = keptOf(thoughtLength > longestKept ? null : thoughts, { by, extras })
  return {
    text,
    toolCalls,
    finishReason,
    usage,
    model,
    ...(kept === undefined ? {} : { kept }),
    ...(reasoning === null || reasoning === '' ? {} : { reasoning }),
  }
}

function addText(reply: ReplySoFar, text: string): void {
  reply.text += text
  reply.fresh += text
}

function addReasoning(reply: ReplySoFar, text: string): void {
  reply.reasoning += text
  reply.freshReasoning += text
}

/** Text, or the text among content parts. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  let text = ''
  for (const part of content)
    if (isObject(part) && part.type === 'text' && typeof part.text === 'string') text += part.text
  return text
}

/** The input counts what was read from a cache and written to one, everywhere that this form is spoken. */
function readUsage(usage: Json): ModelUsage {
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  // DeepSeek, Moonshot and Mistral have a word of their own for it.
  const cached = input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens
  // OpenAI and OpenRouter; Qwen; LiteLLM.
  const written = input.cache_write_tokens ?? input.cache_creation_input_tokens ?? usage.cache_creation_input_tokens
  return {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cachedInputTokens: count(cached) ?? 0,
    reasoningTokens: count(output.reasoning_tokens) ?? 0,
    ...writtenOf(count(written)),
  }
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Returns ids that no call of the conversation has. They are the same each time, so that a reply does not depend on chance. */
function freshIds(messages: readonly ModelMessage[]): (position: number) => string {
  let known: Set<string> | null = null
  return (position) => {
    known ??= idsIn(messages)
    let number = known.size + position
    while (known.has(`call_${number}`)) number += 1
    return `call_${number}`
  }
}

function idsIn(messages: readonly ModelMessage[]): Set<string> {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) ids.add(call.id)
  }
  return ids
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
