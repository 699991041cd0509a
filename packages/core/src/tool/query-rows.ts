/** Collects the rows of a query: cells by column name, up to the limits of rows and bytes [D16]. */
import type { QueryRows } from './source.ts'

/** Collects rows until a limit is reached. */
interface RowTaker {
  /** The size of the collected rows as a JSON array in UTF-8. */
  bytes(): number
  count(): number
  /** Adds a row of cells, which are plain JSON values. Returns false, and adds nothing, if a limit is reached. */
  take(cells: readonly unknown[]): boolean
}

/** The limits of one query; see `QUERY_LIMITS`. */
interface RowLimits {
  readonly maxRows: number
  readonly maxBytes: number
}

/** Starts without rows; `onRow` gets the cells of each added row. */
export function rowTaker(columns: readonly string[], limits: RowLimits, onRow: (cells: unknown[]) => void): RowTaker {
  const keyBytes = columns.reduce((sum, column) => sum + Buffer.byteLength(JSON.stringify(column)) + 1, 0)
  let [bytes, count] = [2, 0]
  return {
    bytes: () => bytes,
    count: () => count,
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

/** The cells keyed by their columns' names. */
export function namedRows(columns: readonly string[], rows: readonly (readonly unknown[])[]): QueryRows['rows'] {
  return rows.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
}

/** Two columns of one name would share a key, so the later one becomes `name_2`. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`
    taken.add(unique)
    return unique
  })
}
