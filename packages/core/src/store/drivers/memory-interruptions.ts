/** Interruptions of the store in memory: looked up and listed. */
import { startOf } from '../cursor.ts'
import type { InterruptionRow, Store } from '../store.ts'
import { copyOf, type MemoryAccess, tablesOf } from './memory-tables.ts'

type InterruptionMethods = Pick<Store, 'getInterruption' | 'listInterruptions' | 'dueInterruptions'>

/** The methods of a store that are about interruptions. */
export function interruptionMethods({ memory }: MemoryAccess): InterruptionMethods {
  return {
    getInterruption: async (database, id) => copyOf(tablesOf(memory, database).interruptions.get(id)),
    async listInterruptions(database, { limit, after, state, conversation, addressees }) {
      const rows = [...tablesOf(memory, database).interruptions.values()]
      const start = startOf(rows, after, ({ view }) => view.id)
      const isWanted = (row: InterruptionRow) =>
        (state === null || row.view.state === state) &&
        (conversation === null || row.conversation === conversation) &&
        (addressees === null || addressees.some((one) => one === row.view.addressee))
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

function copies(rows: readonly InterruptionRow[], limit: number): InterruptionRow[] {
  return rows.slice(0, limit).map((row) => ({ ...row }))
}
