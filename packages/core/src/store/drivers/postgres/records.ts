/** Records on PostgreSQL. */
import { isDeepStrictEqual } from 'node:util'
import { pageStart } from '../../cursor.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable, RecordUse } from '../../record.ts'
import { readRow, storedRow } from '../../record-values.ts'
import { nameSecrets } from '../../sql/postgres/roles.ts'
import { dialect } from '../../sql/postgres/schema.ts'
import { listOf, type RecordSql, recordStatements } from '../../sql/records.ts'
import { conclude, type PostgresSession } from './session.ts'
import type { Transaction } from './connection.ts'
import type { Statement, Value } from './statements.ts'
import { restored, stored } from './text.ts'

/** The statements on each table. */
export const sqlOf: (table: RecordTable) => RecordSql = recordStatements(dialect)
const code = { stored, restored }
const lastNumber = Number.MAX_SAFE_INTEGER

/** The methods of a store that are about records. */
export function recordMethods(session: PostgresSession): Records {
  return {
    addRecord: (database, one, beside = []) => {
      const first = additionTo(stored(database), one)
      const isDone = async (send: Transaction['send']) => {
        const [[row] = []] = await send([[sqlOf(one.table).get, ...first.slice(1, 3)]])
        return row !== undefined && isDeepStrictEqual(Object.values(row), first.slice(2))
      }
      return change(session, stored(database), { first, beside, isDone })
    },
    async listRecords<Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) {
      const { limit, after, where = {} } = page
      const at = stored(database)
      const sql = sqlOf(table)
      const { list, values } = listOf(sql, table, where)
      const wanted = values.map((value) => (typeof value === 'string' ? stored(value) : (value as Value)))
      const last = after === null ? null : await session.read(at, [sql.place, at, stored(after)])
      const before = last === null ? lastNumber : (pageStart(last[0]?.[0]).number as number)
      const [rows = []] = await session.read(at, [list, at, before, limit, ...wanted])
      return rows.map((row) => readRow<RecordRow<Table>>(table, row, code))
    },
    async findRecords<Table extends RecordTable>(table: Table, secrets: readonly string[]) {
      const known = secrets.filter((secret) => /^[\w:-]+$/.test(secret)) // a comma would name two
      const [, rows = []] = await session.read('', [nameSecrets, known.join()], [sqlOf(table).find, known])
      return rows.map((row) => readRow<RecordRow<Table> & { database: string }>(table, row, code))
    },
    async useRecords(table, uses) {
      for (const [database, own] of Map.groupBy(uses, (use) => use.database))
        await useRecords(session, stored(database), { table, uses: own })
    },
    async forgetRecords(database, table, before) {
      const at = stored(database)
      await session.transaction(at, ({ commit }) => commit([[sqlOf(table).forget, at, Math.trunc(before)]]))
    },
    deleteRecord: (database, { table, id }, beside = []) => {
      const first: Statement = [sqlOf(table).remove, stored(database), stored(id)]
      return change(session, stored(database), { first, beside, isDone: async () => true })
    },
  }
}

/** The statements that add rows, in a transaction of that database. */
export function additionsTo(database: string, additions: readonly Addition[]): Statement[] {
  return additions.map((one) => additionTo(database, one))
}

function additionTo(database: string, { table, row }: Addition): Statement {
  const values = Object.values(storedRow(table, row, code))
  return [sqlOf(table).insert, database, ...values.map((one) => (typeof one === 'number' ? Math.trunc(one) : one))]
}

interface Change {
  /** Returns a row if there is something to change. */
  readonly first: Statement
  readonly beside: readonly Addition[]
  /** Whether the rows are as this change leaves them; asked if an earlier commit of it got no reply. */
  isDone(send: Transaction['send']): Promise<boolean>
}

function change(session: PostgresSession, database: string, { first, beside, isDone }: Change): Promise<boolean> {
  let isUntold = false
  return session.transaction(database, async ({ send, commit }) => {
    const [found = []] = await send([first])
    if (found.length === 0) return isUntold && isDone(send)
    isUntold = true
    await conclude(commit(additionsTo(database, beside)), () => {
      isUntold = false
    })
    return true
  })
}

/** Rows go in the order of ids, so that two processes cannot deadlock. */
async function useRecords(
  session: PostgresSession,
  database: string,
  { table, uses }: { readonly table: RecordTable; readonly uses: readonly RecordUse[] },
): Promise<void> {
  const rows = uses.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const values = [rows.map(({ id }) => stored(id)), rows.map((use) => Math.trunc(use.at))] as const
  await session.transaction(database, ({ commit }) => commit([[sqlOf(table).raise, database, ...values]]))
}
