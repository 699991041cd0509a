/** The values of records as a store keeps them, for every driver: JSON is text. */
import type { AnyRow, RecordTable } from './record.ts'

/** A value of a column as it is stored. */
export type StoredValue = string | number | null

/** A row as it is stored. */
export type StoredRow = Readonly<Record<string, StoredValue>> & { readonly id: string }

/** How a driver writes texts that its database would not take. */
interface TextCode {
  stored(text: string): string
  restored(text: string): string
}

const plain: TextCode = { stored: (text) => text, restored: (text) => text }

/** A row as it is stored: its id first, then the columns in the order of the declaration. A value that JSON cannot hold becomes null. */
export function storedRow({ columns }: RecordTable, row: AnyRow, code = plain): StoredRow {
  const stored: Record<string, StoredValue> & { id: string } = { id: code.stored(row.id) }
  for (const name in columns) {
    const value = row[name] ?? null
    if (columns[name] === 'json') stored[name] = JSON.stringify(value) ?? 'null'
    else stored[name] = typeof value === 'string' ? code.stored(value) : (value as number | null)
  }
  return stored
}

/** A stored row for its reader, with what was found beside its columns. */
export function readRow<Row>({ columns }: RecordTable, found: object, code = plain): Row {
  const row: Record<string, unknown> = { ...found }
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') row[name] = columns[name] === 'json' ? JSON.parse(value) : code.restored(value)
  }
  return row as Row
}
