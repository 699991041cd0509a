/** Decides whether an append may be stored, and the changes of its jobs. Pure; every driver uses it and only reads and writes. */
import { changedJob, isLive, type JobState, newJob } from './job-change.ts'
import type { Reservation } from './reply-records.ts'
import type { Refusal, RunLimit } from './append-terms.ts'
import type { Append, JobChange, Settlement } from './store.ts'

/** The stored state before an append, which the driver reads under its lock. Each part is read only when needed. */
export interface StoredState<Job extends JobState> {
  /** The last seq of the conversation; null if it does not exist or has expired. */
  readonly lastSeq: number | null
  /** The live run of the conversation. */
  run(): Job | null
  /** A job of this conversation, live or not. */
  job(id: string): Job | null
  /** Whether a job of the database has this id. Conversations that this append removes do not count. */
  isTaken(id: string): boolean
  /** Whether this interruption of the conversation is stored and open. */
  isOpen(id: string): boolean
  /** Whether the reply of this reservation is pending and has no note. No other reply is begun under its key meanwhile. */
  isHeld(of: Reservation): boolean
  /** Whether the database has this content. */
  hasContent(digest: string): boolean
  /** How many runs of this principal are live, counted up to its limit. */
  liveRuns(of: RunLimit): number
}

/** A job change, with the job before and after it. The driver sets the `result` of a `rest`. */
export type Planned<Job extends JobState> =
  | { readonly change: JobChange & { readonly kind: 'create' }; readonly before: null; readonly after: JobState }
  | {
      readonly change: JobChange & { readonly kind: 'wake' | 'progress' | 'rest' }
      readonly before: Job
      readonly after: Job
    }

/** The changes to write; or the refusal and its job. After `woken` the driver clears `wake` on that job, if it has an owner. */
type Decision<Job extends JobState> =
  | { readonly ok: true; readonly jobs: readonly Planned<Job>[] }
  | { readonly ok: false; readonly reason: Refusal; readonly job: Job | null }

/** Decides on one append. `now` is the time of the store's clock, which leases use. */
export function decideAppend<Job extends JobState>(
  standing: StoredState<Job>,
  append: Append,
  now: number,
): Decision<Job> {
  const { fence, follows, note, jobs = [], runLimit } = append
  if (note !== undefined && !standing.isHeld(note)) return refused('reply-taken')
  if (append.create !== undefined && standing.lastSeq !== null) return refused('exists')
  if (append.create === undefined && standing.lastSeq === null) return refused('missing')
  const before = standing.lastSeq ?? 0
  if ((follows?.entry?.seq ?? 0) > before) return refused('went-back')
  if (fence !== undefined) {
    const job = standing.job(fence.job)
    if (job === null || !isHeld(job, fence)) return refused('fenced', job)
  }
  if (append.ifLastSeq !== undefined && append.ifLastSeq !== before) return refused('moved')
  if (append.settle !== undefined && !areOpen(standing, append, append.settle)) return refused('settled')
  if (append.contents?.some(({ digest }) => !standing.hasContent(digest)) === true) return refused('contentless')
  if (jobs.length === 0) return { ok: true, jobs: [] }
  const planned = plan(standing, jobs, { firstSeq: before + 1, now })
  if (!planned.ok || runLimit === undefined) return planned
  return standing.liveRuns(runLimit) < runLimit.most ? planned : refused('too-many')
}

function isHeld(job: JobState, { epoch, owner }: NonNullable<Append['fence']>): boolean {
  return isLive(job) && job.owner !== null && (owner ?? job.owner) === job.owner && job.epoch === epoch
}

function refused<Job extends JobState>(reason: Refusal, job: Job | null = null): Decision<Job> {
  return { ok: false, reason, job }
}

/** True if each settled interruption is open. An append may open and settle one, but not settle it twice. */
function areOpen(standing: StoredState<JobState>, { open }: Append, settle: readonly Settlement[]): boolean {
  if (settle.length === 0) return true
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

/** Plans the changes in order: a run that ends in this append is not live for later changes. */
function plan<Job extends JobState>(standing: StoredState<Job>, changes: readonly JobChange[], at: At): Decision<Job> {
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
