/** The tables of the store in memory, one set for each database. */
import type { Entry, Writable } from '@witan/protocol/entries'
import type { ReadLimit } from '../../identity/rights.ts'
import type { AnyDefinition } from '../../agent/records.ts'
import type { ArtifactEntry } from '../artifact-records.ts'
import type { StoreListener } from '../listener.ts'
import type { RecordTable } from '../record.ts'
import { UsageCount } from '../usage-count.ts'
import type { UsageRow } from '../usage-records.ts'
import type { ReplyRow } from '../reply-records.ts'
import type { RunLimit } from '../append-terms.ts'
import type { ConversationRow, InterruptionRow, JobRow, ParticipantRow } from '../store.ts'
import type { ContentUse } from '../stored-content.ts'
import { type KeptBlocks, noBlocks, removeBlocks } from './memory-block-rows.ts'
import type { EmbeddedKnowledge } from './sqlite-knowledge.ts'

/** A conversation with everything that belongs to it. */
export interface Kept {
  readonly row: Writable<ConversationRow>
  readonly entries: Entry[]
  jobs: Writable<JobRow>[]
  /** The jobs that are runs. */
  runs: Writable<JobRow>[]
  /** The live jobs, and the live run. */
  readonly live: Writable<JobRow>[]
  run: Writable<JobRow> | null
  readonly interruptions: Writable<InterruptionRow>[]
  /** The open interruptions; null before the first. */
  open: Set<Writable<InterruptionRow>> | null
  /** Its position among inactive conversations; null while it has a live job or an open interruption. */
  rest: Resting | null
  /** The content that it refers to, by digest; null before the first. */
  contents: Map<string, ContentUse> | null
  /** Its people by id, in the order of their first joining; null before the first. */
  people: Map<string, ParticipantRow> | null
  /** Its artifacts by id, in the order of the log; null before the first. */
  artifacts: Map<string, ArtifactEntry> | null
}

/** A position in the queue of inactive conversations, in the order of their last writes. */
interface Resting {
  readonly kept: Kept
  readonly since: number
  older: Resting | null
  newer: Resting | null
}

/** The ends of that queue, and its length. */
interface RestingLine {
  count: number
  oldest: Resting | null
  newest: Resting | null
}

/** An empty queue. */
export function emptyLine(): RestingLine {
  return { count: 0, oldest: null, newest: null }
}

/** A record. Numbers grow in the order in which rows came. */
export interface MemoryRecord {
  readonly number: number
  readonly database: string
  readonly row: Record<string, unknown>
}

/** The records of one kind in their order, and by id. */
export interface MemoryRecords {
  readonly rows: MemoryRecord[]
  readonly ids: Map<string, MemoryRecord>
}

/** What one database holds. */
export interface MemoryTables {
  readonly conversations: Map<string, Kept>
  readonly jobs: Map<string, Writable<JobRow>>
  readonly interruptions: Map<string, Writable<InterruptionRow>>
  readonly replies: Map<string, Writable<ReplyRow>>
  readonly agents: Map<string, AnyDefinition>
  /** All revisions of an agent by its id, even if it is deleted. */
  readonly revisions: Map<string, Map<number, AnyDefinition>>
  /** By digest: how many conversations refer to it, and when it was stored last. */
  readonly contents: Map<string, { readonly bytes: Uint8Array; uses: number; at: number }>
  readonly usage: UsageCount
  /** What was used outside of conversations. */
  added: readonly UsageRow[]
  readonly records: Map<RecordTable, MemoryRecords>
  readonly blocks: KeptBlocks
}

/** One of the stores on the same tables. */
export interface OpenStore {
  readonly listeners: Set<{ readonly listener: StoreListener }>
}

/** All databases, their live jobs in creation order, and the stores that are open on them. */
export interface Memory {
  readonly now: () => number
  readonly databases: Map<string, MemoryTables>
  /** Records of all databases, by secret. */
  readonly secrets: Map<RecordTable, Map<unknown, MemoryRecord>>
  readonly live: Set<Writable<JobRow>>
  readonly handles: Set<OpenStore>
  readonly limits: RestLimits
  readonly resting: RestingLine
  /** Kept by a thread, as that of SQLite. */
  readonly knowledge: EmbeddedKnowledge
}

/** Whether it is the conversation of this creator, or of a person who takes part now. */
export function isReadBy({ row, people }: Kept, { createdBy, participant }: ReadLimit): boolean {
  if (createdBy !== null && row.createdBy === createdBy) return true
  return participant !== null && people?.get(participant)?.leftAt === null
}

/** How many inactive conversations are kept, and for how long. */
export interface RestLimits {
  readonly maxResting: number
  readonly maxRestingMs: number
}

/** The tables, and the store that uses them. */
export interface MemoryAccess {
  readonly memory: Memory
  readonly handle: OpenStore
}

/** The tables of a database, created on first use. */
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
    contents: new Map(),
    usage: new UsageCount(),
    added: [],
    records: new Map(),
    blocks: noBlocks(),
  }
  memory.databases.set(database, fresh)
  return fresh
}

/** Creates an empty conversation. */
export function addConversation(tables: MemoryTables, row: ConversationRow): Kept {
  const kept: Kept = {
    row: { ...row },
    entries: [],
    jobs: [],
    runs: [],
    live: [],
    run: null,
    interruptions: [],
    open: null,
    rest: null,
    contents: null,
    people: null,
    artifacts: null,
  }
  tables.conversations.set(row.id, kept)
  return kept
}

/** Adds a job to its conversation. */
export function addJob(memory: Memory, kept: Kept, job: Writable<JobRow>): void {
  tablesOf(memory, job.database).jobs.set(job.id, job)
  kept.jobs = withOne(kept.jobs, job)
  if (job.kind === 'run') kept.runs = withOne(kept.runs, job)
  if (job.endedAt !== null) return
  kept.live.push(job)
  memory.live.add(job)
  if (job.kind === 'run') kept.run = job
}

/** A list with one more. Most have a single member, for which a list that was grown keeps room for seventeen. */
function withOne<Member>(list: Member[], one: Member): Member[] {
  if (list.length === 0) return [one]
  list.push(one)
  return list
}

/** Removes an ended job from the live jobs. */
export function dropLive(memory: Memory, kept: Kept, job: Writable<JobRow>): void {
  kept.live.splice(kept.live.indexOf(job), 1)
  memory.live.delete(job)
  if (kept.run === job) kept.run = null
}

/** How many runs of conversations that this principal created are live, counted up to `most`. */
export function countLive({ live }: Memory, tables: MemoryTables, { createdBy, most }: RunLimit): number {
  let count = 0
  for (const job of live) {
    if (count === most) break
    if (job.kind !== 'run' || tables.jobs.get(job.id) !== job) continue
    if (tables.conversations.get(job.conversation)?.row.createdBy === createdBy) count += 1
  }
  return count
}

/** Adds an interruption to its conversation. */
export function addInterruption(tables: MemoryTables, kept: Kept, row: InterruptionRow): void {
  const own = { ...row }
  tables.interruptions.set(row.view.id, own)
  kept.interruptions.push(own)
  if (row.view.state !== 'open') return
  kept.open ??= new Set()
  kept.open.add(own)
}

/** Whether a conversation has expired, and has no live job and no interruption that can still be answered. */
export function isGone({ now }: Memory, { row, live, open }: Kept): boolean {
  if (row.expiresAt === null || row.expiresAt > now() || live.length > 0) return false
  for (const { expiresAt } of open ?? []) if (expiresAt === null || expiresAt > now()) return false
  return true
}

/** Removes a conversation with everything that belongs to it, except content that is about to be used `again`. */
export function removeConversation(memory: Memory, kept: Kept, again?: readonly ContentUse[]): void {
  const { row, jobs, live, interruptions } = kept
  const tables = tablesOf(memory, row.database)
  if (kept.contents !== null) releaseContents(tables, kept.contents, again)
  leaveLine(memory, kept)
  tables.conversations.delete(row.id)
  tables.usage.forget(row.id)
  removeBlocks(tables.blocks, row.id)
  for (const { id } of jobs) tables.jobs.delete(id)
  for (const job of live) memory.live.delete(job)
  for (const { view } of interruptions) tables.interruptions.delete(view.id)
}

/** Notes who takes part. A person who is known keeps the position. */
export function setPeople(kept: Kept, rows: readonly ParticipantRow[]): void {
  if (rows.length > 0) kept.people ??= new Map()
  for (const row of rows) kept.people?.set(row.user, { ...row, roles: [...row.roles] })
}

/** Lets a conversation refer to content that the database has. */
export function useContents(tables: MemoryTables, kept: Kept, uses: readonly ContentUse[]): void {
  kept.contents ??= new Map()
  for (const { digest, mediaType, name } of uses) {
    const content = tables.contents.get(digest)
    if (content === undefined || kept.contents.has(digest)) continue
    kept.contents.set(digest, { digest, mediaType, name })
    content.uses += 1
  }
}

function releaseContents(
  { contents }: MemoryTables,
  released: ReadonlyMap<string, ContentUse>,
  again: readonly ContentUse[] = [],
): void {
  for (const digest of released.keys()) {
    const content = contents.get(digest)
    if (content === undefined) continue
    content.uses -= 1
    if (content.uses === 0 && !again.some((use) => use.digest === digest)) contents.delete(digest)
  }
}

/** Removes a conversation from the queue. */
export function leaveLine({ resting }: Memory, kept: Kept): void {
  const place = kept.rest
  if (place === null) return
  const { older, newer } = place
  if (older === null) resting.oldest = newer
  else older.newer = newer
  if (newer === null) resting.newest = older
  else newer.older = older
  kept.rest = null
  resting.count -= 1
}

/** Appends a conversation to the queue. */
export function joinLine({ resting }: Memory, kept: Kept, since: number): void {
  const older = resting.newest
  const place: Resting = { kept, since, older, newer: null }
  if (older === null) resting.oldest = place
  else older.newer = place
  resting.newest = place
  kept.rest = place
  resting.count += 1
}

/** A copy of a row for its reader. */
export function copyOf<Row extends object>(row: Row | null | undefined): Row | null {
  return row === undefined || row === null ? null : { ...row }
}
