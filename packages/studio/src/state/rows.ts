/** Rows, such as the result of a query, and their form in a table. */
import { isRecord } from './content.ts'

/** Columns in the order in which rows name them. */
export interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

const mostColumns = 40

/** The rows of a value; null where it is not a list of objects, or has more columns than a table can show. */
export function rowsOf(value: unknown): Rows | null {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null
  const columns = new Set<string>()
  for (const row of value) for (const name of Object.keys(row)) columns.add(name)
  if (columns.size === 0 || columns.size > mostColumns) return null
  return { columns: [...columns], rows: value }
}

const mostCharacters = 300

/** The text of a cell. */
export function cellText(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}
