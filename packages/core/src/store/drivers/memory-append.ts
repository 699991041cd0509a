/** One append to the store in memory: checked whole, then applied at once. */
import { hide } from '../hide.ts'
import type { Append, AppendResult, JobChange, JobRow, Refusal, Settlement } from '../store.ts'
import {
  copyOf,
  isGone,
  type Kept,
  type Memory,
  type MemoryTables,
  removeConversation,
  tablesOf,
  type Writable,
} from './memory-tables.ts'

/** Applies an append, or says why not and leaves everything as it was but for the wake flag of `woken`. */
export function applyAppend(memory: Memory, append: Append): AppendResult {
  const tables = tablesOf(memory, append.database)
  const found = tables.conversations.get(append.conversation)
  const over = found !== undefined && isGone(memory, found) ? found : null
  const kept = over === null ? found : undefined
  const reason = refusal(tables, kept, append)
  if (reason !== null) return refused(tables, append, reason)
  if (over !== null) removeConversation(memory, over)
  return apply({ memory, tables }, kept ?? newConversation(tables, append), append)
}

/** A job of the append's own conversation. */
function jobOf(tables: MemoryTables, append: Append, id: string): Writable<JobRow> | undefined {
  const job = tables.jobs.get(id)
  return job?.conversation === append.conversation ? job : undefined
}

function refusal(tables: MemoryTables, kept: Kept | undefined, append: Append): Refusal | null {
  const { fence, settle } = append
  if (append.create !== undefined && kept !== undefined) return 'exists'
  if (append.create === undefined && kept === undefined) return 'missing'
  if (fence !== undefined && jobOf(tables, append, fence.job)?.epoch !== fence.epoch) return 'fenced'
  if (append.ifLastSeq !== undefined && append.ifLastSeq !== (kept?.row.lastSeq ?? 0)) return 'moved'
  if (settle !== undefined) for (const one of settle) if (!isOpen(tables, append, one)) return 'settled'
  return append.job === undefined ? null : jobRefusal(kept, append.job, jobOf(tables, append, append.job.id))
}

function jobRefusal(kept: Kept | undefined, change: JobChange, job: JobRow | undefined): Refusal | null {
  if (change.kind === 'create') return (kept?.live ?? null) === null ? null : 'active'
  if (job === undefined || job.endedAt !== null) return 'inactive'
  return change.kind === 'rest' && job.wake ? 'woken' : null
}

/** An interruption may be opened and settled in one append. */
function isOpen(tables: MemoryTables, append: Append, { id }: Settlement): boolean {
  const view = tables.interruptions.get(id)?.view ?? append.open?.find((row) => row.view.id === id)?.view
  return view?.state === 'open'
}

function refused(tables: MemoryTables, append: Append, reason: Refusal): AppendResult {
  if (reason === 'active') {
    return { ok: false, reason, job: copyOf(tables.conversations.get(append.conversation)?.live) }
  }
  const job = jobOf(tables, append, append.fence?.job ?? append.job?.id ?? '')
  if (reason === 'woken' && job !== undefined) job.wake = false
  return { ok: false, reason, job: copyOf(job) }
}

function newConversation(tables: MemoryTables, append: Append): Kept {
  const row = { ...(append.create as NonNullable<Append['create']>), lastSeq: 0 }
  const kept: Kept = { row, entries: [], jobs: [], live: null }
  tables.conversations.set(append.conversation, kept)
  return kept
}

function apply({ memory, tables }: { memory: Memory; tables: MemoryTables }, kept: Kept, append: Append): AppendResult {
  const before = kept.row.lastSeq
  for (const entry of append.entries) {
    entry.seq = ++kept.row.lastSeq
    kept.entries.push(entry)
  }
  if (append.messageAt !== undefined) kept.row.lastMessageAt = append.messageAt
  if (append.hide !== undefined) kept.row.parameters = hide(kept.row.parameters, append.hide, before)
  if (append.open !== undefined) for (const row of append.open) tables.interruptions.set(row.view.id, { ...row })
  if (append.settle !== undefined) for (const one of append.settle) settle(tables, one)
  const job =
    append.job === undefined ? null : changeJob(memory, { append, kept, change: append.job, firstSeq: before + 1 })
  return { ok: true, before, lastSeq: kept.row.lastSeq, job: copyOf(job) }
}

function settle(tables: MemoryTables, one: Settlement): void {
  const row = tables.interruptions.get(one.id)
  if (row === undefined) return
  row.view = { ...row.view, state: one.state }
  row.answer = one.answer
  row.answeredBy = one.by
  row.settledAt = one.at
}

interface Change {
  readonly append: Append
  readonly kept: Kept
  readonly change: JobChange
  readonly firstSeq: number
}

function changeJob(memory: Memory, { append, kept, change, firstSeq }: Change): JobRow {
  if (change.kind === 'create') return createJob(memory, change, { append, kept, firstSeq })
  const job = kept.live as Writable<JobRow>
  if (change.kind === 'rest') {
    job.status = change.status
    job.result = change.result
    job.owner = null
    if (change.status === 'waiting') return job
    job.endedAt = change.at
    kept.live = null
    memory.live.delete(job)
  } else if (job.owner === null) {
    job.owner = change.owner
    job.leaseUntil = change.leaseUntil
    job.epoch += 1
    job.status = 'running'
    job.attempts = 1
  } else job.wake = true
  return job
}

function createJob(memory: Memory, change: JobChange & { kind: 'create' }, at: Omit<Change, 'change'>): JobRow {
  const { id, owner, leaseUntil, startedAt } = change
  const { database, conversation } = at.append
  const fresh = { status: 'running', epoch: 1, wake: false, attempts: 1, endedAt: null, result: null } as const
  const job = { ...fresh, id, database, conversation, owner, leaseUntil, startedAt, firstSeq: at.firstSeq }
  tablesOf(memory, database).jobs.set(id, job)
  at.kept.jobs.push(job)
  at.kept.live = job
  memory.live.add(job)
  return job
}
