/** One append to the store in memory: checked whole, then applied at once. */
import type { Writable } from '@witan/protocol/entries'
import { hide } from '../hide.ts'
import { decideAppend, type Planned, type StoredState } from '../refusal.ts'
import { isHeld } from '../reply.ts'
import type { Reservation } from '../reply-records.ts'
import type { RunLimit } from '../append-terms.ts'
import type { Append, AppendResult, JobRow, Settlement } from '../store.ts'
import { indexArtifact } from './memory-artifacts.ts'
import { hasListeners, notifyOthers } from './memory-listen.ts'
import { noteRest } from './memory-rest.ts'
import {
  addConversation,
  addInterruption,
  addJob,
  copyOf,
  countLive,
  dropLive,
  isGone,
  type Kept,
  type Memory,
  type MemoryAccess,
  type MemoryTables,
  removeConversation,
  setPeople,
  tablesOf,
  useContents,
} from './memory-tables.ts'

type Job = Writable<JobRow>
type Stored = AppendResult & { readonly ok: true }

/** The target of an append. `over` is an expired conversation of that id. */
interface Place {
  readonly memory: Memory
  readonly tables: MemoryTables
  readonly kept: Kept | undefined
  readonly over: Kept | undefined
}

/** Applies an append, or returns the refusal and changes nothing except the wake flag after `woken`. */
export function applyAppend(access: MemoryAccess, append: Append): AppendResult {
  const { memory } = access
  const tables = tablesOf(memory, append.database)
  const found = tables.conversations.get(append.conversation)
  const isOver = found !== undefined && isGone(memory, found)
  const place = { memory, tables, kept: isOver ? undefined : found, over: isOver ? found : undefined }
  const changes = append.jobs?.length ?? 0
  // Only job changes need the clock, and most appends have none.
  const decision = decideAppend(new Before(place), append, changes === 0 ? 0 : memory.now())
  if (decision.ok) {
    const result = apply(place, append, decision.jobs)
    if (hasListeners(access)) notify(access, append, { ...result, isAnew: isOver })
    return result
  }
  const { reason, job } = decision
  if (reason === 'woken' && job?.owner != null) job.wake = false
  return { ok: false, reason, job: copyOf(job) }
}

/** The stored state before an append. A class, so that an append costs one object and no closures. */
class Before implements StoredState<Job> {
  readonly #at: Place

  constructor(at: Place) {
    this.#at = at
  }

  get lastSeq(): number | null {
    return this.#at.kept?.row.lastSeq ?? null
  }

  run(): Job | null {
    return this.#at.kept?.run ?? null
  }

  job(id: string): Job | null {
    return jobOf(this.#at, id, this.#at.kept)
  }

  isTaken(id: string): boolean {
    return this.#at.tables.jobs.has(id) && jobOf(this.#at, id, this.#at.over) === null
  }

  isOpen(id: string): boolean {
    const { kept, tables } = this.#at
    return kept !== undefined && openOf(kept, tables.interruptions.get(id))
  }

  isHeld(of: Reservation): boolean {
    return isHeld(this.#at.tables.replies.get(of.key), of)
  }

  hasContent(digest: string): boolean {
    return this.#at.tables.contents.has(digest)
  }

  liveRuns(of: RunLimit): number {
    return countLive(this.#at.memory, this.#at.tables, of)
  }
}

function jobOf({ tables }: Place, id: string, of: Kept | undefined): Job | null {
  const job = tables.jobs.get(id)
  return job !== undefined && job.conversation === of?.row.id ? job : null
}

function openOf({ row }: Kept, one: { conversation: string; view: { state: string } } | undefined): boolean {
  return one?.conversation === row.id && one.view.state === 'open'
}

const none: readonly JobRow[] = []

function apply({ memory, tables, kept: found, over }: Place, append: Append, jobs: readonly Planned<Job>[]): Stored {
  if (over !== undefined) removeConversation(memory, over, append.contents)
  const create = append.create as NonNullable<Append['create']>
  const kept = found ?? addConversation(tables, { ...create, lastSeq: 0 })
  const before = kept.row.lastSeq
  for (const entry of append.entries) {
    entry.seq = ++kept.row.lastSeq
    kept.entries.push(entry)
    indexArtifact(kept, entry)
  }
  if (append.messageAt !== undefined) kept.row.lastMessageAt = append.messageAt
  if (append.hide !== undefined) kept.row.parameters = hide(kept.row.parameters, append.hide, before)
  if (append.open !== undefined) for (const row of append.open) addInterruption(tables, kept, row)
  if (append.settle !== undefined) for (const one of append.settle) settle(tables, kept, one)
  if (append.contents !== undefined) useContents(tables, kept, append.contents)
  if (append.participants !== undefined) setPeople(kept, append.participants)
  if (append.usedBy !== undefined) {
    const owner = { conversation: append.conversation, user: append.usedBy }
    for (const entry of append.entries) tables.usage.add(entry, owner)
  }
  if (append.note !== undefined && append.note.text !== null) {
    const reply = tables.replies.get(append.note.key)
    if (reply !== undefined) reply.note = append.note.text
  }
  const changed = jobs.length === 0 ? none : jobs.map((planned) => ({ ...changeJob(memory, kept, planned) }))
  noteRest(memory, kept)
  return { ok: true, before, lastSeq: kept.row.lastSeq, jobs: changed }
}

function notify(
  access: MemoryAccess,
  { database, conversation }: Append,
  { before, lastSeq, jobs, isAnew }: Stored & { readonly isAnew: boolean },
): void {
  const at = { database, conversation }
  if (isAnew) notifyOthers(access, (listener) => listener.gone(at))
  if (lastSeq > before) notifyOthers(access, (listener) => listener.appended({ ...at, lastSeq }))
  const isDue = jobs.some(({ owner, wake, endedAt }) => owner === null && wake && endedAt === null)
  if (isDue) notifyOthers(access, (listener) => listener.due())
}

function settle(tables: MemoryTables, kept: Kept, one: Settlement): void {
  const row = tables.interruptions.get(one.id)
  if (row === undefined) return
  kept.open?.delete(row)
  row.view = { ...row.view, state: one.state }
  row.answer = one.answer
  row.answeredBy = one.by
  row.settledAt = one.at
}

function changeJob(memory: Memory, kept: Kept, { change, before, after }: Planned<Job>): Job {
  if (change.kind === 'create') {
    const { database, id: conversation } = kept.row
    const job = { ...after, database, conversation, about: change.about, result: null }
    addJob(memory, kept, job)
    return job
  }
  const job = Object.assign(before as Job, after)
  if (change.kind === 'rest') job.result = change.result
  if (job.endedAt !== null) dropLive(memory, kept, job)
  return job
}
