/** Splits what one command stores into pieces, each short enough for one turn of the event loop. */
import type { Append } from './store.ts'

/** Whether an append creates a conversation with a log that no job of it has written: nothing is appended to it before it is stored. */
export function isCopy({ create, jobs, entries }: Append): boolean {
  return create !== undefined && jobs === undefined && entries.length > 0
}

/** A piece has up to so many characters, unless one row alone has more; a row counts for more than it has. */
const pieceCharacters = 1_000_000
const rowCharacters = 300

/** The rows in pieces, in order. A row is made when its piece is asked for; nothing is empty. */
export function* piecesOf<Row>(rows: Iterable<Row>, lengthOf: (row: Row) => number): Generator<readonly Row[]> {
  let piece: Row[] = []
  let left = pieceCharacters
  for (const row of rows) {
    const length = lengthOf(row) + rowCharacters
    if (piece.length > 0 && length > left) {
      yield piece
      piece = []
      left = pieceCharacters
    }
    piece.push(row)
    left -= length
  }
  if (piece.length > 0) yield piece
}
