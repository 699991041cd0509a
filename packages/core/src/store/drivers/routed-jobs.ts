/** What a routed store asks of all its clusters: due work, leases, what has expired. One that is away keeps none of the others from it. */
import type { HeldJob, JobRow, Store } from '../store.ts'
import { asked, type Cluster, type Route } from './routed-parts.ts'

type JobMethods = Pick<
  Store,
  'claimJobs' | 'heartbeat' | 'releaseJobs' | 'dueInterruptions' | 'sweepConversations' | 'wakeStranded'
>

/** The methods of a store that look at all databases. */
export function jobsOfAll({ all, isAt }: Route): JobMethods {
  let turn = 0
  /** All of them, beginning with another one each time. */
  const inTurn = () => {
    turn += 1
    return all.map((_, index) => all[(index + turn) % all.length] as Cluster)
  }
  return {
    async claimJobs({ limit, ...claim }) {
      const claimed: JobRow[] = []
      const ask = async (clusters: readonly Cluster[], most: number) => {
        const late = ({ store }: Cluster, jobs: readonly JobRow[]) => {
          if (jobs.length > 0) store.releaseJobs(claim.owner, jobs).catch(() => {})
        }
        const replies = await asked(clusters, ({ store }) => store.claimJobs({ ...claim, limit: most }), late)
        for (const { cluster, reply } of replies)
          claimed.push(...reply.filter(({ database }) => isAt(cluster, database)))
        return replies.filter(({ reply }) => reply.length === most).map(({ cluster }) => cluster)
      }
      const clusters = inTurn()
      const first = clusters.slice(0, limit)
      const full = await ask(first, Math.floor(limit / Math.max(1, first.length)))
      // What these left free goes to those that were not asked, or have more.
      for (const cluster of [...clusters.slice(limit), ...full])
        if (claimed.length < limit) await ask([cluster], limit - claimed.length)
      return claimed
    },
    async heartbeat(owner, jobs, leaseMs) {
      const own = new Map(all.map((cluster) => [cluster, jobs.filter(({ database }) => isAt(cluster, database))]))
      const busy = all.filter((cluster) => own.get(cluster)?.length !== 0)
      const replies = await asked(busy, (cluster) => cluster.store.heartbeat(owner, own.get(cluster) ?? [], leaseMs))
      const told = new Map(replies.map(({ cluster, reply }) => [cluster, reply]))
      // Of a cluster that is away nobody knows: its jobs go on, and their next append finds out.
      return busy.flatMap(
        (cluster): readonly HeldJob[] =>
          told.get(cluster) ?? (own.get(cluster) ?? []).map(({ id }) => ({ id, wake: false })),
      )
    },
    async releaseJobs(owner, jobs) {
      const released = all.map(async (cluster) => {
        const own = jobs?.filter(({ database }) => isAt(cluster, database))
        if (own === undefined || own.length > 0) await cluster.store.releaseJobs(owner, own)
      })
      const ended = await Promise.allSettled(released)
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
    async dueInterruptions(limit) {
      const replies = await asked(all, ({ store }) => store.dueInterruptions(limit))
      const due = replies.flatMap(({ cluster, reply }) => reply.filter(({ database }) => isAt(cluster, database)))
      return due.sort((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0)).slice(0, limit)
    },
    async sweepConversations(limit) {
      const clusters = inTurn().slice(0, limit)
      const each = Math.floor(limit / Math.max(1, clusters.length))
      const replies = await asked(clusters, ({ store }) => store.sweepConversations(each))
      return replies.flatMap(({ cluster, reply }) => reply.filter(({ database }) => isAt(cluster, database)))
    },
    async wakeStranded(after, limit) {
      const [index, inside] = after === null ? [0, null] : (JSON.parse(after) as readonly [number, string | null])
      const cluster = all[index]
      if (cluster === undefined) return { next: null, woken: 0 }
      const [told] = await asked([cluster], ({ store }) => store.wakeStranded(inside, limit)).catch(() => [])
      const { next, woken } = told?.reply ?? { next: null, woken: 0 }
      if (next !== null) return { next: JSON.stringify([index, next]), woken }
      return { next: index + 1 < all.length ? JSON.stringify([index + 1, null]) : null, woken }
    },
  }
}
