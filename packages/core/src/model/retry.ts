/** When a failed model call is tried again [D23]: which failures pass, how long to wait, and a model that does it. */
import { systemClock } from '../identity/clock.ts'
import type { Model, ModelCallOptions, ModelPart, ModelRequest } from './model.ts'
import { ModelCallError } from './model.ts'

/** What is about to be tried again: `attempt` is the one that failed, counted from 1. */
interface Retry {
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

/** Does work that calls a model of this id, and again when it fails in a way that may pass. The last error is thrown as it is. */
export async function retried<Result>(
  id: string,
  work: () => Promise<Result>,
  options: RetryOptions & { readonly signal: AbortSignal },
): Promise<Result> {
  const plan: Plan = { ...defaults, onRetry: undefined, ...options, id }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      await waitBeforeRetry(error, attempt, { call: options, plan })
    }
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

/**
 * The provider's own wish in milliseconds, from the body of a refusal: Google's `RetryInfo`, a field such as `retry_after`, or words
 * such as "try again in 1m2s"; null if there is none. Its time does not grow with the body.
 */
export function readRetryWish(body: unknown, text: string): number | null {
  return wishInFields(body) ?? wishInWords(text)
}

const mostDetails = 50

function wishInFields(body: unknown): number | null {
  const outer: unknown = Array.isArray(body) ? body[0] : body
  if (!isObject(outer)) return null
  const inner = isObject(outer.error) ? outer.error : outer
  for (const detail of Array.isArray(inner.details) ? inner.details.slice(0, mostDetails) : []) {
    const wish = isObject(detail) && typeof detail.retryDelay === 'string' ? durationAt(detail.retryDelay, 0) : null
    if (wish !== null) return wish
  }
  return amount(inner.retry_after_ms, 1) ?? amount(inner.retry_after, 1000) ?? amount(outer.retry_after, 1000)
}

function amount(value: unknown, unitMs: number): number | null {
  const number = typeof value === 'string' && value.length <= 16 && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? Math.round(number * unitMs) : null
}

/** That much of a text is read. */
const mostText = 4000

function wishInWords(all: string): number | null {
  const text = all.slice(0, mostText)
  for (const { index, 0: words } of text.matchAll(/\b(?:try|retry)(?: again)? (?:in|after)\b/gi)) {
    const wish = durationAt(text, index + words.length)
    if (wish !== null) return wish
  }
  return null
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The duration that begins there, such as `12s`, `350ms`, `1m2.5s` or `1 minute and 2 seconds`; null if none does. */
function durationAt(text: string, from: number): number | null {
  const part =
    /(?:\s|,|and\b){0,4}(\d{1,9}(?:\.\d{1,12})?)\s?(ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])/giy
  part.lastIndex = from
  let wish: number | null = null
  for (let parts = 0; parts < 5; parts += 1) {
    const [, number, unit = ''] = part.exec(text) ?? []
    if (number === undefined) break
    const name = /^m(s|illi)/i.test(unit) ? 'ms' : unit.charAt(0).toLowerCase()
    wish = (wish ?? 0) + Number(number) * (unitsMs[name] ?? 0)
  }
  return wish === null ? null : Math.round(wish)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
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
async function waitBeforeRetry(
  error: unknown,
  attempt: number,
  { call, plan }: Pick<RetriedCall, 'plan'> & { readonly call: Pick<ModelCallOptions, 'signal' | 'tell'> },
): Promise<void> {
  call.signal.throwIfAborted()
  if (!(error instanceof ModelCallError) || !error.retryable || attempt >= plan.tries) throw error
  if (error.retryAfterMs !== null && error.retryAfterMs > plan.maxRetryAfterMs) throw error
  const ceiling = Math.min(plan.maxDelayMs, plan.baseMs * 2 ** (attempt - 1))
  // Half of it is fixed so that a wait is never nothing; the other half spreads callers that failed together.
  const jittered = ceiling / 2 + (ceiling / 2) * plan.random()
  const delayMs = Math.round(Math.max(jittered, error.retryAfterMs ?? 0))
  plan.onRetry?.({ attempt, delayMs, error })
  const { id, tries } = plan
  const detail = `Try ${attempt} of ${tries} of \`${id}\` failed; the next follows in ${delayMs} ms: ${error.message}`
  call.tell?.({ code: 'MODEL_RETRIED', detail, model: id, attempt, tries, delayMs })
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
