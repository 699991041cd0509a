/** The one source of time; tests pass their own. */

/** Wall-clock milliseconds, and a timer. */
export interface Clock {
  now(): number
  /** Calls `run` after `ms`; the returned function cancels it. A `background` timer does not keep the process alive. */
  after(ms: number, run: () => void, options?: { readonly background?: boolean }): () => void
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, { background = false } = {}) {
    const timer = setTimeout(run, Math.min(ms, 2_147_483_647))
    if (background) timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Milliseconds that only go forward, for measuring how long something took. */
export const steady = (): number => performance.now()

/** The CPU time of this thread in ms. Unlike `steady`, it stands still while the machine runs something else. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
