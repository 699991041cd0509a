/** What happens to a job: the row after each change, the same for every driver. */
import type { JobChange, JobRow } from './store.ts'

/** A job without what no decision looks at. */
export type JobState = Omit<JobRow, 'database' | 'conversation' | 'about' | 'result'>

/** Whether a job has not ended. */
export function isLive(job: Pick<JobRow, 'endedAt'>): boolean {
  return job.endedAt === null
}

/** Whether a live job can be claimed. */
export function isDue(job: Pick<JobRow, 'owner' | 'wake' | 'leaseUntil'>, now: number): boolean {
  return job.owner === null ? job.wake : job.leaseUntil < now
}

/** The job that a `create` makes. Without an owner it can be claimed at once, and the first claim makes it epoch 1. */
export function newJob(
  { id, job: kind, owner, leaseMs, at }: JobChange & { readonly kind: 'create' },
  { firstSeq, now }: { readonly firstSeq: number; readonly now: number },
): JobState {
  const fresh = { id, kind, owner, createdAt: at, endedAt: null, firstSeq }
  return owner === null
    ? { ...fresh, status: 'queued', epoch: 0, leaseUntil: 0, wake: true, attempts: 0, startedAt: null }
    : { ...fresh, status: 'running', epoch: 1, leaseUntil: now + leaseMs, wake: false, attempts: 1, startedAt: at }
}

/** A live job after `wake`, `step` or `rest`. What its `result` is after a `rest` is left to the driver. */
export function changedJob<Job extends JobState>(
  job: Job,
  change: JobChange & { readonly kind: 'wake' | 'step' | 'rest' },
  now: number,
): Job {
  if (change.kind === 'rest') {
    const { status, at } = change
    return { ...job, status, owner: null, endedAt: status === 'waiting' ? null : at }
  }
  if (change.kind === 'step') return { ...job, attempts: 1 }
  const { owner, leaseMs } = change
  if (job.owner !== null || owner === null) return { ...job, wake: true }
  return { ...owned(job, { owner, leaseUntil: now + leaseMs, now }), attempts: 1 }
}

/** A job after its claim. */
export function claimedJob<Job extends JobState>(job: Job, by: Ownership): Job {
  return { ...owned(job, by), attempts: job.attempts + 1 }
}

/** A new owner, and how the store's clock stood. */
export interface Ownership {
  readonly owner: string
  readonly leaseUntil: number
  readonly now: number
}

/** The mark goes: whoever takes a job over reads all that was appended. */
function owned<Job extends JobState>(job: Job, { owner, leaseUntil, now }: Ownership): Job {
  const startedAt = job.startedAt ?? now
  return { ...job, status: 'running', owner, leaseUntil, startedAt, epoch: job.epoch + 1, wake: false }
}

/** A job that its owner gives back: the next takes it at once, and it was no attempt. */
export function releasedJob<Job extends JobState>(job: Job): Job {
  return { ...job, owner: null, leaseUntil: 0, wake: true, attempts: job.attempts - 1 }
}

/** A job as it comes into another store: nobody owns it there, and one that is live and not parked can be claimed at once. */
export function arrivedJob<Job extends JobState>(job: Job): Job {
  const isParked = job.status === 'waiting' || !isLive(job)
  return { ...job, owner: null, leaseUntil: 0, wake: isParked ? job.wake : true }
}
