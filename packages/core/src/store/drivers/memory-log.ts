/** Conversations, entries and interruptions of the store in memory. */
import type { Store } from '../store.ts'
import { applyAppend } from './memory-append.ts'
import { copyOf, isGone, type Kept, type Memory, removeConversation, tablesOf } from './memory-tables.ts'

type LogMethods = Pick<
  Store,
  'append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'sweepConversations' | 'readEntries'
>

/** The methods of a store that are about the log. */
export function logMethods(memory: Memory): LogMethods {
  return {
    append: async (append) => applyAppend(memory, append),
    async getConversation(database, id) {
      const kept = tablesOf(memory, database).conversations.get(id)
      return kept === undefined || isGone(memory, kept) ? null : copyOf(kept.row)
    },
    async listConversations(database, page) {
      const { agent, createdBy } = page
      const kept = [...tablesOf(memory, database).conversations.values()].reverse()
      const isWanted = (one: Kept) =>
        (agent === null || one.row.agent === agent) &&
        (createdBy === null || one.row.createdBy === createdBy) &&
        !isGone(memory, one)
      const start = page.after === null ? 0 : kept.findIndex(({ row }) => row.id === page.after) + 1
      const wanted = kept.slice(start).filter(isWanted)
      return wanted.slice(0, page.limit).map(({ row }) => ({ ...row }))
    },
    async deleteConversation(database, id) {
      const kept = tablesOf(memory, database).conversations.get(id)
      if (kept !== undefined) removeConversation(memory, kept)
      return kept !== undefined
    },
    sweepConversations: async (limit) => sweep(memory, limit),
    readEntries: async (database, conversation, { after, limit }) =>
      tablesOf(memory, database)
        .conversations.get(conversation)
        ?.entries.slice(after, after + limit) ?? [],
  }
}

function sweep(memory: Memory, limit: number): { database: string; id: string }[] {
  const all = [...memory.databases.values()].flatMap(({ conversations }) => [...conversations.values()])
  const over = all.filter((kept) => isGone(memory, kept))
  const gone = over.sort((one, other) => (one.row.expiresAt ?? 0) - (other.row.expiresAt ?? 0)).slice(0, limit)
  for (const kept of gone) removeConversation(memory, kept)
  return gone.map(({ row: { database, id } }) => ({ database, id }))
}

type InterruptionMethods = Pick<Store, 'getInterruption' | 'listInterruptions'>

/** The methods of a store that are about interruptions. */
export function interruptionMethods(memory: Memory): InterruptionMethods {
  return {
    getInterruption: async (database, id) => copyOf(tablesOf(memory, database).interruptions.get(id)),
    async listInterruptions(database, page) {
      const { state, conversation } = page
      const rows = [...tablesOf(memory, database).interruptions.values()]
      const start = page.after === null ? 0 : rows.findIndex(({ view }) => view.id === page.after) + 1
      const wanted = rows
        .slice(start)
        .filter(
          (row) =>
            (state === null || row.view.state === state) &&
            (conversation === null || row.conversation === conversation),
        )
      return wanted.slice(0, page.limit).map((row) => ({ ...row }))
    },
  }
}
