/** How long a model call may take: one timer watches over all the calls of a process. */
import type { Clock } from '../identity/clock.ts'
import { ModelCallError } from './model.ts'

/** The default, in ms. */
const anHour = 3_600_000

/**
 * Aborts calls that take longer than `ms`, all their tries and the waits between them together, with a `ModelCallError` as the reason.
 * A call costs two steps in a map. The timer keeps no process alive.
 */
export class TimeLimit {
  readonly #clock: Clock
  readonly #ms: number
  /** When each call must have ended. All have the same time, so the first to begin is the first to be late. */
  readonly #due = new Map<AbortController, number>()
  #cancel: (() => void) | null = null

  constructor(clock: Clock, ms: number = anHour) {
    this.#clock = clock
    this.#ms = ms
  }

  /** A call begins that `controller` can abort. */
  begin(controller: AbortController): void {
    this.#due.set(controller, this.#clock.now() + this.#ms)
    if (this.#cancel === null) this.#arm(this.#ms)
  }

  /** It has ended. */
  end(controller: AbortController): void {
    this.#due.delete(controller)
  }

  /** Ends the watch; calls under way are no longer limited. */
  close(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#due.clear()
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#look(), { background: true })
  }

  #look(): void {
    this.#cancel = null
    const now = this.#clock.now()
    for (const [controller, due] of this.#due) {
      if (due > now) return this.#arm(due - now)
      this.#due.delete(controller)
      controller.abort(timeOver(this.#ms))
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
  limit.begin(controller)
  try {
    return await call(AbortSignal.any([signal, controller.signal]))
  } finally {
    limit.end(controller)
  }
}

/** Whether a call was aborted because its time was over, and not because nobody wants its reply. */
export function isTimeOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof ModelCallError
}

function timeOver(ms: number): ModelCallError {
  const message = `The model call took more than ${ms} ms, all its tries together.`
  return new ModelCallError(message, { retryable: false })
}
