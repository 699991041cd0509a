/** The one source of time: tests hand in their own. */

/** Wall-clock milliseconds, and a timer that never keeps the process alive on its own. */
export interface Clock {
  now(): number
  /** Calls `run` after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, 2_147_483_647))
    timer.unref()
    return () => clearTimeout(timer)
  },
}
