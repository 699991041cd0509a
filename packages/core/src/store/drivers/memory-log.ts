/** Conversations, entries and interruptions of the store in memory. */
import { startOf } from '../cursor.ts'
import { firstWords } from '../entry-text.ts'
import { isStill } from '../still.ts'
import { jsonLength } from '../../identity/json-length.ts'
import { boundedRows } from '../../identity/row-page.ts'
import type { LastRun, ListedConversation, Store } from '../store.ts'
import type { ConversationFilter } from '../list-filters.ts'
import { applyAppend } from './memory-append.ts'
import { notifyOthers } from './memory-listen.ts'
import { restedTooLong } from './memory-rest.ts'
import {
  copyOf,
  isGone,
  isReadBy,
  type Kept,
  type Memory,
  type MemoryAccess,
  removeConversation,
  tablesOf,
} from './memory-tables.ts'

type LogMethods = Pick<
  Store,
  | ('append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'sweepConversations' | 'readEntries')
  | ('listParticipants' | 'getParticipant' | 'readOwners')
>

/** The methods of a store that are about the log. */
export function logMethods(access: MemoryAccess): LogMethods {
  const { memory } = access
  return {
    append: async (append) => applyAppend(access, append),
    async getConversation(database, id) {
      const kept = tablesOf(memory, database).conversations.get(id)
      return kept === undefined || isGone(memory, kept) ? null : copyOf(kept.row)
    },
    async listConversations(database, page) {
      const { agent } = page
      const kept = [...tablesOf(memory, database).conversations.values()].reverse()
      const isWanted = (one: Kept) =>
        (agent === null || one.row.agent === agent) && isOf(one, page) && !isGone(memory, one)
      const start = startOf(kept, page.after, ({ row }) => row.id)
      const wanted = kept.slice(start).filter(isWanted)
      return wanted.slice(0, page.limit).map(listed)
    },
    async listParticipants(database, conversation, { after, limit }) {
      const people = [...(peopleOf(memory, database, conversation)?.values() ?? [])]
      const start = startOf(people, after, ({ user }) => user)
      return people.slice(start, start + limit).map((one) => ({ ...one, roles: [...one.roles] }))
    },
    getParticipant: async (database, conversation, user) => copyOf(peopleOf(memory, database, conversation)?.get(user)),
    async readOwners(database, conversations, person) {
      const { conversations: all } = tablesOf(memory, database)
      return conversations.flatMap((id) => {
        const kept = all.get(id)
        if (kept === undefined || isGone(memory, kept)) return []
        const { agent, createdBy } = kept.row
        const joined = person === null ? undefined : kept.people?.get(person)
        return [{ id, agent, createdBy, takesPart: joined !== undefined && joined.leftAt === null }]
      })
    },
    async deleteConversation(database, id, as) {
      const kept = tablesOf(memory, database).conversations.get(id)
      if (kept === undefined || !isStill(kept.row, as)) return false
      remove(access, kept)
      return true
    },
    sweepConversations: async (limit) => sweep(access, limit),
    async readEntries(database, conversation, { after, limit, bound }) {
      const entries = tablesOf(memory, database).conversations.get(conversation)?.entries ?? []
      return boundedRows(entries.slice(after, after + limit), bound, ({ body }) => jsonLength(body))
    },
  }
}

function peopleOf(memory: Memory, database: string, conversation: string): Kept['people'] {
  const kept = tablesOf(memory, database).conversations.get(conversation)
  return kept === undefined || isGone(memory, kept) ? null : kept.people
}

/** Whether somebody created it or takes part in it; without a wish, any. */
function isOf(kept: Kept, { createdBy, participant = null }: ConversationFilter): boolean {
  return (createdBy === null && participant === null) || isReadBy(kept, { createdBy, participant })
}

function listed({ row, entries: [first], jobs }: Kept): ListedConversation {
  const run = jobs.findLast(({ kind }) => kind === 'run')
  return {
    ...row,
    firstMessage: first?.type === 'message' ? firstWords(first.body.text) : null,
    lastRun: run === undefined ? null : lastRunOf(run),
  }
}

function lastRunOf({ id, status, createdAt, endedAt, about }: LastRun): LastRun {
  return { id, status, createdAt, endedAt, about }
}

function remove(access: MemoryAccess, kept: Kept): void {
  const { database, id: conversation } = kept.row
  removeConversation(access.memory, kept)
  notifyOthers(access, (listener) => listener.gone({ database, conversation }))
}

function sweep(access: MemoryAccess, limit: number): { database: string; id: string }[] {
  const { memory } = access
  const all = [...memory.databases.values()].flatMap(({ conversations }) => [...conversations.values()])
  const over = all.filter((kept) => isGone(memory, kept))
  const gone = over.sort((one, other) => (one.row.expiresAt ?? 0) - (other.row.expiresAt ?? 0)).slice(0, limit)
  for (const kept of gone) remove(access, kept)
  for (const kept of restedTooLong(memory, limit - gone.length)) {
    remove(access, kept)
    gone.push(kept)
  }
  return gone.map(({ row: { database, id } }) => ({ database, id }))
}
