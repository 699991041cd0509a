/** Splits long work into short steps, so that a check of many agents never blocks the process. */

/**
 * Work that pauses after every short step and returns its result. A yielded number says how many short steps a longer step
 * counts for.
 */
export type Steps<Result> = Generator<number | undefined, Result>

const stepsPerTurn = 100

/** Steps since the event loop last turned, over all work in this process: many short pieces can block it too. */
let taken = 0

/** Does the work, and yields to the event loop after every 100 steps. */
export async function inTurns<Result>(work: Steps<Result>): Promise<Result> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    taken += step.value ?? 1
    if (taken < stepsPerTurn) continue
    taken = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Does the work without a pause: for small sets, or if nothing may happen in between. */
export function atOnce<Result>(work: Steps<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
