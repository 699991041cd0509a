/** Interruptions on PostgreSQL: looked up and listed. Appends open and settle them. */
import { pageStart } from '../../cursor.ts'
import { interruptionSql, listInterruptions } from '../../sql/postgres/interruptions.ts'
import type { Store } from '../../store.ts'
import type { Value } from './statements.ts'
import { interruptionRow } from './rows.ts'
import type { PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import { stored } from './text.ts'

type InterruptionMethods = Pick<
  Store,
  'countOpenInterruptions' | 'getInterruption' | 'listInterruptions' | 'dueInterruptions'
>

/** The methods of a store that are about interruptions. */
export function interruptionMethods(session: PostgresSession): InterruptionMethods {
  return {
    async countOpenInterruptions(database, most) {
      const [rows = []] = await session.read(database, [interruptionSql.countOpen, stored(database), most])
      return rows[0]?.count as number
    },
    async getInterruption(database, id) {
      const [rows = []] = await session.read(database, [interruptionSql.getInterruption, stored(database), stored(id)])
      return rows[0] === undefined ? null : interruptionRow(rows[0])
    },
    async listInterruptions(database, page) {
      const { limit, after } = page
      const at = stored(database)
      const { interruptionPlace } = interruptionSql
      const last = after === null ? null : await session.read(database, [interruptionPlace, at, stored(after)])
      const above = last === null ? 0 : pageStart(last[0]?.[0]).number
      const { sql, values } = listInterruptions(page)
      const filter = values.map((value): Value => {
        if (value === null) return null
        return typeof value === 'string' ? stored(value) : value.map(stored)
      })
      const query = [sql, at, above as number, limit, ...filter] as const
      const rows = await someRows(session, { database, query, long: ['view', 'bound', 'terms', 'answer'] }, page.bound)
      return rows.map(interruptionRow)
    },
    async dueInterruptions(limit) {
      const [rows = []] = await session.writeAsWorker([interruptionSql.dueInterruptions, limit])
      return rows.map(interruptionRow)
    },
  }
}
