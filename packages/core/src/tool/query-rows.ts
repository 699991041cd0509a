/** Rows of a query as they are taken in: named cells, cut at the limits of rows and bytes [D16]. */
import type { QueryRows } from './source.ts'

/** Takes rows in until a limit is met. */
export interface RowTaker {
  /** The bytes that the rows so far take as a JSON array in UTF-8. */
  readonly bytes: number
  readonly count: number
  /** Takes the cells of a row, already plain JSON values; false, and not taken, where a limit is met. */
  take(cells: readonly unknown[]): boolean
}

/** The limits of one query; see `QUERY_LIMITS`. */
export interface RowLimits {
  readonly maxRows: number
  readonly maxBytes: number
}

/** Starts with no rows; `onRow` gets the cells of each row that is taken. */
export function rowTaker(columns: readonly string[], limits: RowLimits, onRow: (cells: unknown[]) => void): RowTaker {
  const keyBytes = columns.reduce((sum, column) => sum + Buffer.byteLength(JSON.stringify(column)) + 1, 0)
  let [bytes, count] = [2, 0]
  return {
    get bytes() {
      return bytes
    },
    get count() {
      return count
    },
    take(cells) {
      const more = Buffer.byteLength(JSON.stringify(cells)) + keyBytes + (count > 0 ? 1 : 0)
      if (count === limits.maxRows || bytes + more > limits.maxBytes) return false
      bytes += more
      count += 1
      onRow([...cells])
      return true
    },
  }
}

/** Cells under the names of their columns. */
export function namedRows(columns: readonly string[], rows: readonly (readonly unknown[])[]): QueryRows['rows'] {
  return rows.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
}

/** Two columns of one name would fall into one key: the later becomes `name_2`. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`
    taken.add(unique)
    return unique
  })
}
