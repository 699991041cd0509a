/** Usage of the embedded store, inside one transaction: facts that appends keep, and the sums that they are added to. */
import type { Entry } from '@witan/protocol/entries'
import { logSql } from '../sql/log.ts'
import { usageSql } from '../sql/usage.ts'
import { rowsOf, type UsageFact, usageFacts, type UsageOwner, type UsageRow, UsageTotals } from '../usage-records.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { valuesOf } from './sqlite-count-logs.ts'

/** A fact, and for whom it counts. */
interface OwnedFact extends UsageOwner {
  readonly database: string
  readonly fact: UsageFact
}

/** The facts of the present transaction, and how many wait in the table: too many after a transaction that was rolled back. */
export interface TurnFacts {
  list: OwnedFact[]
  waiting: number
}

/** How many facts wait at most. */
const mostWaiting = 256
/** With more facts a transaction adds them up itself: most of them go to the same rows. */
const mostKept = 2

/** Notes the usage in entries that were appended, until `writeFacts`. */
export function noteUsage(
  facts: TurnFacts,
  entries: readonly Entry[],
  owner: UsageOwner & { readonly database: string },
): void {
  for (const fact of usageFacts(entries)) facts.list.push({ ...owner, fact })
}

/**
 * Writes what the transaction has noted: a few facts at the end of a table, which touches one page, and many to their sums. What
 * waits is added up together, at a fraction of what each would cost by itself.
 */
export function writeFacts(connection: SqliteConnection, facts: TurnFacts): void {
  const { list } = facts
  if (list.length === 0) return
  facts.list = []
  if (list.length > mostKept) return addTogether(connection, list)
  for (const { database, conversation, user, fact } of list) {
    const { agent, model, day } = fact
    connection.run(usageSql.insertFact, database, conversation, user, agent, model, day, ...valuesOf(fact))
  }
  facts.waiting += list.length
  if (facts.waiting < mostWaiting) return
  addUp(connection)
  facts.waiting = 0
}

function addTogether(connection: SqliteConnection, list: readonly OwnedFact[]): void {
  const totals = new Map<string, UsageTotals>()
  for (const { database, conversation, user, fact } of list) {
    const total = totals.get(database) ?? new UsageTotals()
    totals.set(database, total)
    total.add(rowsOf(fact, { conversation, user }))
  }
  for (const [database, total] of totals) for (const row of total.rows) addUsage(connection, database, row)
}

/** Adds all facts up. */
export function addUp({ get, run }: Pick<SqliteConnection, 'get' | 'run'>): void {
  if (get(usageSql.anyFact) !== null) for (const sql of usageSql.addUp) run(sql)
}

/** Deletes all rows of a conversation, by its number. What it has used stays in the sums of others. */
export function removeConversation(connection: SqliteConnection, number: number): void {
  addUp(connection)
  for (const sql of logSql.deleteConversation) connection.run(sql, number)
}

/** Adds to the sums of one key and day. */
export function addUsage({ run }: SqliteConnection, database: string, row: UsageRow): void {
  run(usageSql.addUsage, database, row.by, row.key, row.day, ...valuesOf(row))
}
