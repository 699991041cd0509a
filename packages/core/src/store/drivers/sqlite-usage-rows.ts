/** Rows of usage of the embedded store, inside one transaction. */
import type { Entry } from '@witan/protocol/entries'
import { usageSql } from '../sql/usage.ts'
import { addSums, type UsageFact, usageFacts, type UsageOwner, type UsageRow, type Writable } from '../usage-records.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { valuesOf } from './sqlite-count-logs.ts'

/** What the appends of one transaction add, by database, user, agent, model and day: many of them add to the same rows. */
export type UsageTally = Map<
  string,
  { readonly database: string; readonly user: string; readonly fact: Writable<UsageFact> }
>

/** Counts the usage in entries that were appended: for their conversation at once, for all else in the tally. */
export function countUsage(
  { connection, tally }: { readonly connection: SqliteConnection; readonly tally: UsageTally },
  entries: readonly Entry[],
  { database, conversation, user }: UsageOwner & { readonly database: string },
): void {
  for (const fact of usageFacts(entries)) {
    const { agent, model, day } = fact
    connection.run(usageSql.addUsage, database, 'conversation', conversation, day, ...valuesOf(fact))
    const name = `${database}\n${user}\n${agent}\n${model}\n${day}`
    const known = tally.get(name)
    if (known === undefined) tally.set(name, { database, user, fact: { ...fact } })
    else addSums(known.fact, fact)
  }
}

/** Writes what the transaction has added up. */
export function writeTally({ run }: SqliteConnection, tally: UsageTally): void {
  for (const { database, user, fact } of tally.values())
    run(usageSql.addFact, database, fact.day, fact.agent, user, fact.model, ...valuesOf(fact))
  tally.clear()
}

/** Adds to the sums of one key and day. */
export function addUsage({ run }: Pick<SqliteConnection, 'run'>, database: string, row: UsageRow): void {
  run(usageSql.addUsage, database, row.by, row.key, row.day, ...valuesOf(row))
}
