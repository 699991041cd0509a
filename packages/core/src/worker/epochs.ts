/** Which claims of jobs a worker has seen, so that none begins twice. */
import type { Job } from '../job/job.ts'
import type { JobPlace, JobRow } from '../store/store.ts'

/** The claims that one worker has seen. */
export interface Epochs {
  /** Claimed jobs that did not begin, since their log could not be read. They are given back with the next round. By id. */
  readonly unread: Map<string, JobPlace>
  /** Whether a claim is not later than what was at work here, or is: such a claim begins nothing. */
  isSeen(row: Pick<JobRow, 'id' | 'epoch'>, live: Job | undefined): boolean
  /** The work on a claim was stopped here. Only a later claim takes into account that an effect may have happened [D1]. */
  stopped(row: Pick<JobRow, 'id' | 'epoch'>, job: Job): void
  /** Whether the last work on this job here was stopped. Asked once, when it begins again. */
  wasStopped(id: string): boolean
  /** What is stored may have gone back: the store may give out epochs again that were seen here. */
  again(live: Iterable<Job>): void
}

/** Nothing was seen yet. */
export function createEpochs(): Epochs {
  /** The epochs stopped here, by job. */
  const stopped = new Map<string, number>()
  /** Jobs begun before what is stored may have gone back. */
  const earlier = new WeakSet<Job>()
  return {
    unread: new Map(),
    isSeen({ id, epoch }, live) {
      if (epoch <= (stopped.get(id) ?? 0)) return true
      if (live === undefined || epoch > live.identity.epoch) return false
      return epoch === live.identity.epoch || !earlier.has(live)
    },
    stopped: ({ id, epoch }, job) => void stopped.set(id, earlier.has(job) ? 0 : epoch),
    wasStopped: (id) => stopped.delete(id),
    again(live) {
      for (const job of live) earlier.add(job)
      for (const id of stopped.keys()) stopped.set(id, 0)
    },
  }
}
