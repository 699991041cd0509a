/** Reads what an AI SDK model answered, whole or in parts, into a `ModelReply`. */
import type { ModelUsage } from '@witan/protocol/entries'
import { endingOf, isBreak } from '../ending.ts'
import type { AssistantMessage, ModelToolCall } from '../message.ts'
import type { ModelCallOptions, ModelReply, ModelRequest, ReplyFinish } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { replyExcess } from '../reply-limit.ts'
import { writtenOf } from '../usage-parts.ts'
import { keptOf } from './ai-sdk-kept.ts'
import type { AiSdkFinish, AiSdkPart, AiSdkResult, AiSdkUsage } from './ai-sdk-types.ts'

/** Takes in what a plain call came to. */
export function addResult(
  reply: ReplySoFar,
  { content, finishReason, usage, response, providerMetadata }: AiSdkResult,
): void {
  for (const part of content) addContent(reply, part)
  reply.text += textOf(content)
  reply.finish = finishReason
  reply.usage = addUsage(reply.usage, toUsage(usage, providerMetadata))
  reply.model = response?.modelId ?? reply.model
}

/** The complete reply after the last of one or more plain calls. A paused turn takes several. */
export function fromResult(
  reply: ReplySoFar,
  { structuredOutputText }: AiSdkResult,
  { request, by }: { readonly request: ModelRequest; readonly by: string },
): ModelReply {
  const whole = finishReply(reply, by)
  if (request.output === null || structuredOutputText === undefined) return whole
  // A text of its own is none that the kept parts know.
  const { kept: _, ...rest } = whole
  return { ...rest, text: structuredOutputText }
}

function textOf(content: readonly AiSdkPart[]): string {
  let text = ''
  for (const part of content) if (part.type === 'text') text += part.text ?? ''
  return text
}

/** A reply so far, with the texts and thoughts that are being written; `finish` is null until the model said that it is complete. */
interface ReplySoFar {
  text: string
  readonly content: AiSdkPart[]
  /** The calls among it that are not its provider's own. */
  readonly calls: ModelToolCall[]
  readonly sizeOfCalls: { length: number; labels: number }
  readonly open: Map<string, Block>
  finish: AiSdkFinish | null
  usage: ModelUsage | null
  model: string | null
  /** Whether people may read what the model reasoned, and the block that they read last. */
  readonly shows: boolean
  shown: Block | null
}

/** Text or thoughts, as far as they have come. What a later piece says of them counts. */
interface Block {
  readonly type: 'text' | 'reasoning'
  text: string
  providerMetadata?: AiSdkPart['providerMetadata']
}

/** An empty reply, before its first part. */
export function emptyReply({ reasoning }: ModelCallOptions): ReplySoFar {
  const shows = reasoning === true
  const nothing = { text: '', content: [], calls: [], open: new Map(), finish: null, usage: null, model: null }
  return { ...nothing, sizeOfCalls: { length: 0, labels: 0 }, shows, shown: null }
}

/** Takes in a part and returns the text it adds, or ''. Throws the error of an `error` part. */
export function addPart(reply: ReplySoFar, part: AiSdkPart): string {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end': {
      const text = addTo(reply, 'text', part)
      reply.text += text
      refuseExcess(reply)
      return text
    }
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      addTo(reply, 'reasoning', part)
      return ''
    case 'response-metadata':
      reply.model = part.modelId ?? reply.model
      return ''
    case 'finish':
      reply.finish = isEnd(part) ? (part.finishReason ?? null) : null
      if (part.usage !== undefined) reply.usage = addUsage(reply.usage, toUsage(part.usage, part.providerMetadata))
      return ''
    case 'error':
      throw part.error
    default:
      if (part.type === 'tool-call' || part.type === 'tool-result' || part.type === 'custom') addContent(reply, part)
      refuseExcess(reply)
      return ''
  }
}

function addContent({ content, calls, sizeOfCalls }: ReplySoFar, part: AiSdkPart): void {
  content.push(part)
  if (part.type !== 'tool-call' || part.providerExecuted === true) return
  const call = toToolCall(part)
  calls.push(call)
  sizeOfCalls.length += call.arguments.length
  sizeOfCalls.labels += call.id.length + call.name.length
}

function refuseExcess({ text, calls, sizeOfCalls: { length, labels } }: ReplySoFar): void {
  const excess = replyExcess({ length: text.length + length, labels, calls: calls.length }, 'The model')
  if (excess !== null) throw excess
}

/** A package makes an ending of its own where the stream just stops: then the provider named no reason and counted no token. */
function isEnd({ finishReason, usage }: AiSdkPart): boolean {
  if (typeof finishReason !== 'object' || finishReason.unified !== 'other' || finishReason.raw !== undefined)
    return true
  return usage !== undefined && toUsage(usage, undefined) !== null
}

/** The reasoning for people that a part brought, after it was taken in. An empty line stands between blocks. */
export function reasoningIn(reply: ReplySoFar, { type, id, delta = '' }: AiSdkPart): string {
  if (!reply.shows || type !== 'reasoning-delta' || delta === '') return ''
  const block = reply.open.get(`reasoning ${id}`) ?? null
  const goesOn = reply.shown === null || reply.shown === block
  reply.shown = block
  return goesOn ? delta : `\n\n${delta}`
}

function isReasoning({ type, text }: AiSdkPart): boolean {
  return type === 'reasoning' && typeof text === 'string' && text !== ''
}

/** Adds a piece to the block of its id and returns its text. */
function addTo({ content, open }: ReplySoFar, type: Block['type'], part: AiSdkPart): string {
  const key = `${type} ${part.id}`
  let block = open.get(key)
  if (block === undefined) {
    block = { type, text: '' }
    open.set(key, block)
    content.push(block)
  }
  const text = part.delta ?? ''
  block.text += text
  if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata
  if (part.type.endsWith('-end')) open.delete(key)
  return text
}

/** The whole reply. Throws where the stream ended without saying that it was complete. */
export function finishReply(soFar: ReplySoFar, by: string): ModelReply {
  const { text, content, calls: toolCalls, finish, usage, model, shows } = soFar
  if (finish === null) throw cutOff()
  refuseExcess(soFar)
  const kept = keptOf(content, by)
  const reasoning = shows ? content.filter(isReasoning).map((part) => part.text) : []
  const reply = { text, toolCalls, finishReason: toFinish(finish, toolCalls.length > 0), usage, model }
  return {
    ...reply,
    ...(kept === undefined ? {} : { kept }),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n\n') }),
  }
}

/**
 * What goes before the next request where the model only paused in the middle of its turn, as it does while a tool of its provider
 * works: what it said so far. Null where the reply is whole.
 */
export function pausedReply({ text, content, calls, finish }: ReplySoFar, by: string): AssistantMessage | null {
  if (typeof finish !== 'object' || finish?.raw !== 'pause_turn') return null
  if (calls.length > 0) return null
  const kept = keptOf(content, by)
  return { role: 'assistant', content: text, ...(kept === undefined ? {} : { kept }) }
}

function cutOff(): ModelCallError {
  return new ModelCallError('The model ended its reply in the middle.', { retryable: true })
}

function toToolCall(part: AiSdkPart): ModelToolCall {
  const { input } = part
  // A string by specification; some providers of V2 hand over the object.
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  return { id: part.toolCallId ?? '', name: part.toolName ?? '', arguments: text.trim() === '' ? '{}' : text }
}

function toFinish(finish: AiSdkFinish, calls: boolean): ReplyFinish {
  const { unified, raw = '' } = typeof finish === 'string' ? { unified: finish } : finish
  if (unified === 'interrupted' || isBreak(raw)) throw cutOff()
  if (unified === 'error') return 'error'
  // `other` and `unknown` say nothing, but the provider's own word may.
  const ending = endingOf(unified === 'other' ? raw : unified.replace('-', '_'))
  return ending === 'stop' || ending === 'tool_calls' ? (calls ? 'tool_calls' : 'stop') : ending
}

function toUsage(usage: AiSdkUsage, metadata: object | undefined): ModelUsage | null {
  const { inputTokens: input, outputTokens: output } = usage
  if (typeof input !== 'object' && metadata !== undefined && 'anthropic' in metadata)
    return toUsage(withCache(usage, input, metadata.anthropic), undefined)
  const inputTokens = count(typeof input === 'object' ? input.total : input)
  const outputTokens = count(typeof output === 'object' ? output.total : output)
  if (inputTokens === null && outputTokens === null) return null
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: count(typeof input === 'object' ? input.cacheRead : usage.cachedInputTokens) ?? 0,
    reasoningTokens: count(typeof output === 'object' ? output.reasoning : usage.reasoningTokens) ?? 0,
    ...writtenOf(count(typeof input === 'object' ? input.cacheWrite : undefined)),
  }
}

/** In version 2 of the interface, Anthropic's input tokens leave out its cache; the tokens written to it stand in the metadata. */
function withCache(usage: AiSdkUsage, input: number | undefined, own: unknown): AiSdkUsage {
  const isKnown = typeof own === 'object' && own !== null && 'cacheCreationInputTokens' in own
  const cacheWrite = count(isKnown ? own.cacheCreationInputTokens : 0) ?? 0
  const cacheRead = count(usage.cachedInputTokens) ?? 0
  const total = input === undefined ? undefined : input + cacheRead + cacheWrite
  return { ...usage, inputTokens: { total, cacheRead, cacheWrite } }
}

/** What is not known of one request is not known of all. */
function addUsage(sum: ModelUsage | null, more: ModelUsage | null): ModelUsage | null {
  if (sum === null || more === null) return more
  const add = (one: number | null, other: number | null) => (one === null || other === null ? null : one + other)
  return {
    inputTokens: add(sum.inputTokens, more.inputTokens),
    outputTokens: add(sum.outputTokens, more.outputTokens),
    cachedInputTokens: sum.cachedInputTokens + more.cachedInputTokens,
    reasoningTokens: sum.reasoningTokens + more.reasoningTokens,
    ...writtenOf((sum.cacheWriteTokens ?? 0) + (more.cacheWriteTokens ?? 0)),
  }
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
