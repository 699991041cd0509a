/** The contract of a model: one method. */
import type { FinishReason, ReasoningEffort } from '@witan/protocol'
import type { KeptParts, ModelEndBody, ModelUsage, NoticeOf } from '@witan/protocol/entries'
import type { ModelMessage, ModelToolCall } from './message.ts'
import type { ModelSettings } from './settings.ts'
import { type CallTrouble, mayHaveCost } from './trouble.ts'

/** A tool as a model sees it. `parameters` is a JSON Schema of type object. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Everything one model call depends on. An adapter never changes it and may cache by the identity of its parts. */
export interface ModelRequest extends ModelSettings {
  /** The first is the system message; the list is never changed after the call. */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** `required` and `none` bind; with no tools it is `none` [T12]. */
  readonly toolChoice: 'auto' | 'required' | 'none'
  readonly temperature: number | null
  /** How much to think, for models that can be told; others ignore it [F08]. Null leaves it to the provider. */
  readonly reasoningEffort: ReasoningEffort | null
  /** A JSON Schema that the final answer must fit, or null for free text. */
  readonly output: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> } | null
}

/** How a reply ended, in the terms providers share. */
export type ReplyFinish = Extract<FinishReason, 'stop' | 'length' | 'content_filter' | 'error'> | 'tool_calls'

/** A whole reply. `usage` is null where the provider said nothing: unknown is never 0 [E83]. */
export interface ModelReply {
  readonly text: string
  readonly toolCalls: readonly ModelToolCall[]
  readonly finishReason: ReplyFinish
  readonly usage: ModelUsage | null
  /** The model that really answered, where the provider says it. */
  readonly model: string | null
  /**
   * What the model wants back with this reply, such as signed thoughts: it stands on the reply's message in later requests while
   * that message holds exactly these tool calls. Absent where text and calls say it all.
   */
  readonly kept?: KeptParts
  /** What it reasoned, as plain text for people. It goes to no model; `kept` does. */
  readonly reasoning?: string
  /** When it was asked for, in ms, of a reply that is played again. Absent: now, by the clock of the runtime. */
  readonly askedAt?: number
}

/** What a stream is made of: pieces of text as they come, then exactly one `reply`, always last, that holds the whole. */
export type ModelPart =
  | { readonly type: 'delta'; readonly text: string }
  | ReasoningPart
  | { readonly type: 'reply'; readonly reply: ModelReply }

/** A piece of what the model reasons, for people. `restart`: everything before it is void, since the call is made again. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly restart?: true
}

/** Circumstances of one call. `deltas` is false when nobody reads them now: an adapter may then use its provider's plain call. One that streams anyway yields them all the same, for readers who come late. */
export interface ModelCallOptions {
  readonly signal: AbortSignal
  readonly deltas: boolean
  /** Set if people may read what the model reasons: then it stands in the reply, and with `deltas` also comes in pieces. */
  readonly reasoning?: true
  /** Takes what a person should know of the call. It never throws. */
  readonly tell?: (note: ModelNote) => void
  /** Kept by the runtime's retries; an adapter leaves it alone. */
  readonly state?: CallState
  /** The W3C header `traceparent` to send, if traces are exported: it names the span of the agent's call. */
  readonly traceparent?: string
}

/** What is known of a call while it lasts. */
export interface CallState {
  /** Whether a request may be at its provider now. */
  isAsking: boolean
  /** Whether a request ended without a reply, and may have cost something. */
  isLost: boolean
}

/** What a provider warns of, that the request is made again, or that another model is asked. */
export type ModelNote = NoticeOf<'MODEL_WARNING' | 'MODEL_RETRIED' | 'MODEL_FALLBACK'>

/** A price in US dollars for a million tokens. Without one of their own, tokens read from a cache or written to it cost as other input. */
export interface ModelPrice {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  readonly cachedInputPerMillion?: number
  readonly cacheWritePerMillion?: number
  /** The price of requests with more input tokens than that; null: not known, and so is their cost. */
  readonly longInput?: { readonly moreThan: number; readonly price: Omit<ModelPrice, 'longInput'> | null }
}

/** The vendor that answers, as a price table names it, and the vendor's own name of the model. */
export interface ModelListing {
  readonly vendor: string
  readonly model: string
}

/**
 * A language model. `stream` yields deltas and then one reply, or throws a `ModelCallError`; it never retries, never logs,
 * and stops at the signal by throwing the signal's reason. The runtime retries what is retryable before the first delta [D23];
 * pieces of reasoning do not count.
 */
export interface Model {
  /** How the model is named in logs and usage, such as `local/qwen3`. */
  readonly id: string
  /** What its tokens cost, where that is known: its replies are then recorded with their cost. */
  readonly price?: ModelPrice
  /** Where the price stands in a table, if the model has none of its own; absent where it is not known who answers. */
  readonly listing?: ModelListing
  /** `script` where no language model is called; absent for a language model. Screens and lists say so. */
  readonly kind?: 'script'
  /** True where the id says nothing of what it answers, as of a script: then no other model of a runtime may have the same id. */
  readonly isUnique?: boolean
  /**
   * The media types of the files that it takes, such as `image/*` or `application/pdf`; `[]` for none. Text files reach every model as
   * text. Absent if unknown: then every file is sent, and the provider decides [Rb53].
   */
  readonly takes?: readonly string[]
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelPart>
}

/** Whether whatever code gives for a model is one. */
export function isModel(given: unknown): given is Model {
  const { id, stream } = (given ?? {}) as Partial<Model>
  return typeof id === 'string' && typeof stream === 'function'
}

/** Why a model call failed. `retryable` says whether the same request may succeed later; `retryAfterMs` is the provider's own wish. */
export class ModelCallError extends Error {
  readonly status: number | null
  readonly retryable: boolean
  readonly retryAfterMs: number | null
  /** What it is about, where that is known: it decides what is done, and which hint a person reads. */
  readonly trouble: CallTrouble | null
  /** False if the provider cannot have charged for the request: it was refused, or never arrived. */
  readonly mayHaveCost: boolean

  constructor(
    message: string,
    options: {
      status?: number
      retryable: boolean
      retryAfterMs?: number
      trouble?: CallTrouble | null
      /** Default: what the status says, or without a status, whether `trouble` is unknown. */
      mayHaveCost?: boolean
      cause?: unknown
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ModelCallError'
    this.status = options.status ?? null
    this.retryable = options.retryable
    this.retryAfterMs = options.retryAfterMs ?? null
    this.trouble = options.trouble ?? null
    this.mayHaveCost = options.mayHaveCost ?? mayHaveCost(this.status, this.trouble)
  }
}

/** The same error once a reader has seen text: another try would say it twice. */
export function afterText(error: ModelCallError): ModelCallError {
  return !error.retryable && error.mayHaveCost ? error : changed(error, false, 'break')
}

/** The same error for a call whose earlier request has already yielded text. */
export function asCostly(error: ModelCallError): ModelCallError {
  return error.mayHaveCost ? error : changed(error, error.retryable)
}

function changed(
  { message, status, retryAfterMs, trouble }: ModelCallError,
  retryable: boolean,
  otherwise: CallTrouble | null = null,
): ModelCallError {
  return new ModelCallError(message, {
    ...(status === null ? {} : { status }),
    ...(retryAfterMs === null || !retryable ? {} : { retryAfterMs }),
    retryable,
    trouble: trouble ?? otherwise,
    mayHaveCost: true,
  })
}

/** The names of a reply's model, as its entry keeps them. */
export function namesOfModel(reply: Pick<ModelReply, 'model'>, asked: Model): Pick<ModelEndBody, 'model' | 'asked'> {
  const model = reply.model ?? asked.id
  return model === asked.id ? { model } : { model, asked: asked.id }
}
