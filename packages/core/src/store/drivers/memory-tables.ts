/** The tables of the store in memory, one set for each database. */
import type { Entry } from '@witan/protocol/entries'
import type { AgentRow } from '../../agent/records.ts'
import type { ConversationRow, InterruptionRow, JobRow, ReplyRow, StoreListener } from '../store.ts'

/** A row that its table may change. */
export type Writable<Row> = { -readonly [Field in keyof Row]: Row[Field] }

/** A conversation with everything that belongs to it. */
export interface Kept {
  readonly row: Writable<ConversationRow>
  readonly entries: Entry[]
  readonly jobs: Writable<JobRow>[]
  /** Those of the jobs that are live, and the run among them. */
  readonly live: Writable<JobRow>[]
  run: Writable<JobRow> | null
  readonly interruptions: Writable<InterruptionRow>[]
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

/** One of the stores on the same tables. */
export interface Handle {
  readonly listeners: Set<{ readonly listener: StoreListener }>
}

/** All databases, the jobs of all of them that are live, in the order they were made, and the stores that are open on them. */
export interface Memory {
  readonly now: () => number
  readonly databases: Map<string, MemoryTables>
  readonly live: Set<Writable<JobRow>>
  readonly handles: Set<Handle>
}

/** The tables, and through which store they are used. */
export interface MemoryAccess {
  readonly memory: Memory
  readonly handle: Handle
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

/** Makes a conversation with nothing in it. */
export function addConversation(tables: MemoryTables, row: ConversationRow): Kept {
  const kept: Kept = { row: { ...row }, entries: [], jobs: [], live: [], run: null, interruptions: [] }
  tables.conversations.set(row.id, kept)
  return kept
}

/** Adds a job to its conversation. */
export function addJob(memory: Memory, kept: Kept, job: Writable<JobRow>): void {
  tablesOf(memory, job.database).jobs.set(job.id, job)
  kept.jobs.push(job)
  if (job.endedAt !== null) return
  kept.live.push(job)
  memory.live.add(job)
  if (job.kind === 'run') kept.run = job
}

/** Takes a job that has ended out of those that are live. */
export function dropLive(memory: Memory, kept: Kept, job: Writable<JobRow>): void {
  kept.live.splice(kept.live.indexOf(job), 1)
  memory.live.delete(job)
  if (kept.run === job) kept.run = null
}

/** Adds an interruption to its conversation. */
export function addInterruption(tables: MemoryTables, kept: Kept, row: InterruptionRow): void {
  const own = { ...row }
  tables.interruptions.set(row.view.id, own)
  kept.interruptions.push(own)
}

/** Whether the time of a conversation is over and nothing in it is live or can still be answered. */
export function isGone({ now }: Memory, { row, live, interruptions }: Kept): boolean {
  if (row.expiresAt === null || row.expiresAt > now() || live.length > 0) return false
  return !interruptions.some(
    ({ view, expiresAt }) => view.state === 'open' && (expiresAt === null || expiresAt > now()),
  )
}

/** Removes a conversation with everything that belongs to it. */
export function removeConversation(memory: Memory, { row, jobs, interruptions }: Kept): void {
  const tables = tablesOf(memory, row.database)
  tables.conversations.delete(row.id)
  for (const job of jobs) {
    tables.jobs.delete(job.id)
    memory.live.delete(job)
  }
  for (const { view } of interruptions) tables.interruptions.delete(view.id)
}

/** A row that its reader may keep. */
export function copyOf<Row extends object>(row: Row | null | undefined): Row | null {
  return row === undefined || row === null ? null : { ...row }
}
