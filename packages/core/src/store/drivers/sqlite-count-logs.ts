/** Counts the usage in logs that is not in the sums, when a file is opened. */
import type { DatabaseSync } from 'node:sqlite'
import { entryOf } from '../entry-text.ts'
import { usageSql } from '../sql/usage.ts'
import { LogUsers, UsageCount } from '../usage-count.ts'
import { sumColumns, type UsageSums } from '../usage-records.ts'

interface Uncounted {
  readonly number: number
  readonly database: string
  readonly id: string
  readonly seq: number
}

/** Counts what the marks of a file say: what a process that was killed had not added up, and all logs of an earlier version. */
export function countLogs(db: DatabaseSync): void {
  const [find, read, add] = [
    db.prepare(usageSql.uncounted),
    db.prepare(usageSql.readLog),
    db.prepare(usageSql.addUsage),
  ]
  for (const { number, database, id, seq } of find.all() as unknown as Uncounted[]) {
    const count = new UsageCount()
    const users = new LogUsers()
    for (const { text, own } of read.iterate(number, database, seq)) {
      const entry = entryOf(text as string, 0, id)
      const user = users.of(entry, own === 1)
      if (user !== null) count.add(entry, { conversation: id, user })
    }
    for (const row of count.rows()) add.run(database, row.by, row.key, row.day, ...valuesOf(row))
  }
  for (const sql of usageSql.markAll) db.exec(sql)
}

/** Sums in the order of their columns. */
export function valuesOf(sums: UsageSums) {
  return [...sumColumns.map((name) => sums[name]), sums.priceDate]
}
