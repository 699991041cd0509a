/** How long a model call may take: one timer watches over all the calls of a process. */
import type { Clock } from '../identity/clock.ts'
import { ModelCallError } from './model.ts'

/** The default, in ms. */
const anHour = 3_600_000

/** A call that is watched, between those that began before and after it. */
interface Watched {
  readonly controller: AbortController
  /** When it must have ended. */
  readonly due: number
  before: Watched | null
  after: Watched | null
}

/**
 * Aborts calls that take longer than `ms`, all their tries and the waits between them together, with a `ModelCallError` as the reason.
 * A call costs one small object, in a list: a map would be built anew every few calls. The timer keeps no process alive.
 */
export class TimeLimit {
  readonly #clock: Clock
  readonly #ms: number
  /** All calls have the same time, so the first to begin is the first to be late. */
  #first: Watched | null = null
  #last: Watched | null = null
  #cancel: (() => void) | null = null

  constructor(clock: Clock, ms: number = anHour) {
    this.#clock = clock
    this.#ms = ms
  }

  /** A call begins that `controller` can abort. What is returned ends the watch with `end`. */
  begin(controller: AbortController): Watched {
    const one: Watched = { controller, due: this.#clock.now() + this.#ms, before: this.#last, after: null }
    if (this.#last === null) this.#first = one
    else this.#last.after = one
    this.#last = one
    if (this.#cancel === null) this.#arm(this.#ms)
    return one
  }

  /** The call has ended, or is late. */
  end(one: Watched): void {
    const { before, after } = one
    if (before === null && this.#first !== one) return // it ended before
    if (before === null) this.#first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    one.before = null
    one.after = null
  }

  /** Ends the watch; calls under way are no longer limited. */
  close(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#first = null
    this.#last = null
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#look(), { background: true })
  }

  #look(): void {
    this.#cancel = null
    const now = this.#clock.now()
    for (let one = this.#first; one !== null; one = this.#first) {
      if (one.due > now) return this.#arm(one.due - now)
      this.end(one)
      one.controller.abort(timeOver(this.#ms))
    }
  }
}

/** Calls a model with a signal that aborts with `signal`, and when the time is over. */
export async function withinLimit<Result>(
  limit: TimeLimit,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const watched = limit.begin(controller)
  try {
    return await call(AbortSignal.any([signal, controller.signal]))
  } finally {
    limit.end(watched)
  }
}

/** Whether a call was aborted because its time was over, and not because nobody wants its reply. */
export function isTimeOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof ModelCallError
}

function timeOver(ms: number): ModelCallError {
  const message = `The model call took more than ${ms} ms, all tries included.`
  return new ModelCallError(message, { retryable: false, trouble: 'time' })
}
