/** The rate of one connection: how many of its requests may run at once, and the least time between two of them [Tb14]. */
import type { Clock } from '../identity/clock.ts'
import type { Model, ModelCallOptions, ModelPart, ModelRequest } from './model.ts'

/** The bounds of a connection in one process. */
export interface RateLimitOptions {
  /** The least time between the beginnings of two requests, in ms. Default 0. */
  readonly minIntervalMs?: number
  /** The most requests at once. Default null: no limit. */
  readonly maxConcurrent?: number | null
}

/**
 * Admits requests in the order in which they came, each as soon as the bounds allow. All models of a connection share one limit. A
 * request that nobody wants any more leaves the queue at once. One timer runs while requests wait for the interval, and none else.
 */
export interface RateLimit {
  /** Resolves when one request may begin; each such request ends with one `leave`. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<void>
  /** A request that was admitted has ended. */
  leave(): void
}

/** Creates the rate limit of one connection. */
export function createRateLimit(
  clock: Clock,
  { minIntervalMs = 0, maxConcurrent = null }: RateLimitOptions,
): RateLimit {
  const most = maxConcurrent ?? Number.POSITIVE_INFINITY
  /** What admits each waiting request, oldest first. */
  const queue = new Set<() => void>()
  let running = 0
  let lastAt = Number.NEGATIVE_INFINITY
  let cancelTimer: (() => void) | null = null

  const disarm = () => {
    cancelTimer?.()
    cancelTimer = null
  }
  const look = () => {
    for (const admit of queue) {
      if (running >= most) return
      const now = clock.now()
      // If the clock was set back, requests must not wait for longer than the interval.
      lastAt = Math.min(lastAt, now)
      const waitMs = lastAt + minIntervalMs - now
      if (waitMs > 0) return arm(waitMs)
      queue.delete(admit)
      running += 1
      lastAt = now
      admit()
    }
    disarm()
  }
  const arm = (ms: number) => {
    cancelTimer ??= clock.after(ms, () => {
      cancelTimer = null
      look()
    })
  }
  return {
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const admit = () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = () => {
          queue.delete(admit)
          if (queue.size === 0) disarm()
          reject(signal.reason)
        }
        signal.addEventListener('abort', giveUp, { once: true })
        queue.add(admit)
        look()
      }),
    leave() {
      running -= 1
      look()
    },
  }
}

/** The same model, whose requests keep to the limit. A request holds its slot until its reply, its failure or an abort. */
export function withRateLimit(model: Model, limit: RateLimit): Model {
  return {
    id: model.id,
    ...(model.kind === undefined ? {} : { kind: model.kind }),
    ...(model.price === undefined ? {} : { price: model.price }),
    ...(model.listing === undefined ? {} : { listing: model.listing }),
    ...(model.takes === undefined ? {} : { takes: model.takes }),
    stream: (request, call) => new RateLimited(model, limit, { request, call }),
  }
}

/** One request. By hand: an async generator costs several more turns of the microtask queue for each part. */
class RateLimited implements AsyncIterableIterator<ModelPart> {
  readonly #model: Model
  readonly #limit: RateLimit
  readonly #request: ModelRequest
  readonly #call: ModelCallOptions
  #parts: AsyncIterator<ModelPart> | undefined
  /** Releases the slot, once. It is also the listener of an abort: an adapter may ignore that one. */
  readonly #release: () => void
  #isHeld = false

  constructor(model: Model, limit: RateLimit, { request, call }: { request: ModelRequest; call: ModelCallOptions }) {
    this.#model = model
    this.#limit = limit
    this.#request = request
    this.#call = call
    this.#release = () => {
      if (!this.#isHeld) return
      this.#isHeld = false
      call.signal.removeEventListener('abort', this.#release)
      limit.leave()
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<ModelPart>> {
    const parts = this.#parts ?? (await this.#begin())
    try {
      const step = await parts.next()
      if (step.done === true || step.value.type === 'reply') this.#release()
      return step
    } catch (error) {
      this.#release()
      throw error
    }
  }

  return(): Promise<IteratorResult<ModelPart>> {
    this.#release()
    return this.#parts?.return?.() ?? Promise.resolve({ done: true, value: undefined })
  }

  async #begin(): Promise<AsyncIterator<ModelPart>> {
    const { signal, state } = this.#call
    if (state !== undefined) state.isAsking = false
    await this.#limit.enter(signal)
    this.#isHeld = true
    signal.addEventListener('abort', this.#release, { once: true })
    try {
      // It may have been aborted since it was admitted.
      signal.throwIfAborted()
      if (state !== undefined) state.isAsking = true
      this.#parts = this.#model.stream(this.#request, this.#call)[Symbol.asyncIterator]()
      return this.#parts
    } catch (error) {
      this.#release()
      throw error
    }
  }
}
