/** Splits long work into short pieces, so that a check of many agents never blocks the process. */

/** Work that may pause after every short piece, and returns its result. A yielded number says how many short pieces a longer one counts for. */
export type Pausable<Result> = Generator<number | undefined, Result>

const piecesPerTurn = 100

/** Pieces since the event loop last turned, over all work in this process: several short checks can block it too. */
let done = 0

/** Does the work, and yields to the event loop after every 100 pieces. */
export async function runWithPauses<Result>(work: Pausable<Result>): Promise<Result> {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    done += piece.value ?? 1
    if (done < piecesPerTurn) continue
    done = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Does the work without a pause: for small sets, or if nothing else may happen meanwhile. */
export function runWithoutPause<Result>(work: Pausable<Result>): Result {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
  }
}
