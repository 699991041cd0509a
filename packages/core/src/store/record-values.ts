/** The values of records as a store keeps them, for every driver: JSON is text. */
import type { AnyRow, RecordTable } from './record.ts'

/** A value of a column as it is stored. */
export type StoredValue = string | number | null

/** A row as it is stored. */
type StoredRow = Readonly<Record<string, StoredValue>> & { readonly id: string }

/** How a driver writes texts that its database would not take. */
interface TextCode {
  stored(text: string): string
  restored(text: string): string
}

/** A row as it is stored: its id first, then the columns in the order of the declaration. A value that JSON cannot hold becomes null. */
export function storedRow({ columns }: RecordTable, row: AnyRow, code?: TextCode): StoredRow {
  const stored: Record<string, StoredValue> & { id: string } = { id: code === undefined ? row.id : code.stored(row.id) }
  for (const name in columns) {
    const value = row[name] ?? null
    if (columns[name] === 'json') stored[name] = JSON.stringify(value) ?? 'null'
    else stored[name] = typeof value === 'string' && code !== undefined ? code.stored(value) : (value as StoredValue)
  }
  return stored
}

const known = new Map<RecordTable, readonly string[]>()

/** The columns of JSON, found once for each table. */
function jsonColumns(table: RecordTable): readonly string[] {
  const found = known.get(table)
  if (found !== undefined) return found
  const names = Object.keys(table.columns).filter((name) => table.columns[name] === 'json')
  known.set(table, names)
  return names
}

/** A stored row for its reader, with what was found beside its columns. */
export function readRow<Row>(table: RecordTable, found: object, code?: TextCode): Row {
  const row: Record<string, unknown> = { ...found }
  if (code !== undefined)
    for (const name in row) {
      const value = row[name]
      if (typeof value === 'string' && table.columns[name] !== 'json') row[name] = code.restored(value)
    }
  for (const name of jsonColumns(table)) row[name] = JSON.parse(row[name] as string)
  return row as Row
}
