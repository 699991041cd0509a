/** Records of the embedded store. */
import { pageStart } from '../cursor.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable } from '../record.ts'
import { recordColumns, recordStatements, wantedOf } from '../sql/records.ts'
import { dialect } from '../sql/schema.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSession } from './sqlite-session.ts'

const sqlOf = recordStatements(dialect)

/** The methods of a store that are about records. */
export function recordMethods(session: SqliteSession): Records {
  return {
    addRecord: (database, one) => session.write((connection) => addRecord(connection, database, one)),
    listRecords: <Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) =>
      session.read(({ get, all }) => {
        const { limit, after, where = {} } = page
        const { place, list } = sqlOf(table)
        const { filters, values } = wantedOf(table, where)
        const before = after === null ? Number.MAX_SAFE_INTEGER : pageStart(get(place, database, after)).number
        const rows = all(list(filters), database, before as number, limit, ...values)
        return rows.map((row) => ({ ...row }) as object as RecordRow<Table>)
      }),
  }
}

/** Adds a row, inside a transaction. False if its id is taken. */
export function addRecord({ get }: SqliteConnection, database: string, { table, row }: Addition): boolean {
  const values = recordColumns(table).map(([name]) => row[name] ?? null)
  return get(sqlOf(table).insert, database, ...values) !== null
}
