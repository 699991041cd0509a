/** The batch of a group of appends: rows read under lock, changed in memory member by member, then written back together. */
import type { RunLimit } from '../../append-terms.ts'
import { type ArtifactRow, artifactRows } from '../../artifact-records.ts'
import { hide } from '../../hide.ts'
import { decideAppend, type Planned, type StoredState } from '../../refusal.ts'
import { aboutText, resultText } from '../../result-text.ts'
import type { Append, AppendResult, ConversationRow, InterruptionRow, ParticipantRow, Settlement } from '../../store.ts'
import type { ContentUse } from '../../stored-content.ts'
import { UsageCount } from '../../usage-count.ts'
import { jobOf, type StoredJob, storedJob } from './rows.ts'
import type { Row } from './statements.ts'
import { restored } from './text.ts'

/** A job in the batch. A change replaces the object. */
interface BatchJob extends StoredJob {
  readonly isStored: boolean
  readonly isChanged: boolean
}

/** An interruption in the batch. Of a stored one only the state is known. */
interface BatchInterruption {
  readonly conversation: string
  readonly state: string
  readonly isStored: boolean
  readonly fresh: InterruptionRow | null
  readonly settled: Settlement | null
}

/** A conversation in the batch. */
export interface BatchConversation {
  readonly id: string
  readonly isStored: boolean
  /** Set if this group creates it. */
  readonly created: ConversationRow | null
  readonly expiresAt: number | null
  lastSeq: number
  lastMessageAt: number
  isChanged: boolean
  /** For a stored one, loaded only if an append hides a parameter. */
  parameters: ConversationRow['parameters'] | null
  areParametersChanged: boolean
  readonly entries: { readonly seq: number; readonly text: string }[]
  /** The artifacts among them. */
  artifacts: readonly ArtifactRow[]
  /** What keeps it although it has expired; known only then. */
  live: number
  readonly open: Set<string>
}

/** One append with the texts of its entries. */
export interface GroupMember {
  readonly append: Append
  readonly texts: readonly string[]
}

/** The batch of one group, in one database; `now` is the server's clock. */
export interface Batch {
  readonly database: string
  readonly now: number
  readonly conversations: Map<string, BatchConversation>
  readonly jobs: Map<string, BatchJob>
  /** The live runs, by conversation. */
  readonly runs: Map<string, string>
  readonly interruptions: Map<string, BatchInterruption>
  /** When pending replies without a note were begun, by key. */
  readonly held: Map<string, number>
  readonly notes: Map<string, string>
  /** Expired conversations whose id is used again: their stored rows are deleted first. */
  readonly purged: Set<string>
  /** The content that the database has, of what members refer to; and the references to write. */
  readonly contents: Set<string>
  readonly uses: (ContentUse & { readonly conversation: string })[]
  readonly people: (ParticipantRow & { readonly conversation: string })[]
  readonly usage: UsageCount
  /** Appends that follow an entry which the log no longer has. */
  readonly astray: Set<Append>
  /** How many runs are live, by principal, of those that a member limits. */
  readonly liveRuns: Map<string, number>
}

/** An empty batch. */
export function createBatch(database: string, now: number): Batch {
  const maps = {
    conversations: new Map(),
    jobs: new Map(),
    runs: new Map(),
    interruptions: new Map(),
    held: new Map(),
    notes: new Map(),
    liveRuns: new Map(),
  }
  return {
    database,
    now,
    ...maps,
    purged: new Set(),
    contents: new Set(),
    uses: [],
    people: [],
    usage: new UsageCount(),
    astray: new Set(),
  }
}

/** What was read under lock. */
interface LockedRows {
  readonly conversations: readonly Row[]
  readonly jobs: readonly Row[]
  readonly interruptions: readonly Row[]
  readonly replies: readonly Row[]
  readonly principals: readonly Row[]
}

/** Adds the rows that were read. */
export function layOut(batch: Batch, rows: LockedRows): void {
  const { conversations, jobs, interruptions, replies, principals } = rows
  for (const row of conversations) {
    const id = restored(row.id as string)
    const numbers = { lastSeq: row.last_seq as number, lastMessageAt: row.last_message_at as number }
    const expiresAt = row.expires_at as number | null
    batch.conversations.set(id, { id, isStored: true, created: null, expiresAt, ...numbers, ...untouched() })
  }
  for (const row of jobs) putJob(batch, { ...storedJob(row), isStored: true, isChanged: false })
  for (const row of interruptions) {
    const conversation = restored(row.conversation as string)
    const one = { conversation, state: row.state as string, isStored: true, fresh: null, settled: null }
    batch.interruptions.set(restored(row.id as string), one)
  }
  for (const { key, at } of replies) batch.held.set(restored(key as string), at as number)
  for (const { id, live } of principals) batch.liveRuns.set(restored(id as string), live as number)
}

const noArtifacts: readonly ArtifactRow[] = []

function untouched() {
  const flags = { isChanged: false, areParametersChanged: false }
  return { ...flags, parameters: null, entries: [], artifacts: noArtifacts, live: 0, open: new Set<string>() }
}

/** Adds a conversation imported from another store. */
export function arrive(batch: Batch, row: ConversationRow): void {
  create(batch, row).lastSeq = row.lastSeq
}

/** Stored conversations that have expired. What keeps them must be added before any decision. */
export function expired({ conversations, now }: Batch): readonly string[] {
  const all = [...conversations.values()]
  return all.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now).map(({ id }) => id)
}

/** Applies one member to the batch, or returns the refusal. Later members see its changes. */
export function apply(batch: Batch, member: GroupMember): AppendResult {
  const { append } = member
  const { conversation: id } = append
  const found = batch.conversations.get(id)
  if (batch.astray.has(append)) return refused(batch, 'went-back', null)
  const isOver = found !== undefined && isPast(batch, found)
  const conversation = isOver ? undefined : found
  const decision = decideAppend(standingOf(batch, { id, conversation, isOver }), append, batch.now)
  if (!decision.ok) return refused(batch, decision.reason, decision.job)
  if (isOver) purge(batch, id)
  return store(batch, {
    at: conversation ?? create(batch, append.create as ConversationRow),
    member,
    jobs: decision.jobs,
  })
}

function isPast({ now }: Batch, { expiresAt, live, open }: BatchConversation): boolean {
  return expiresAt !== null && expiresAt <= now && live === 0 && open.size === 0
}

interface Place {
  readonly id: string
  readonly conversation: BatchConversation | undefined
  readonly isOver: boolean
}

function standingOf(
  { jobs, runs, interruptions, held, contents, liveRuns }: Batch,
  { id, conversation, isOver }: Place,
): StoredState<BatchJob> {
  const own = (name: string) => {
    const job = jobs.get(name)
    return job?.conversation === id ? job : null
  }
  return {
    lastSeq: conversation?.lastSeq ?? null,
    run: () => (isOver ? null : own(runs.get(id) ?? '')),
    job: (name) => (isOver ? null : own(name)),
    isTaken: (name) => jobs.has(name) && !(isOver && own(name) !== null),
    isOpen(name) {
      const one = interruptions.get(name)
      return !isOver && one?.conversation === id && one.state === 'open'
    },
    isHeld: ({ key, at }) => held.get(key) === Math.trunc(at),
    hasContent: (digest) => contents.has(digest),
    liveRuns: ({ createdBy }) => liveRuns.get(createdBy) ?? 0,
  }
}

function refused(
  batch: Batch,
  reason: Exclude<AppendResult, { ok: true }>['reason'],
  job: BatchJob | null,
): AppendResult {
  if (job === null) return { ok: false, reason, job: null }
  const isTaken = reason === 'woken' && job.owner !== null
  const after = isTaken ? putJob(batch, { ...job, wake: false, isChanged: true }) : job
  return { ok: false, reason, job: jobOf(batch.database, after) }
}

/** Removes a conversation from the batch. Its stored rows are deleted when the batch is written. */
function purge({ purged, conversations, runs, jobs, interruptions }: Batch, id: string): void {
  purged.add(id)
  conversations.delete(id)
  runs.delete(id)
  for (const [name, { conversation }] of jobs) if (conversation === id) jobs.delete(name)
  for (const [name, { conversation }] of interruptions) if (conversation === id) interruptions.delete(name)
}

function create({ conversations }: Batch, row: ConversationRow): BatchConversation {
  const { id, expiresAt, lastMessageAt, parameters } = row
  const fresh = { ...untouched(), parameters, lastSeq: 0, lastMessageAt }
  const made = { id, isStored: false, created: row, expiresAt, ...fresh }
  conversations.set(id, made)
  return made
}

interface Storing {
  readonly at: BatchConversation
  readonly member: GroupMember
  readonly jobs: readonly Planned<BatchJob>[]
}

function store(batch: Batch, { at, member: { append, texts }, jobs }: Storing): AppendResult {
  const before = at.lastSeq
  const artifacts = artifactRows(append.entries, before)
  if (artifacts.length > 0) at.artifacts = [...at.artifacts, ...artifacts]
  for (const text of texts) at.entries.push({ seq: ++at.lastSeq, text })
  if (texts.length > 0 || append.messageAt !== undefined) at.isChanged = true
  if (append.messageAt !== undefined) at.lastMessageAt = append.messageAt
  if (append.hide !== undefined && at.parameters !== null) {
    at.parameters = hide(at.parameters, append.hide, before)
    at.areParametersChanged = true
  }
  for (const row of append.open ?? []) open(batch, at, row)
  for (const one of append.settle ?? []) settle(batch, at, one)
  if (append.note !== undefined) note(batch, append.note)
  for (const use of append.contents ?? []) batch.uses.push({ ...use, conversation: at.id })
  for (const one of append.participants ?? []) batch.people.push({ ...one, conversation: at.id })
  if (append.usedBy !== undefined) {
    const owner = { conversation: at.id, user: append.usedBy }
    for (const entry of append.entries) batch.usage.add(entry, owner)
  }
  if (append.runLimit !== undefined) countRuns(batch, append.runLimit, jobs)
  const changed = jobs.map((planned) => jobOf(batch.database, changeJob(batch, at, planned)))
  return { ok: true, before, lastSeq: at.lastSeq, jobs: changed }
}

/** What began counts for later members; what ended before them in this group counts until it is stored. */
function countRuns({ liveRuns }: Batch, { createdBy }: RunLimit, jobs: readonly Planned<BatchJob>[]): void {
  const begun = jobs.filter(({ change }) => change.kind === 'create' && change.job === 'run').length
  liveRuns.set(createdBy, (liveRuns.get(createdBy) ?? 0) + begun)
}

/** A reply takes one note; after that it is no longer held. */
function note({ held, notes }: Batch, { key, text }: NonNullable<Append['note']>): void {
  if (text === null) return
  held.delete(key)
  notes.set(key, text)
}

function open({ interruptions, now }: Batch, at: BatchConversation, row: InterruptionRow): void {
  const { id, state } = row.view
  interruptions.set(id, { conversation: at.id, state, isStored: false, fresh: row, settled: null })
  const { expiresAt } = row
  if (state === 'open' && (expiresAt === null || expiresAt > now)) at.open.add(id)
}

function settle({ interruptions }: Batch, at: BatchConversation, one: Settlement): void {
  const known = interruptions.get(one.id)
  if (known !== undefined) interruptions.set(one.id, { ...known, state: one.state, settled: one })
  at.open.delete(one.id)
}

function changeJob(batch: Batch, at: BatchConversation, { change, before, after }: Planned<BatchJob>): BatchJob {
  if (change.kind === 'create') {
    const texts = { about: aboutText(change.about), result: 'null' }
    at.live += 1
    return putJob(batch, { ...after, conversation: at.id, ...texts, isStored: false, isChanged: true })
  }
  const kept = before as BatchJob
  const result = change.kind === 'rest' ? resultText(change.result, kept) : kept.result
  if (after.endedAt !== null) at.live -= 1
  return putJob(batch, { ...kept, ...after, result, isChanged: true })
}

function putJob({ jobs, runs }: Batch, job: BatchJob): BatchJob {
  jobs.set(job.id, job)
  if (job.kind !== 'run') return job
  if (job.endedAt === null) runs.set(job.conversation, job.id)
  else if (runs.get(job.conversation) === job.id) runs.delete(job.conversation)
  return job
}
