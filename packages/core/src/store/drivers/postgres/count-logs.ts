/** Counts the usage in the logs of earlier versions, as a part of their migration. */
import type { Client } from 'pg'
import { entryOf } from '../../entry-text.ts'
import { usageSql } from '../../sql/postgres/usage.ts'
import { LogUsers, UsageCount } from '../../usage-count.ts'
import { inSchema } from './statements.ts'
import { restored, stored } from './text.ts'
import { addUsage } from './usage.ts'

interface Line {
  readonly database: string
  readonly conversation: string
  readonly text: string
}

/** Counts all logs. Reads them in pieces; the sums of a piece are written before the next is read. */
export async function countLogs(client: Client, schema: string): Promise<void> {
  const query = (sql: string, values: readonly unknown[] = []) => client.query(inSchema(sql, schema), [...values])
  await client.query(inSchema(usageSql.openLogs, schema))
  let [last, users] = ['', new LogUsers()]
  for (;;) {
    const lines = (await query(usageSql.nextLogs)).rows as Line[]
    if (lines.length === 0) break
    const entries = lines.map((line) => ({ ...line, entry: entryOf(line.text, 0, restored(line.conversation)) }))
    const jobs = [entries.map(({ database }) => database), entries.map(({ entry }) => stored(entry.job))]
    const own = new Set(
      (await query(usageSql.jobsOfLogs, jobs)).rows.map((job) =>
        JSON.stringify([job.database, job.conversation, job.id]),
      ),
    )
    const counts = new Map<string, UsageCount>()
    for (const { database, conversation, entry } of entries) {
      const name = JSON.stringify([database, conversation])
      if (name !== last) [last, users] = [name, new LogUsers()]
      const isOwn = own.has(JSON.stringify([database, conversation, stored(entry.job)]))
      const user = users.of(entry, isOwn)
      if (user === null) continue
      const count = counts.get(database) ?? new UsageCount()
      counts.set(database, count)
      count.add(entry, { conversation: restored(conversation), user })
    }
    for (const [database, count] of counts)
      for (const [sql, ...values] of addUsage(database, count.rows())) await query(sql, values)
  }
  await query(usageSql.closeLogs)
}
