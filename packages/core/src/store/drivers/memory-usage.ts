/** Sums of usage of the store in memory. */
import type { Entry } from '@witan/protocol/entries'
import {
  addSums,
  inOrder,
  keysOf,
  newRow,
  sumsIn,
  usageFacts,
  type UsageOwner,
  type UsageRecords,
  type UsageRow,
  type UsageSums,
  type Writable,
} from '../usage-records.ts'
import { type MemoryAccess, type MemoryTables, tablesOf, type UsageDays } from './memory-tables.ts'

/** The methods of a store that read usage. */
export function usageMethods({ memory }: MemoryAccess): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      const keys = tablesOf(memory, database).usage.get(by) ?? new Map<string, UsageDays>()
      const wanted = [...keys.keys()].filter((key) => after === null || key >= after.key).sort()
      const rows: UsageRow[] = []
      for (const key of wanted) {
        const days = [...(keys.get(key)?.values() ?? [])].sort(inOrder)
        rows.push(...days.filter(({ day }) => after === null || key > after.key || day > after.day))
        if (rows.length >= limit) break
      }
      return rows.slice(0, limit).map((row) => ({ ...row }))
    },
  }
}

/** Counts the usage in entries that were appended. */
export function countUsage(tables: MemoryTables, entries: readonly Entry[], owner: UsageOwner): void {
  for (const fact of usageFacts(entries))
    for (const [by, key] of keysOf(fact, owner)) addUsage(tables, { by, key, day: fact.day }, sumsIn(fact, by))
}

/** Adds to the sums of one key and day. */
export function addUsage({ usage }: MemoryTables, of: Pick<UsageRow, 'by' | 'key' | 'day'>, sums: UsageSums): void {
  const { by, key, day } = of
  const keys = usage.get(by) ?? new Map<string, UsageDays>()
  if (keys.size === 0) usage.set(by, keys)
  const days = keys.get(key) ?? new Map<number, Writable<UsageRow>>()
  if (days.size === 0) keys.set(key, days)
  const known = days.get(day)
  if (known === undefined) days.set(day, newRow(of, sums))
  else addSums(known, sums)
}
