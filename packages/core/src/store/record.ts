/**
 * Records: rows beside the log, each kind declared once. Every store driver implements the declaration itself, so a new kind needs no
 * code in a driver: it is one file like `store/audit.ts` and a row in `store/record-tables.ts`.
 */
import type { RowPage } from './row-page.ts'

/** What a column holds; with `?` it may be null. A text may hold any characters, but no half of a surrogate pair. */
type ColumnType = 'text' | 'text?' | 'integer' | 'integer?'

interface ColumnValues {
  readonly text: string
  readonly 'text?': string | null
  readonly integer: number
  readonly 'integer?': number | null
}

/**
 * The declaration of one kind of record. Each row belongs to a database, which alone sees it, and has an `id` that is unique there. A
 * store keeps the order in which rows came. It never changes or deletes one, and no export carries any.
 */
export interface RecordTable<
  Columns extends Readonly<Record<string, ColumnType>> = Readonly<Record<string, ColumnType>>,
  Filter extends keyof Columns & string = keyof Columns & string,
> {
  /** The name of the SQL table. */
  readonly name: string
  /** The version of the schema that creates the table. From its release on, the declaration stays as it is. */
  readonly since: number
  /** The columns beside `id`. */
  readonly columns: Columns
  /** Lists may ask for certain values of these columns. Each combination of them has an index, so name few. */
  readonly filters: readonly Filter[]
}

/** A row of a declared table. */
export type RecordRow<Table extends RecordTable> = { readonly id: string } & {
  readonly [Name in keyof Table['columns']]: ColumnValues[Table['columns'][Name]]
}

/** A page of rows, newest first, and the values that it asks for. */
export interface RecordPage<Table extends RecordTable> extends RowPage {
  readonly where?: Partial<Pick<RecordRow<Table>, Table['filters'][number]>>
}

/** A row to add. `addition` makes it, and checks its type. */
export interface Addition {
  readonly table: RecordTable
  readonly row: Readonly<Record<string, string | number | null>> & { readonly id: string }
}

/** Declares a kind of record. */
export function defineRecord<
  const Columns extends Readonly<Record<string, ColumnType>>,
  const Filter extends keyof Columns & string,
>(table: RecordTable<Columns, Filter>): RecordTable<Columns, Filter> {
  return Object.freeze(table)
}

/** A row to add to this table. */
export function addition<Table extends RecordTable>(table: Table, row: RecordRow<Table>): Addition {
  return { table, row: row as Addition['row'] }
}

/** What a store does with records. Other methods take additions too, with new ids, and store them in the transaction of their change. */
export interface Records {
  /** Adds a row. False if its id is taken. */
  addRecord(database: string, addition: Addition): Promise<boolean>
  /** Rows, the latest first. The cost of a page does not grow with the other rows. */
  listRecords<Table extends RecordTable>(
    database: string,
    table: Table,
    page: RecordPage<Table>,
  ): Promise<readonly RecordRow<Table>[]>
}
