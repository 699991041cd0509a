/** Computes the row of a job after each change, the same for every driver. */
import type { JobChange, JobRow } from './store.ts'

/** The fields of a job that decide on changes. */
export type JobState = Omit<JobRow, 'database' | 'conversation' | 'about' | 'result'>

/** True if the job has not ended. */
export function isLive(job: Pick<JobRow, 'endedAt'>): boolean {
  return job.endedAt === null
}

/** Whether a live job can be claimed. */
export function isDue(job: Pick<JobRow, 'owner' | 'wake' | 'leaseUntil'>, now: number): boolean {
  return job.owner === null ? job.wake : job.leaseUntil < now
}

/** The job that a `create` makes. Without an owner it can be claimed at once, and its first claim sets epoch 1. */
export function newJob(
  { id, job: kind, owner, leaseMs, at }: JobChange & { readonly kind: 'create' },
  { firstSeq, now }: { readonly firstSeq: number; readonly now: number },
): JobState {
  const fresh = { id, kind, owner, createdAt: at, endedAt: null, changedAt: at, firstSeq }
  return owner === null
    ? { ...fresh, status: 'queued', epoch: 0, leaseUntil: 0, wake: true, attempts: 0, startedAt: null }
    : { ...fresh, status: 'running', epoch: 1, leaseUntil: now + leaseMs, wake: false, attempts: 1, startedAt: at }
}

/** A live job after `wake`, `progress` or `rest`. The driver sets the `result` of a `rest`. */
export function changedJob<Job extends JobState>(
  job: Job,
  change: JobChange & { readonly kind: 'wake' | 'progress' | 'rest' },
  now: number,
): Job {
  if (change.kind === 'rest') {
    const { status, at } = change
    const changedAt = Math.max(job.changedAt, at)
    return { ...job, status, owner: null, endedAt: status === 'waiting' ? null : at, changedAt }
  }
  if (change.kind === 'progress') return { ...job, attempts: 1 }
  return wokenJob(job, change, now)
}

function wokenJob<Job extends JobState>(
  before: Job,
  { owner, leaseMs }: JobChange & { readonly kind: 'wake' },
  now: number,
): Job {
  const isParked = before.status === 'waiting' && !before.wake
  const job = isParked ? { ...before, changedAt: Math.max(before.changedAt, now) } : before
  // Its worker was lost before it was given back. Only a claim begins it, which waits for its turn and counts the attempt.
  const wasLost = job.status !== 'waiting' && job.attempts > 0
  if (job.owner !== null || owner === null || wasLost) return { ...job, wake: true }
  return { ...owned(job, { owner, leaseUntil: now + leaseMs, now }), attempts: 1 }
}

/** A job after its claim. */
export function claimedJob<Job extends JobState>(job: Job, by: Ownership): Job {
  return { ...owned(job, by), attempts: job.attempts + 1 }
}

/** A new owner, its lease, and the time of the store's clock. */
interface Ownership {
  readonly owner: string
  readonly leaseUntil: number
  readonly now: number
}

/** Clears `wake`, because a new owner reads everything that was appended. */
function owned<Job extends JobState>(job: Job, { owner, leaseUntil, now }: Ownership): Job {
  const startedAt = job.startedAt ?? now
  return { ...job, status: 'running', owner, leaseUntil, startedAt, epoch: job.epoch + 1, wake: false }
}

/** A job that its owner releases. It can be claimed at once, and the attempt does not count. */
export function releasedJob<Job extends JobState>(job: Job): Job {
  return { ...job, owner: null, leaseUntil: 0, wake: true, attempts: job.attempts - 1 }
}

/** A parked job that nothing would wake, when it was found: it can be claimed, which counts as no attempt. */
export function foundJob<Job extends JobState>(job: Job): Job {
  return { ...job, wake: true, attempts: job.attempts - 1 }
}

/** A job after its import into another store: it has no owner, and a live job that is not parked can be claimed at once. */
export function arrivedJob<Job extends JobState>(job: Job): Job {
  const isParked = job.status === 'waiting' || !isLive(job)
  return { ...job, owner: null, leaseUntil: 0, wake: isParked ? job.wake : true }
}
