/** When a failed model call is tried again [D23]: which failures pass, how long to wait, and a model that does it. */
import { systemClock } from '../identity/clock.ts'
import type { Model, ModelCallOptions, ModelPart, ModelRequest } from './model.ts'
import { ModelCallError } from './model.ts'

/** What is about to be tried again: `attempt` is the one that failed, counted from 1. */
export interface Retry {
  readonly attempt: number
  readonly delayMs: number
  readonly error: ModelCallError
}

/** Settings of retries, with clock and randomness. The defaults suit a waiting person; a nightly batch may need longer waits. */
export interface RetryOptions {
  /** A number in [0, 1), such as `Math.random`. */
  readonly random: () => number
  /** Resolves after `ms` milliseconds; it may reject early when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Called before each wait; it must not throw. */
  readonly onRetry?: (retry: Retry) => void
  /** All tries together, the first included. Default 5. */
  readonly tries?: number
  /** The first wait; each further one is twice as long. Default 500. */
  readonly baseMs?: number
  /** The longest wait of our own making. Default 30 000. */
  readonly maxDelayMs?: number
  /** The longest wait a provider may ask for. If it asks for more, the error is thrown at once. Default 60 000. */
  readonly maxRetryAfterMs?: number
}

interface Plan extends Required<Omit<RetryOptions, 'onRetry'>> {
  readonly onRetry: ((retry: Retry) => void) | undefined
  /** The model's id. */
  readonly id: string
}

// The thesis waits 5·2ⁿ s: 75 s in sum before a run that somebody watches gives up. Most refusals pass within a second and a
// server that needs longer says so in Retry-After, so we start at 0.5 s (7.5 s in sum) and let the provider's wish lengthen it.
const defaults = { tries: 5, baseMs: 500, maxDelayMs: 30_000, maxRetryAfterMs: 60_000 }

/**
 * The same model, tried again when a call fails in a way that may pass. Only before the first part: once a reader has seen
 * text, the error stands. Reasoning is no text: the next try begins it anew. The last error is thrown as it is; while it waits, an
 * abort ends the call with the signal's reason.
 */
export function withRetries(model: Model, options: RetryOptions): Model {
  const plan: Plan = { ...defaults, onRetry: undefined, ...options, id: model.id }
  return {
    id: model.id,
    ...(model.kind === undefined ? {} : { kind: model.kind }),
    ...(model.takes === undefined ? {} : { takes: model.takes }),
    stream: (request, call) => new Retrying(model, { request, call, plan }),
  }
}

/** Statuses after which the same request may succeed: time-out, conflict, too early, too many, and the server's own trouble. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || (status >= 500 && status <= 599)
}

/** The provider's own wish in milliseconds, from `retry-after-ms` or `retry-after` (seconds or a date), or null. */
export function readRetryAfter(header: (name: string) => string | null | undefined): number | null {
  const exact = Number.parseFloat(header('retry-after-ms') ?? '')
  if (exact >= 0) return Math.round(exact)
  const wish = header('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(wish)) return Math.round(Number(wish) * 1000)
  const until = Date.parse(wish)
  if (Number.isNaN(until)) return null
  // Relative to the server's own clock if its reply has a date, because our clock may differ.
  const sent = Date.parse(header('date') ?? '')
  return Math.max(0, until - (Number.isNaN(sent) ? systemClock.now() : sent))
}

interface RetriedCall {
  readonly request: ModelRequest
  readonly call: ModelCallOptions
  readonly plan: Plan
}

/** One call, read once. Written by hand: after the first part every delta would pay for what stands between the reader and the model. */
class Retrying implements AsyncIterableIterator<ModelPart> {
  readonly #model: Model
  readonly #retried: RetriedCall
  #inner: AsyncIterator<ModelPart> | undefined
  #attempt = 1
  #isStarted = false
  #hasReasoned = false

  constructor(model: Model, retried: RetriedCall) {
    this.#model = model
    this.#retried = retried
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ModelPart>> {
    return this.#isStarted && this.#inner !== undefined ? this.#inner.next() : this.#begin()
  }

  return(): Promise<IteratorResult<ModelPart>> {
    return this.#inner?.return?.() ?? Promise.resolve({ done: true, value: undefined })
  }

  /** The next part while only reasoning has arrived. If the call fails then, the next try begins the reasoning anew. */
  async #begin(): Promise<IteratorResult<ModelPart>> {
    const { request, call } = this.#retried
    for (; ; this.#attempt += 1) {
      this.#inner ??= this.#model.stream(request, call)[Symbol.asyncIterator]()
      if (call.state !== undefined) call.state.isAsking = true
      try {
        const result = await this.#inner.next()
        if (result.done !== true && result.value.type === 'reasoning') this.#hasReasoned = true
        else this.#isStarted = true
        return result
      } catch (error) {
        this.#inner = undefined
        noteFailure(call, error)
        await waitBeforeRetry(error, this.#attempt, this.#retried)
        if (this.#hasReasoned) {
          this.#hasReasoned = false
          this.#attempt += 1
          return { done: false, value: { type: 'reasoning', text: '', restart: true } }
        }
      }
    }
  }
}

/** A try is over without a reply. */
function noteFailure({ state }: ModelCallOptions, error: unknown): void {
  if (state === undefined) return
  state.isAsking = false
  if (!(error instanceof ModelCallError) || error.mayHaveCost) state.isLost = true
}

/** Returns when the next try may start; throws what ends the call. */
async function waitBeforeRetry(error: unknown, attempt: number, { call, plan }: RetriedCall): Promise<void> {
  call.signal.throwIfAborted()
  if (!(error instanceof ModelCallError) || !error.retryable || attempt >= plan.tries) throw error
  if (error.retryAfterMs !== null && error.retryAfterMs > plan.maxRetryAfterMs) throw error
  const ceiling = Math.min(plan.maxDelayMs, plan.baseMs * 2 ** (attempt - 1))
  // Half of it is fixed so that a wait is never nothing; the other half spreads callers that failed together.
  const jittered = ceiling / 2 + (ceiling / 2) * plan.random()
  const delayMs = Math.round(Math.max(jittered, error.retryAfterMs ?? 0))
  plan.onRetry?.({ attempt, delayMs, error })
  const detail = `Try ${attempt} of ${plan.tries} of \`${plan.id}\` failed; the next follows in ${delayMs} ms: ${error.message}`
  call.tell?.({ code: 'MODEL_RETRIED', detail })
  await sleepOrAbort(plan, delayMs, call.signal)
}

function sleepOrAbort(plan: Plan, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    plan
      .sleep(delayMs, signal)
      .then(resolve, (error: unknown) => reject(signal.aborted ? signal.reason : error))
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
