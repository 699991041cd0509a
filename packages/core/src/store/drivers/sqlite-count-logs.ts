/** Counts the usage in the logs of earlier versions, as a part of their migration. */
import type { DatabaseSync } from 'node:sqlite'
import { entryOf } from '../entry-text.ts'
import { usageSql } from '../sql/usage.ts'
import { LogUsage, type UsageSums } from '../usage-records.ts'

/** Counts all logs of a file that an earlier version has written. */
export function countLogs(db: DatabaseSync): void {
  const [read, add] = [db.prepare(usageSql.readLogs), db.prepare(usageSql.addUsage)]
  let [last, log] = ['', new LogUsage()]
  for (const { database, id, text, own } of read.iterate()) {
    const conversation = id as string
    const name = `${database} ${conversation}`
    if (name !== last) [last, log] = [name, new LogUsage()]
    const rows = log.rowsOf(entryOf(text as string, 0), { conversation, isOwn: own === 1 })
    for (const row of rows) add.run(database as string, row.by, row.key, row.day, ...valuesOf(row))
  }
}

/** Sums in the order of their columns. */
export function valuesOf(sums: UsageSums) {
  return [
    ...[sums.modelCalls, sums.toolCalls, sums.inputTokens, sums.outputTokens, sums.cachedInputTokens],
    ...[sums.reasoningTokens, sums.cacheWriteTokens, sums.costUsd, sums.unpriced, sums.incomplete],
    sums.priceDate,
  ]
}
