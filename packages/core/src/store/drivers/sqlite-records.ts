/** Records of the embedded store. */
import { pageStart } from '../cursor.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable } from '../record.ts'
import { readRow, type StoredValue, storedRow } from '../record-values.ts'
import { listOf, recordStatements } from '../sql/records.ts'
import { dialect } from '../sql/schema.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSession } from './sqlite-session.ts'

const sqlOf = recordStatements(dialect)

/** The methods of a store that are about records. */
export function recordMethods(session: SqliteSession): Records {
  return {
    addRecord: (database, one, beside = []) =>
      session.write((connection) => {
        if (!addRecord(connection, database, one)) return false
        addRecords(connection, database, beside)
        return true
      }),
    listRecords: <Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) =>
      session.read(({ get, all }) => {
        const { limit, after, where = {} } = page
        const sql = sqlOf(table)
        const { list, values } = listOf(sql, table, where)
        const before = after === null ? Number.MAX_SAFE_INTEGER : pageStart(get(sql.place, database, after)).number
        const rows = all(list, database, before as number, limit, ...(values as StoredValue[]))
        return rows.map((row) => readRow<RecordRow<Table>>(table, row))
      }),
    findRecords: <Table extends RecordTable>(table: Table, secrets: readonly string[]) =>
      session.read(({ get }) =>
        [...new Set(secrets)].flatMap((secret) => {
          const row = get(sqlOf(table).find, secret)
          return row === null ? [] : [readRow<RecordRow<Table> & { database: string }>(table, row)]
        }),
      ),
    useRecords: (table, uses) =>
      session.write(({ run }) => {
        for (const { database, id, at } of uses) run(sqlOf(table).raise, database, id, at)
      }),
    forgetRecords: (database, table, before) =>
      session.write(({ run }) => {
        run(sqlOf(table).forget, database, before)
      }),
    deleteRecord: (database, { table, id }, beside = []) =>
      session.write((connection) => {
        if (connection.get(sqlOf(table).remove, database, id) === null) return false
        addRecords(connection, database, beside)
        return true
      }),
  }
}

/** Adds a row, inside a transaction. False if its id or its secret is taken. */
function addRecord({ get }: SqliteConnection, database: string, { table, row }: Addition): boolean {
  return get(sqlOf(table).insert, database, ...Object.values(storedRow(table, row))) !== null
}

/** Adds rows whose ids are new, inside a transaction. */
export function addRecords(connection: SqliteConnection, database: string, additions: readonly Addition[]): void {
  for (const one of additions) addRecord(connection, database, one)
}
