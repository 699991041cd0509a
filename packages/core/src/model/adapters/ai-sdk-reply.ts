/** Reads what an AI SDK model answered, whole or in parts, into a `ModelReply`. */
import type { ModelUsage } from '@witan/protocol/entries'
import type { ModelToolCall } from '../message.ts'
import type { ModelReply, ModelRequest, ReplyFinish } from '../model.ts'
import { ModelCallError } from '../model.ts'
import type { AiSdkFinish, AiSdkPart, AiSdkResult, AiSdkUsage } from './ai-sdk-types.ts'

/** The reply of a plain call. */
export function fromResult(result: AiSdkResult, request: ModelRequest): ModelReply {
  let text = ''
  const toolCalls: ModelToolCall[] = []
  for (const part of result.content) {
    if (part.type === 'text') text += part.text ?? ''
    else if (part.type === 'tool-call' && part.providerExecuted !== true) toolCalls.push(toToolCall(part))
  }
  if (request.output !== null) text = result.structuredOutputText ?? text
  const finishReason = toFinish(result.finishReason, toolCalls.length > 0)
  return { text, toolCalls, finishReason, usage: toUsage(result.usage), model: result.response?.modelId ?? null }
}

/** A streamed reply so far; `finish` is null until the model said that it is complete. */
export interface ReplySoFar {
  text: string
  readonly toolCalls: ModelToolCall[]
  finish: AiSdkFinish | null
  usage: ModelUsage | null
  model: string | null
}

/** A reply of which nothing has come yet. */
export function emptyReply(): ReplySoFar {
  return { text: '', toolCalls: [], finish: null, usage: null, model: null }
}

/** Takes in a part and returns the text it adds, or ''. Throws the error of an `error` part. */
export function addPart(reply: ReplySoFar, part: AiSdkPart): string {
  switch (part.type) {
    case 'text-delta': {
      const text = part.delta ?? ''
      reply.text += text
      return text
    }
    case 'tool-call':
      if (part.providerExecuted !== true) reply.toolCalls.push(toToolCall(part))
      return ''
    case 'response-metadata':
      reply.model = part.modelId ?? reply.model
      return ''
    case 'finish':
      reply.finish = part.finishReason ?? null
      reply.usage = part.usage === undefined ? null : toUsage(part.usage)
      return ''
    case 'error':
      throw part.error
    default:
      return ''
  }
}

/** The whole reply. Throws where the stream ended without saying that it was complete. */
export function finishReply({ text, toolCalls, finish, usage, model }: ReplySoFar): ModelReply {
  if (finish === null) throw cutOff()
  return { text, toolCalls, finishReason: toFinish(finish, toolCalls.length > 0), usage, model }
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
  const reason = typeof finish === 'string' ? finish : finish.unified
  switch (reason) {
    case 'length':
    case 'error':
      return reason
    case 'content-filter':
      return 'content_filter'
    case 'interrupted':
      throw cutOff()
    default:
      // `other` and `unknown` tell nothing; what matters is whether there are calls to make.
      return calls ? 'tool_calls' : 'stop'
  }
}

function toUsage(usage: AiSdkUsage): ModelUsage | null {
  const { inputTokens: input, outputTokens: output } = usage
  const inputTokens = count(typeof input === 'object' ? input.total : input)
  const outputTokens = count(typeof output === 'object' ? output.total : output)
  if (inputTokens === null && outputTokens === null) return null
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: count(typeof input === 'object' ? input.cacheRead : usage.cachedInputTokens) ?? 0,
    reasoningTokens: count(typeof output === 'object' ? output.reasoning : usage.reasoningTokens) ?? 0,
  }
}

function count(value: number | undefined): number | null {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : null
}
