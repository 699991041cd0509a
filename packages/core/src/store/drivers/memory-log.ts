/** Conversations, entries and interruptions of the store in memory. */
import type { Store } from '../store.ts'
import { applyAppend } from './memory-append.ts'
import { copyOf, type Memory, tablesOf } from './memory-tables.ts'

type LogMethods = Pick<Store, 'append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'readEntries'>

/** The methods of a store that are about the log. */
export function logMethods(memory: Memory): LogMethods {
  return {
    append: async (append) => applyAppend(memory, append),
    getConversation: async (database, id) => copyOf(tablesOf(memory, database).conversations.get(id)?.row),
    async listConversations(database, page) {
      const { agent, createdBy } = page
      const rows = [...tablesOf(memory, database).conversations.values()].map(({ row }) => row).reverse()
      const isWanted = (row: (typeof rows)[number]) =>
        (agent === null || row.agent === agent) && (createdBy === null || row.createdBy === createdBy)
      const start = page.after === null ? 0 : rows.findIndex(({ id }) => id === page.after) + 1
      const wanted = rows.slice(start).filter(isWanted)
      return wanted.slice(0, page.limit).map((row) => ({ ...row }))
    },
    deleteConversation: async (database, id) => deleteConversation(memory, database, id),
    readEntries: async (database, conversation, { after, limit }) =>
      tablesOf(memory, database)
        .conversations.get(conversation)
        ?.entries.slice(after, after + limit) ?? [],
  }
}

function deleteConversation(memory: Memory, database: string, id: string): boolean {
  const tables = tablesOf(memory, database)
  const kept = tables.conversations.get(id)
  if (kept === undefined) return false
  tables.conversations.delete(id)
  for (const job of kept.jobs) {
    tables.jobs.delete(job.id)
    memory.live.delete(job)
  }
  for (const [name, row] of tables.interruptions) if (row.conversation === id) tables.interruptions.delete(name)
  return true
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
