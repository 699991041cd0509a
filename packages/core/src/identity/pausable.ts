/** Splits long work into short pieces, so that it never blocks the process. */
import { countWork, isTurnSpent, isWorkSpent, nextTurn } from './turn.ts'

/** Work that may pause after every piece, each a millisecond or less, and returns its result. */
export type Pausable<Result> = Generator<undefined, Result>

/** Does the work, and gives way to other work when this turn of the event loop has no share left. */
export async function runWithPauses<Result>(work: Pausable<Result>): Promise<Result> {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    if (isTurnSpent()) await nextTurn()
  }
}

/** What a piece counts for, as `countWork` counts: about a millisecond. */
const pieceUnits = 10_000

/** Does work of a run: each piece is counted, so that the order of what the run records does not depend on the clock. */
export async function runByPieces<Result>(work: Pausable<Result>): Promise<Result> {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    countWork(pieceUnits)
    if (isWorkSpent()) await nextTurn()
  }
}

/** Does work of a run at once, where nothing can wait for it. Its pieces are counted, so that what the run does next may wait. */
export function runAtOnce<Result>(work: Pausable<Result>): Result {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    countWork(pieceUnits)
  }
}

/** Does the work without a pause: for small work, or if nothing else may happen meanwhile. */
export function runWithoutPause<Result>(work: Pausable<Result>): Result {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
  }
}
