/** Rows of usage of the embedded store, inside one transaction. */
import type { Entry } from '@witan/protocol/entries'
import { usageSql } from '../sql/usage.ts'
import {
  addSums,
  rowsOf,
  type UsageFact,
  usageFacts,
  type UsageOwner,
  type UsageRow,
  UsageTotals,
  type Writable,
} from '../usage-records.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { valuesOf } from './sqlite-count-logs.ts'

/** What the appends of one transaction add, by owner, agent, model and day: many of them add to the same rows. */
export type UsageTally = Map<string, Counted>

interface Counted extends UsageOwner {
  readonly database: string
  readonly fact: Writable<UsageFact>
}

/** Counts the usage in entries that were appended. */
export function countUsage(
  tally: UsageTally,
  entries: readonly Entry[],
  { database, conversation, user }: UsageOwner & { readonly database: string },
): void {
  for (const fact of usageFacts(entries)) {
    const { agent, model, day } = fact
    const name = `${database}\n${conversation}\n${user}\n${agent}\n${model}\n${day}`
    const known = tally.get(name)
    if (known === undefined) tally.set(name, { database, conversation, user, fact: { ...fact } })
    else addSums(known.fact, fact)
  }
}

/** Writes what the transaction has added up, each row once. Before conversations are deleted: their own rows go with them. */
export function writeTally(connection: SqliteConnection, tally: UsageTally): void {
  if (tally.size === 0) return
  const totals = new Map<string, UsageTotals>()
  for (const { database, fact, ...owner } of tally.values()) {
    const total = totals.get(database) ?? new UsageTotals()
    totals.set(database, total)
    total.add(rowsOf(fact, owner))
  }
  tally.clear()
  for (const [database, { rows }] of totals) for (const row of rows) addUsage(connection, database, row)
}

/** Adds to the sums of one key and day. */
export function addUsage({ run }: Pick<SqliteConnection, 'run'>, database: string, row: UsageRow): void {
  run(usageSql.addUsage, database, row.by, row.key, row.day, ...valuesOf(row))
}
