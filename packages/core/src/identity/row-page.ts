/** Pages of rows. */

/** A page of rows. */
export interface RowPage {
  readonly limit: number
  /** The id of the last row of the previous page, exclusive. If that row was deleted, the list throws `BODY_INVALID`. */
  readonly after: string | null
  /** Ends the page before its limit. */
  readonly bound?: ReadBound
}

/** Ends a read before its limit, after the row with which its rows hold this many characters of text. The first row always comes. */
export interface ReadBound {
  readonly characters: number
  /** Called if the read ended for that reason: more rows may follow. */
  cut(): void
}

/** How much text is read at once where rows may be long: parsing it takes a few milliseconds. */
export const readCharacters = 1_000_000

/** The bound of a read whose reader asks again anyway. */
export const readBound: ReadBound = { characters: readCharacters, cut: () => undefined }

/** Adds up the lengths of rows; true once the read is to end. Calls `cut` then. */
function rowCounter(bound: ReadBound | undefined): (length: number) => boolean {
  let left = bound?.characters ?? Number.POSITIVE_INFINITY
  return (length) => {
    left -= length
    if (left > 0) return false
    bound?.cut()
    return true
  }
}

/** The first rows, up to the one with which they are too long. */
export function boundedRows<Row>(
  rows: Iterable<Row>,
  bound: ReadBound | undefined,
  lengthOf: (row: Row) => number,
): readonly Row[] {
  const isFull = rowCounter(bound)
  const taken: Row[] = []
  for (const row of rows) {
    taken.push(row)
    if (bound !== undefined && isFull(lengthOf(row))) break
  }
  return taken
}
