/** Records on PostgreSQL. */
import { pageStart } from '../../cursor.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable } from '../../record.ts'
import { dialect } from '../../sql/postgres/schema.ts'
import { recordColumns, recordStatements, wantedOf } from '../../sql/records.ts'
import { conclude, type PostgresSession } from './session.ts'
import type { Row, Statement, Value } from './statements.ts'
import { restored, stored } from './text.ts'

const sqlOf = recordStatements(dialect)
const lastNumber = Number.MAX_SAFE_INTEGER
const storedValue = (value: string | number | null): Value => (typeof value === 'string' ? stored(value) : value)

/** The methods of a store that are about records. */
export function recordMethods(session: PostgresSession): Records {
  return {
    addRecord: (database, one) => addRecord(session, stored(database), one),
    async listRecords<Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) {
      const { limit, after, where = {} } = page
      const at = stored(database)
      const { place, list } = sqlOf(table)
      const { filters, values } = wantedOf(table, where)
      const last = after === null ? null : await session.read(at, [place, at, stored(after)])
      const before = last === null ? lastNumber : (pageStart(last[0]?.[0]).number as number)
      const [rows = []] = await session.read(at, [list(filters), at, before, limit, ...values.map(storedValue)])
      return rows.map((row) => rowOf<Table>(row))
    },
  }
}

/** The statements that add rows, in a transaction of that database. */
export function additionsTo(database: string, additions: readonly Addition[]): Statement[] {
  return additions.map(({ table, row }) => [
    sqlOf(table).insert,
    database,
    ...recordColumns(table).map(([name]) => storedValue(row[name] ?? null)),
  ])
}

/** If the reply to the commit was lost, the id shows whether it happened: its writer has made it. */
async function addRecord(session: PostgresSession, database: string, one: Addition): Promise<boolean> {
  let isUntold = false
  return session.transaction(database, async ({ send, commit }) => {
    const [made = []] = await send(additionsTo(database, [one]))
    if (made.length === 0) return isUntold
    isUntold = true
    await conclude(commit([]), () => {
      isUntold = false
    })
    return true
  })
}

function rowOf<Table extends RecordTable>(row: Row): RecordRow<Table> {
  const values = Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? restored(value) : value])
  return Object.fromEntries(values) as RecordRow<Table>
}
