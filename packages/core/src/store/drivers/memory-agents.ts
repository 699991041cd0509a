/** Agents and remembered replies of the store in memory. */
import type { AgentChange, AgentReading } from '../../agent/records.ts'
import { isLost } from '../reply.ts'
import type { Store } from '../store.ts'
import { addRecords } from './memory-records.ts'
import { copyOf, type MemoryAccess, type MemoryTables, tablesOf } from './memory-tables.ts'

type AgentMethods = AgentReading & Pick<Store, 'changeAgents'>

/** The methods of a store that are about agents. */
export function agentMethods({ memory }: MemoryAccess): AgentMethods {
  return {
    listAgents: async (database) =>
      [...tablesOf(memory, database).agents.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    listAgentIds: async (database) => [...tablesOf(memory, database).revisions.keys()].sort(),
    getAgentRevision: async (database, id, revision) =>
      tablesOf(memory, database).revisions.get(id)?.get(revision) ?? null,
    lastAgentRevision: async (database, id) =>
      Math.max(0, ...(tablesOf(memory, database).revisions.get(id)?.keys() ?? [])),
    async changeAgents(database, changes, beside = []) {
      const tables = tablesOf(memory, database)
      const isCurrent = ({ id, ifRevision }: AgentChange) => (tables.agents.get(id)?.revision ?? 0) === ifRevision
      if (!changes.every(isCurrent)) return false
      for (const change of changes) changeAgent(tables, change)
      addRecords(memory, database, beside)
      return true
    },
  }
}

function changeAgent({ agents, revisions }: MemoryTables, { id, row }: AgentChange): void {
  if (row === null) {
    agents.delete(id)
    return
  }
  const { firstRevision: _, ...kept } = row
  const known = revisions.get(id) ?? new Map()
  revisions.set(id, known.set(row.revision, kept as typeof row))
  agents.set(id, { ...kept, firstRevision: agents.get(id)?.firstRevision ?? row.revision } as typeof row)
}

type ReplyMethods = Pick<Store, 'beginReply' | 'finishReply'>

/** The methods of a store that are about remembered replies. */
export function replyMethods({ memory }: MemoryAccess): ReplyMethods {
  return {
    async beginReply(database, { key, digest, at, expiresBefore, lostBefore }) {
      const { replies } = tablesOf(memory, database)
      const known = replies.get(key)
      if (known !== undefined && known.at >= expiresBefore && !isLost(known, { digest, lostBefore }))
        return copyOf(known)
      replies.delete(key)
      replies.set(key, { key, digest, at, status: null, body: null, note: null })
      sweep(replies, expiresBefore)
      return null
    },
    async finishReply(database, { key, at }, reply) {
      const { replies } = tablesOf(memory, database)
      const row = replies.get(key)
      if (row?.at !== at) return
      if (reply !== null) Object.assign(row, { status: reply.status, body: reply.body })
      else if (row.note === null) replies.delete(key)
    },
  }
}

/** Sorted by age, oldest first. */
function sweep(replies: MemoryTables['replies'], expiresBefore: number): void {
  for (const [key, { at }] of replies) {
    if (at >= expiresBefore) return
    replies.delete(key)
  }
}
