/** Usage in the store in memory: facts of each conversation, and of each user of a database. Rows are made when they are read. */
import type { Entry } from '@witan/protocol/entries'
import { addEntry, countsAsUsage, LogUsage, rowsOf, type UsageRecords, UsageTotals } from '../usage-records.ts'
import { type Kept, type MemoryAccess, type MemoryTables, tablesOf, type UsageFacts } from './memory-tables.ts'

/** The methods of a store that read usage. */
export function usageMethods({ memory }: MemoryAccess): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      const totals = new UsageTotals()
      for (const [facts, owner] of factsOf(tablesOf(memory, database), by === 'conversation'))
        for (const fact of facts) totals.add(rowsOf(fact, owner).filter((row) => row.by === by))
      const isBehind = (row: { readonly key: string; readonly day: number }) =>
        after === null || row.key > after.key || (row.key === after.key && row.day > after.day)
      return totals.rows.filter(isBehind).slice(0, limit)
    },
  }
}

function* factsOf({ conversations, usage }: MemoryTables, byConversation: boolean) {
  if (!byConversation) for (const [user, facts] of usage) yield [facts, { user, conversation: '' }] as const
  else for (const [id, kept] of conversations) yield [kept.usage ?? [], { user: '', conversation: id }] as const
}

/** Counts the usage in entries that were appended for this user. */
export function countUsage(tables: MemoryTables, kept: Kept, { entries, user }: Counted): void {
  for (const entry of entries) {
    if (!countsAsUsage(entry)) continue
    kept.usage ??= []
    addEntry(kept.usage, entry)
    addEntry(factsFor(tables, user), entry)
  }
}

interface Counted {
  readonly entries: readonly Entry[]
  readonly user: string
}

function factsFor({ usage }: MemoryTables, user: string): UsageFacts {
  const known = usage.get(user)
  if (known !== undefined) return known
  const fresh: UsageFacts = []
  usage.set(user, fresh)
  return fresh
}

/** Counts the usage of a conversation that comes from another store. */
export function countWhole(tables: MemoryTables, kept: Kept, own: ReadonlySet<string>): void {
  const log = new LogUsage()
  for (const entry of kept.entries) {
    const user = log.userOf(entry, own.has(entry.job))
    if (user !== null) countUsage(tables, kept, { entries: [entry], user })
  }
}
