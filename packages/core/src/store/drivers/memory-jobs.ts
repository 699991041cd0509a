/** Jobs of the store in memory: looked up, claimed, kept and given back. */
import type { JobRow, Store } from '../store.ts'
import { copyOf, type Memory, tablesOf } from './memory-tables.ts'

type JobMethods = Pick<Store, 'getJob' | 'listJobs' | 'claimJobs' | 'heartbeat' | 'releaseJobs'>

/** The methods of a store that are about jobs. */
export function jobMethods(memory: Memory): JobMethods {
  return {
    getJob: async (database, id) => copyOf(tablesOf(memory, database).jobs.get(id)),
    listJobs: async (database, conversation) =>
      tablesOf(memory, database)
        .conversations.get(conversation)
        ?.jobs.map((job) => ({ ...job })) ?? [],
    async claimJobs({ owner, leaseMs, limit }) {
      const now = memory.now()
      const due = [...memory.live].filter((job) => isDue(job, now)).slice(0, limit)
      for (const job of due) {
        job.owner = owner
        job.epoch += 1
        job.leaseUntil = now + leaseMs
        job.wake = false
        job.status = 'running'
        job.attempts += 1
      }
      return due.map((job) => ({ ...job }))
    },
    async heartbeat(owner, jobs, leaseMs) {
      const leaseUntil = memory.now() + leaseMs
      const held = new Map([...memory.live].filter((job) => job.owner === owner).map((job) => [job.id, job]))
      const kept = jobs.map(({ id }) => id).filter((id, index) => held.get(id)?.epoch === jobs[index]?.epoch)
      for (const id of kept) Object.assign(held.get(id) as object, { leaseUntil })
      return kept
    },
    async releaseJobs(owner) {
      for (const job of memory.live) {
        if (job.owner === owner)
          Object.assign(job, { owner: null, leaseUntil: 0, wake: true, attempts: job.attempts - 1 })
      }
    },
  }
}

function isDue(job: JobRow, now: number): boolean {
  return job.owner === null ? job.wake : job.leaseUntil < now
}
