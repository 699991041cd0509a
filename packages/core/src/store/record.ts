/**
 * Records: rows beside the log, each kind declared once. Every store driver implements the declaration itself, so a new kind needs no
 * code in a driver: it is one file like `store/audit.ts` and a row in `store/record-tables.ts`.
 */
import type { RowPage } from '../identity/row-page.ts'

/** The most rows that `forgetRecords` deletes at once. */
export const mostForgotten = 1_000

interface ColumnValues {
  readonly text: string
  readonly 'text?': string | null
  readonly integer: number
  readonly 'integer?': number | null
}

/** A column that holds a JSON value of this type. A store never looks into it. */
type JsonColumn<Value> = 'json' & { readonly of?: Value }

/** Declares a column of JSON. */
export function json<Value>(): JsonColumn<Value> {
  return 'json'
}

/** What a column holds; with `?` it may be null. A text may hold any characters, but no half of a surrogate pair. */
type ColumnType = keyof ColumnValues | JsonColumn<unknown>

type ValueOf<Type> = Type extends keyof ColumnValues ? ColumnValues[Type] : Type extends JsonColumn<infer V> ? V : never

/** The columns beside `id`, which every row has. */
type RecordColumns = Readonly<Record<string, ColumnType>>

/**
 * The declaration of one kind of record. Each row belongs to a database, which alone sees it, and has an `id` that is unique there. A
 * store keeps the order in which rows came. Of records, an export carries keys alone.
 */
export interface RecordTable<
  Columns extends RecordColumns = RecordColumns,
  Filter extends keyof Columns & string = keyof Columns & string,
> {
  /** The name of the SQL table. */
  readonly name: string
  /**
   * The version of the schema that creates the table, from the declaration: from its release on, that stays as it is. Null if a step of
   * the schema creates it, whose table has the same columns and is older than declarations.
   */
  readonly since: number | null
  readonly columns: Columns
  /** Lists may ask for certain values of these columns. Each combination of them has an index, so name few. */
  readonly filters: readonly Filter[]
  /** A text that is unique in the whole store. Who knows it may read its row, of whatever database; so it is a digest of a secret. */
  readonly secret?: string
  /** A time that moves on and never back. Without it, a row never changes. */
  readonly latest?: string
  /** The time from which a row counts no more: `forgetRecords` deletes such rows. */
  readonly until?: string
  /** Whether rows may be deleted. */
  readonly isDeleted?: boolean
  /** Whether a database exists while it has such a row. */
  readonly beginsDatabase?: boolean
}

/** A row of a declared table. */
export type RecordRow<Table extends RecordTable> = { readonly id: string } & {
  readonly [Name in keyof Table['columns']]: ValueOf<Table['columns'][Name]>
}

/** A page of rows, newest first, and the values that it asks for. */
export interface RecordPage<Table extends RecordTable> extends RowPage {
  readonly where?: Partial<Pick<RecordRow<Table>, Table['filters'][number]>>
}

/** A row as any driver sees it. */
export type AnyRow = Readonly<Record<string, unknown>> & { readonly id: string }

/** A row to add. `addition` makes it, and checks its type. */
export interface Addition {
  readonly table: RecordTable
  readonly row: AnyRow
}

/** One row of a database. */
interface RecordPlace {
  readonly table: RecordTable
  readonly id: string
}

/** A time for the `latest` column of a row. */
export interface RecordUse {
  readonly database: string
  readonly id: string
  readonly at: number
}

/** Declares a kind of record. */
export function defineRecord<const Columns extends RecordColumns, const Filter extends keyof Columns & string>(
  table: RecordTable<Columns, Filter> & {
    readonly [Key in 'secret' | 'latest' | 'until']?: NoInfer<keyof Columns & string>
  },
): RecordTable<Columns, Filter> {
  return Object.freeze(table)
}

/** A row to add to this table. */
export function addition<Table extends RecordTable>(table: Table, row: RecordRow<Table>): Addition {
  return { table, row }
}

/** What a store does with records. Other methods take additions too, with new ids, and store them in the transaction of their change. */
export interface Records {
  /** Adds a row, with others `beside` it that have new ids. False if its id is taken, or its secret in any database. */
  addRecord(database: string, addition: Addition, beside?: readonly Addition[]): Promise<boolean>
  /** Rows, the latest first. The cost of a page does not grow with the other rows. */
  listRecords<Table extends RecordTable>(
    database: string,
    table: Table,
    page: RecordPage<Table>,
  ): Promise<readonly RecordRow<Table>[]>
  /** The rows with these secrets, of any database and in any order, each with its database. */
  findRecords<Table extends RecordTable>(
    table: Table,
    secrets: readonly string[],
  ): Promise<readonly (RecordRow<Table> & { readonly database: string })[]>
  /** Sets the `latest` column of rows, never to an earlier time. Rows that are gone are ignored. */
  useRecords(table: RecordTable, uses: readonly RecordUse[]): Promise<void>
  /** Deletes rows of a database whose `until` is before a time: at most 1,000 at once, those first that ended first. */
  forgetRecords(database: string, table: RecordTable, before: number): Promise<void>
  /** Deletes a row, and adds others beside it. False if there was none. */
  deleteRecord(database: string, of: RecordPlace, beside?: readonly Addition[]): Promise<boolean>
}
