/** The tables of the store in memory, one set for each database. */
import type { Entry } from '@witan/protocol/entries'
import type { AgentRow } from '../../agent/records.ts'
import type { ConversationRow, InterruptionRow, JobRow, ReplyRow } from '../store.ts'

/** A row that its table may change. */
export type Writable<Row> = { -readonly [Field in keyof Row]: Row[Field] }

/** A conversation with everything that belongs to it. */
export interface Kept {
  readonly row: Writable<ConversationRow>
  readonly entries: Entry[]
  readonly jobs: Writable<JobRow>[]
  live: Writable<JobRow> | null
}

/** What one database holds. */
export interface MemoryTables {
  readonly conversations: Map<string, Kept>
  readonly jobs: Map<string, Writable<JobRow>>
  readonly interruptions: Map<string, Writable<InterruptionRow>>
  readonly replies: Map<string, Writable<ReplyRow>>
  readonly agents: Map<string, AgentRow>
  /** All revisions of an agent by its id, also once it is deleted. */
  readonly revisions: Map<string, Map<number, AgentRow>>
}

/** All databases, and the jobs of all of them that are live, in the order they were made. */
export interface Memory {
  readonly now: () => number
  readonly databases: Map<string, MemoryTables>
  readonly live: Set<Writable<JobRow>>
}

/** The tables of a database; made when it is first named. */
export function tablesOf(memory: Memory, database: string): MemoryTables {
  const known = memory.databases.get(database)
  if (known !== undefined) return known
  const fresh: MemoryTables = {
    conversations: new Map(),
    jobs: new Map(),
    interruptions: new Map(),
    replies: new Map(),
    agents: new Map(),
    revisions: new Map(),
  }
  memory.databases.set(database, fresh)
  return fresh
}

/** Whether the time of a conversation is over and nothing in it is live or open. */
export function isGone(memory: Memory, { row, live }: Kept): boolean {
  if (row.expiresAt === null || row.expiresAt > memory.now() || live !== null) return false
  for (const { conversation, view } of tablesOf(memory, row.database).interruptions.values()) {
    if (conversation === row.id && view.state === 'open') return false
  }
  return true
}

/** Removes a conversation with everything that belongs to it. */
export function removeConversation(memory: Memory, { row, jobs }: Kept): void {
  const tables = tablesOf(memory, row.database)
  tables.conversations.delete(row.id)
  for (const job of jobs) {
    tables.jobs.delete(job.id)
    memory.live.delete(job)
  }
  for (const [name, { conversation }] of tables.interruptions) {
    if (conversation === row.id) tables.interruptions.delete(name)
  }
}

/** A row that its reader may keep. */
export function copyOf<Row extends object>(row: Row | null | undefined): Row | null {
  return row === undefined || row === null ? null : { ...row }
}
