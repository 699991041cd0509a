/** Interruptions of the store in memory: looked up and listed. */
import { startOf } from '../cursor.ts'
import type { InterruptionRow, Store } from '../store.ts'
import type { InterruptionReader } from '../list-filters.ts'
import { copyOf, isReadBy, type Kept, type MemoryAccess, tablesOf } from './memory-tables.ts'

type InterruptionMethods = Pick<
  Store,
  'countOpenInterruptions' | 'getInterruption' | 'listInterruptions' | 'dueInterruptions'
>

/** The methods of a store that are about interruptions. */
export function interruptionMethods({ memory }: MemoryAccess): InterruptionMethods {
  return {
    async countOpenInterruptions(database, most) {
      let count = 0
      for (const { open } of tablesOf(memory, database).conversations.values()) count += open?.size ?? 0
      return Math.min(count, most)
    },
    getInterruption: async (database, id) => copyOf(tablesOf(memory, database).interruptions.get(id)),
    async listInterruptions(database, { limit, after, state, conversation, addressees, reader = null }) {
      const tables = tablesOf(memory, database)
      const rows = [...tables.interruptions.values()]
      const start = startOf(rows, after, ({ view }) => view.id)
      const isWanted = (row: InterruptionRow) =>
        (state === null || row.view.state === state) &&
        (conversation === null || row.conversation === conversation) &&
        (addressees === null || addressees.some((one) => one === row.view.addressee)) &&
        (reader === null || isSeen(row, reader, tables.conversations.get(row.conversation)))
      return copies(rows.slice(start).filter(isWanted), limit)
    },
    async dueInterruptions(limit) {
      const now = memory.now()
      const all = [...memory.databases.values()].flatMap(({ interruptions }) => [...interruptions.values()])
      const due = all.filter(({ view, expiresAt }) => view.state === 'open' && expiresAt !== null && expiresAt <= now)
      return copies(
        due.sort((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0)),
        limit,
      )
    },
  }
}

function isSeen({ view }: InterruptionRow, reader: InterruptionReader, kept: Kept | undefined): boolean {
  return reader.addressees.includes(view.addressee) || (kept !== undefined && isReadBy(kept, reader))
}

function copies(rows: readonly InterruptionRow[], limit: number): InterruptionRow[] {
  return rows.slice(0, limit).map((row) => ({ ...row }))
}
