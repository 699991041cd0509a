/** Sums of usage on PostgreSQL. */
import { usageSql } from '../../sql/postgres/usage.ts'
import { sumColumns, type UsageRecords, type UsageRow } from '../../usage-records.ts'
import { usageRow } from './rows.ts'
import type { PostgresSession } from './session.ts'
import type { Statement } from './statements.ts'
import { stored } from './text.ts'

/** In how many rows the sums of one key and day are kept, so that groups of several processes seldom write the same. */
const parts = 16
let group = 0

/** The methods of a store about usage. */
export function usageMethods(session: PostgresSession): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      const from = [stored(after?.key ?? ''), after?.day ?? -2_147_483_648]
      const [rows = []] = await session.read(database, [usageSql.listUsage, stored(database), by, ...from, limit])
      return rows.map(usageRow)
    },
    async addUsage(database, rows) {
      const at = stored(database)
      // What may have been added is not added again.
      await session.transaction(at, ({ commit }, mayBeDone) => commit(mayBeDone ? [] : addUsage(at, rows)))
    },
  }
}

/**
 * Writes what a group used. Sums of conversations are added to at once: each has one writer at a time, and goes with its conversation.
 * All others are kept in one row that waits to be added, since every group of a database adds to the same.
 */
export function keepUsage(database: string, rows: readonly UsageRow[]): Statement[] {
  const own = rows.filter(({ by }) => by === 'conversation')
  const others = rows.filter(({ by }) => by !== 'conversation')
  if (others.length > mostWaiting) return addUsage(database, rows)
  const statements = addUsage(database, own)
  return others.length === 0 ? statements : [...statements, [usageSql.keepWaiting, database, waitingText(others)]]
}

/** More rows in one text would take long to read again and again. */
const mostWaiting = 500

function waitingText(rows: readonly UsageRow[]): string {
  return JSON.stringify(
    rows.map(({ by, key, day, priceDate, ...sums }) => {
      const row = [by, stored(key), day, withoutZeros(sumColumns.map((name) => sums[name]))]
      return priceDate === null ? row : [...row, priceDate]
    }),
  )
}

/** Most sums are zero, and the last ones nearly always. */
function withoutZeros(sums: readonly number[]): readonly number[] {
  return sums.slice(0, sums.findLastIndex((sum) => sum !== 0) + 1)
}

/** Adds to the sums. Rows come sorted; those of one conversation have one writer at a time. */
export function addUsage(database: string, rows: readonly UsageRow[]): Statement[] {
  const statements: Statement[] = []
  for (let from = 0; from < rows.length; from += rowsAtOnce)
    statements.push(addition(database, rows.slice(from, from + rowsAtOnce)))
  return statements
}

/** To write the values of so many rows takes a few milliseconds. */
const rowsAtOnce = 4_000

function addition(database: string, rows: readonly UsageRow[]): Statement {
  group = (group + 1) % parts
  const part = (process.pid + group) % parts
  const values = [
    rows.map(({ by }) => by),
    rows.map(({ key }) => stored(key)),
    rows.map(({ day }) => day),
    rows.map(({ by }) => (by === 'conversation' ? 0 : part)),
    ...sumColumns.map((name) => rows.map((row) => row[name])),
    rows.map((row) => row.priceDate),
  ]
  return [usageSql.addUsage, database, ...values]
}
