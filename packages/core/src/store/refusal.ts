/** Whether an append may be stored and what becomes of its jobs: one pure decision for every driver, which only reads and writes. */
import { changedJob, isLive, type JobState, newJob } from './job-change.ts'
import type { Append, JobChange, Refusal, Reservation, Settlement } from './store.ts'

/** How things stand before an append, as the driver reads it under its lock. Each is looked up only when it is needed. */
export interface Standing<Job extends JobState> {
  /** The last seq of the conversation; null where there is none, or where its time is over. */
  readonly lastSeq: number | null
  /** The live run of the conversation. */
  run(): Job | null
  /** A job of this conversation, live or not. */
  job(id: string): Job | null
  /** Whether a job of the database has this id, in whatever conversation but one that goes in this step. */
  isTaken(id: string): boolean
  /** Whether this interruption of the conversation is stored and open. */
  isOpen(id: string): boolean
  /** Whether the reply that this reservation began is under way, with no note yet. Nobody else begins one under its key meanwhile. */
  isHeld(of: Reservation): boolean
}

/** What a change makes of its job: of a new one, or of the one that was read. `result` of a `rest` is left to the driver. */
export type Planned<Job extends JobState> =
  | { readonly change: JobChange & { readonly kind: 'create' }; readonly before: null; readonly after: JobState }
  | {
      readonly change: JobChange & { readonly kind: 'wake' | 'step' | 'rest' }
      readonly before: Job
      readonly after: Job
    }

/** What is to be written; or why nothing is, and the job that this is about. With `woken` the driver takes the mark off that job, if it is owned. */
export type Decision<Job extends JobState> =
  | { readonly ok: true; readonly jobs: readonly Planned<Job>[] }
  | { readonly ok: false; readonly reason: Refusal; readonly job: Job | null }

/** Decides on one append; `now` is the store's clock, in which leases are kept. */
export function decide<Job extends JobState>(standing: Standing<Job>, append: Append, now: number): Decision<Job> {
  const { fence, note, jobs = [] } = append
  if (note !== undefined && !standing.isHeld(note)) return refused('reply-taken')
  if (append.create !== undefined && standing.lastSeq !== null) return refused('exists')
  if (append.create === undefined && standing.lastSeq === null) return refused('missing')
  if (fence !== undefined) {
    const job = standing.job(fence.job)
    if (job === null || !isLive(job) || job.owner === null || job.epoch !== fence.epoch) return refused('fenced', job)
  }
  const before = standing.lastSeq ?? 0
  if (append.ifLastSeq !== undefined && append.ifLastSeq !== before) return refused('moved')
  if (append.settle !== undefined && !areOpen(standing, append, append.settle)) return refused('settled')
  return jobs.length === 0 ? { ok: true, jobs: [] } : plan(standing, jobs, { firstSeq: before + 1, now })
}

function refused<Job extends JobState>(reason: Refusal, job: Job | null = null): Decision<Job> {
  return { ok: false, reason, job }
}

/** An interruption may be opened and settled in one append, but not settled twice. */
function areOpen(standing: Standing<JobState>, { open }: Append, settle: readonly Settlement[]): boolean {
  const settled = new Set<string>()
  for (const { id } of settle) {
    const isFresh = open?.some(({ view }) => view.id === id && view.state === 'open') === true
    if (settled.has(id) || !(isFresh || standing.isOpen(id))) return false
    settled.add(id)
  }
  return true
}

interface At {
  readonly firstSeq: number
  readonly now: number
}

/** In order: a run that ends in this append is not live for those after it. */
function plan<Job extends JobState>(standing: Standing<Job>, changes: readonly JobChange[], at: At): Decision<Job> {
  const planned: Planned<Job>[] = []
  let ended: string | null = null
  let created: string | null = null
  for (const change of changes) {
    if (change.kind === 'create') {
      if (standing.isTaken(change.id)) return refused('exists', standing.job(change.id))
      const run = change.job === 'run' ? standing.run() : null
      if (run !== null && run.id !== ended) return refused('active', run)
      if (change.job === 'run' && created !== null) return refused('active')
      if (change.job === 'run') created = change.id
      planned.push({ change, before: null, after: newJob(change, at) })
      continue
    }
    const before = standing.job(change.id)
    if (before === null || !isLive(before)) return refused('inactive', before)
    if (change.kind === 'rest' && before.wake) return refused('woken', before)
    if (change.kind === 'rest' && change.status !== 'waiting') ended = change.id
    planned.push({ change, before, after: changedJob(before, change, at.now) })
  }
  return { ok: true, jobs: planned }
}
