/** The rows that a group of appends works on: read under lock, changed here member by member, then written back all at once. */
import { hide } from '../../hide.ts'
import { decide, type Planned, type Standing } from '../../refusal.ts'
import type { Append, AppendResult, ConversationRow, InterruptionRow, Settlement } from '../../store.ts'
import { jobOf, type StoredJob, storedJob } from './rows.ts'
import type { Row } from './statements.ts'
import { jsonText, restored } from './text.ts'

/** A job on the desk. It is replaced when it changes, never changed. */
export interface DeskJob extends StoredJob {
  readonly isStored: boolean
  readonly isChanged: boolean
}

/** An interruption on the desk: of one that is stored only its state is known. */
export interface DeskInterruption {
  readonly conversation: string
  readonly state: string
  readonly isStored: boolean
  readonly fresh: InterruptionRow | null
  readonly settled: Settlement | null
}

/** A conversation on the desk. */
export interface DeskConversation {
  readonly id: string
  readonly isStored: boolean
  /** Set where it is made in this group. */
  readonly created: ConversationRow | null
  readonly expiresAt: number | null
  lastSeq: number
  lastMessageAt: number
  isChanged: boolean
  /** Of one that is stored, loaded only where somebody hides one. */
  parameters: ConversationRow['parameters'] | null
  areParametersChanged: boolean
  readonly entries: { readonly seq: number; readonly text: string }[]
  /** What keeps it although its time is over: known only where it is. */
  live: number
  readonly open: Set<string>
}

/** One append with the texts of its entries. */
export interface GroupMember {
  readonly append: Append
  readonly texts: readonly string[]
}

/** The desk of one group, in one database; `now` is the server's clock. */
export interface Desk {
  readonly database: string
  readonly now: number
  readonly conversations: Map<string, DeskConversation>
  readonly jobs: Map<string, DeskJob>
  /** The live run of a conversation, where it has one. */
  readonly runs: Map<string, string>
  readonly interruptions: Map<string, DeskInterruption>
  /** By their keys, when the replies were begun that are under way and have no note. */
  readonly held: Map<string, number>
  readonly notes: Map<string, string>
  /** Conversations whose time is over and whose id is taken anew: their stored rows go first. */
  readonly purged: Set<string>
}

/** An empty desk. */
export function createDesk(database: string, now: number): Desk {
  const maps = {
    conversations: new Map(),
    jobs: new Map(),
    runs: new Map(),
    interruptions: new Map(),
    held: new Map(),
    notes: new Map(),
  }
  return { database, now, ...maps, purged: new Set() }
}

/** What was read under lock. */
export interface LockedRows {
  readonly conversations: readonly Row[]
  readonly jobs: readonly Row[]
  readonly interruptions: readonly Row[]
  readonly replies: readonly Row[]
}

/** Lays out what was read. */
export function layOut(desk: Desk, { conversations, jobs, interruptions, replies }: LockedRows): void {
  for (const row of conversations) {
    const id = restored(row.id as string)
    const numbers = { lastSeq: row.last_seq as number, lastMessageAt: row.last_message_at as number }
    const expiresAt = row.expires_at as number | null
    desk.conversations.set(id, { id, isStored: true, created: null, expiresAt, ...numbers, ...untouched() })
  }
  for (const row of jobs) putJob(desk, { ...storedJob(row), isStored: true, isChanged: false })
  for (const row of interruptions) {
    const conversation = restored(row.conversation as string)
    const one = { conversation, state: row.state as string, isStored: true, fresh: null, settled: null }
    desk.interruptions.set(restored(row.id as string), one)
  }
  for (const { key, at } of replies) desk.held.set(restored(key as string), at as number)
}

function untouched() {
  const flags = { isChanged: false, areParametersChanged: false }
  return { ...flags, parameters: null, entries: [], live: 0, open: new Set<string>() }
}

/** Lays out a conversation that comes from another store, as it was there. */
export function arrive(desk: Desk, row: ConversationRow): void {
  create(desk, row).lastSeq = row.lastSeq
}

/** Stored conversations whose time is over; what keeps them must be laid out before anything is decided. */
export function expired({ conversations, now }: Desk): readonly string[] {
  const all = [...conversations.values()]
  return all.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now).map(({ id }) => id)
}

/** Stores one member, or says why not; every later one sees what became of it. */
export function apply(desk: Desk, member: GroupMember): AppendResult {
  const { append } = member
  const { conversation: id } = append
  const found = desk.conversations.get(id)
  const isOver = found !== undefined && isPast(desk, found)
  const conversation = isOver ? undefined : found
  const decision = decide(standingOf(desk, { id, conversation, isOver }), append, desk.now)
  if (!decision.ok) return refused(desk, decision.reason, decision.job)
  if (isOver) purge(desk, id)
  return store(desk, {
    at: conversation ?? create(desk, append.create as ConversationRow),
    member,
    jobs: decision.jobs,
  })
}

function isPast({ now }: Desk, { expiresAt, live, open }: DeskConversation): boolean {
  return expiresAt !== null && expiresAt <= now && live === 0 && open.size === 0
}

interface Place {
  readonly id: string
  readonly conversation: DeskConversation | undefined
  readonly isOver: boolean
}

function standingOf({ jobs, runs, interruptions, held }: Desk, { id, conversation, isOver }: Place): Standing<DeskJob> {
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
  }
}

function refused(desk: Desk, reason: Exclude<AppendResult, { ok: true }>['reason'], job: DeskJob | null): AppendResult {
  if (job === null) return { ok: false, reason, job: null }
  const isTaken = reason === 'woken' && job.owner !== null
  const after = isTaken ? putJob(desk, { ...job, wake: false, isChanged: true }) : job
  return { ok: false, reason, job: jobOf(desk.database, after) }
}

/** Drops what is on the desk; the stored rows go when the desk is cleared. */
function purge({ purged, conversations, runs, jobs, interruptions }: Desk, id: string): void {
  purged.add(id)
  conversations.delete(id)
  runs.delete(id)
  for (const [name, { conversation }] of jobs) if (conversation === id) jobs.delete(name)
  for (const [name, { conversation }] of interruptions) if (conversation === id) interruptions.delete(name)
}

function create({ conversations }: Desk, row: ConversationRow): DeskConversation {
  const { id, expiresAt, lastMessageAt, parameters } = row
  const fresh = { ...untouched(), parameters, lastSeq: 0, lastMessageAt }
  const made = { id, isStored: false, created: row, expiresAt, ...fresh }
  conversations.set(id, made)
  return made
}

interface Storing {
  readonly at: DeskConversation
  readonly member: GroupMember
  readonly jobs: readonly Planned<DeskJob>[]
}

function store(desk: Desk, { at, member: { append, texts }, jobs }: Storing): AppendResult {
  const before = at.lastSeq
  for (const text of texts) at.entries.push({ seq: ++at.lastSeq, text })
  if (texts.length > 0 || append.messageAt !== undefined) at.isChanged = true
  if (append.messageAt !== undefined) at.lastMessageAt = append.messageAt
  if (append.hide !== undefined && at.parameters !== null) {
    at.parameters = hide(at.parameters, append.hide, before)
    at.areParametersChanged = true
  }
  for (const row of append.open ?? []) open(desk, at, row)
  for (const one of append.settle ?? []) settle(desk, at, one)
  if (append.note !== undefined) note(desk, append.note)
  const changed = jobs.map((planned) => jobOf(desk.database, changeJob(desk, at, planned)))
  return { ok: true, before, lastSeq: at.lastSeq, jobs: changed }
}

/** A reply takes one note: whoever comes later finds it held no more. */
function note({ held, notes }: Desk, { key, text }: NonNullable<Append['note']>): void {
  if (text === null) return
  held.delete(key)
  notes.set(key, text)
}

function open({ interruptions, now }: Desk, at: DeskConversation, row: InterruptionRow): void {
  const { id, state } = row.view
  interruptions.set(id, { conversation: at.id, state, isStored: false, fresh: row, settled: null })
  const { expiresAt } = row
  if (state === 'open' && (expiresAt === null || expiresAt > now)) at.open.add(id)
}

function settle({ interruptions }: Desk, at: DeskConversation, one: Settlement): void {
  const known = interruptions.get(one.id)
  if (known !== undefined) interruptions.set(one.id, { ...known, state: one.state, settled: one })
  at.open.delete(one.id)
}

function changeJob(desk: Desk, at: DeskConversation, { change, before, after }: Planned<DeskJob>): DeskJob {
  if (change.kind === 'create') {
    const texts = { about: jsonText(change.about), result: 'null' }
    at.live += 1
    return putJob(desk, { ...after, conversation: at.id, ...texts, isStored: false, isChanged: true })
  }
  const kept = before as DeskJob
  const result = change.kind === 'rest' ? jsonText(change.result) : kept.result
  if (after.endedAt !== null) at.live -= 1
  return putJob(desk, { ...kept, ...after, result, isChanged: true })
}

function putJob({ jobs, runs }: Desk, job: DeskJob): DeskJob {
  jobs.set(job.id, job)
  if (job.kind !== 'run') return job
  if (job.endedAt === null) runs.set(job.conversation, job.id)
  else if (runs.get(job.conversation) === job.id) runs.delete(job.conversation)
  return job
}
