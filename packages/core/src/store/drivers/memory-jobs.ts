/** Jobs of the store in memory: looked up, claimed, renewed and released. */
import { pageStart, startOf } from '../cursor.ts'
import { claimedJob, foundJob, isDue, releasedJob } from '../job-change.ts'
import { lastChangedFirst } from '../runs-of.ts'
import type { JobRow, Store } from '../store.ts'
import type { RunPlace, RunsOf, RunsPage } from '../runs-of.ts'
import { notifyOthers } from './memory-listen.ts'
import { copyOf, countLive, isReadBy, type MemoryAccess, tablesOf } from './memory-tables.ts'

type JobMethods = Pick<
  Store,
  | 'getJob'
  | 'listJobs'
  | 'listRuns'
  | 'countRuns'
  | 'listTasks'
  | 'listRunsOf'
  | 'countRunsOf'
  | 'countLiveRunsOf'
  | 'claimJobs'
  | 'heartbeat'
  | 'releaseJobs'
  | 'wakeStranded'
>

/** The methods of a store that are about jobs. */
export function jobMethods(access: MemoryAccess): JobMethods {
  const { memory } = access
  return {
    getJob: async (database, id) => copyOf(tablesOf(memory, database).jobs.get(id)),
    async listJobs(database, conversation, { live = false } = {}) {
      const kept = tablesOf(memory, database).conversations.get(conversation)
      return kept === undefined ? [] : (live ? kept.live : kept.jobs).map((job) => ({ ...job }))
    },
    async listRuns(database, conversation, { limit, after }) {
      const runs = tablesOf(memory, database).conversations.get(conversation)?.runs ?? []
      const end = after === null ? runs.length : indexOf(runs, after)
      return runs
        .slice(Math.max(0, end - limit), end)
        .reverse()
        .map((job) => ({ ...job }))
    },
    countRuns: async (database, conversation) =>
      tablesOf(memory, database).conversations.get(conversation)?.runs.length ?? 0,
    async listTasks(database, { limit, after, live, of = null }) {
      const { jobs, conversations } = tablesOf(memory, database)
      const isReached = ({ conversation }: JobRow) => {
        const kept = of === null ? undefined : conversations.get(conversation)
        return of === null || (kept !== undefined && isReadBy(kept, of))
      }
      const all = [...jobs.values()].filter((job) => job.kind === 'task' && isReached(job)).sort(newestFirst)
      const start = startOf(all, after, ({ id }) => id)
      const wanted = all.slice(start).filter(({ endedAt }) => live === null || live === (endedAt === null))
      return wanted.slice(0, limit).map((job) => ({ ...job }))
    },
    async listRunsOf(database, { limit, ...of }) {
      const { wanted, next } = runsOf(tablesOf(memory, database), of)
      return { rows: wanted.slice(0, limit).map((job) => ({ ...job })), next }
    },
    countRunsOf: async (database, of) => runsOf(tablesOf(memory, database), { ...of, after: null }).wanted.length,
    async countLiveRunsOf(database, createdBy, most) {
      return countLive(memory, tablesOf(memory, database), { createdBy, most })
    },
    async claimJobs({ owner, leaseMs, limit }) {
      const now = memory.now()
      const due = [...memory.live].filter((job) => isDue(job, now)).slice(0, limit)
      const by = { owner, leaseUntil: now + leaseMs, now }
      return due.map((job) => ({ ...Object.assign(job, claimedJob(job, by)) }))
    },
    async heartbeat(owner, jobs, leaseMs) {
      const leaseUntil = memory.now() + leaseMs
      const epochs = new Map(jobs.map(({ id, epoch }) => [id, epoch]))
      const held = [...memory.live].filter((job) => job.owner === owner && epochs.get(job.id) === job.epoch)
      for (const job of held) job.leaseUntil = leaseUntil
      return held.map(({ id, wake }) => ({ id, wake }))
    },
    async releaseJobs(owner, jobs) {
      const wanted = jobs === undefined ? null : new Set(jobs.map(({ id }) => id))
      const own = [...memory.live].filter((job) => job.owner === owner && (wanted === null || wanted.has(job.id)))
      for (const job of own) Object.assign(job, releasedJob(job))
      if (own.length > 0) notifyOthers(access, (listener) => listener.due())
    },
    async wakeStranded() {
      const found = [...memory.live].filter((job) => isStranded(access, job))
      for (const job of found) Object.assign(job, foundJob(job))
      if (found.length > 0) notifyOthers(access, (listener) => listener.due())
      return { next: null, woken: found.length }
    },
  }
}

function isStranded({ memory }: MemoryAccess, { database, conversation, id, status, owner, wake }: JobRow): boolean {
  if (status !== 'waiting' || owner !== null || wake) return false
  const open = tablesOf(memory, database).conversations.get(conversation)?.open ?? []
  return ![...open].some(({ job }) => job === id)
}

function indexOf(rows: readonly JobRow[], id: string): number {
  const index = rows.findLastIndex((row) => row.id === id)
  return pageStart(index < 0 ? null : index)
}

/** The runs that a list wants, of those that it looks at. */
function runsOf(
  { conversations }: Pick<ReturnType<typeof tablesOf>, 'conversations'>,
  { createdBy, agents, conversation, live, status, since, after, look }: RunsOf & Pick<RunsPage, 'after' | 'look'>,
): { readonly wanted: readonly JobRow[]; readonly next: RunPlace | null } {
  const own = [...conversations.values()].filter(({ row }) => row.createdBy === createdBy)
  const within = conversation === null ? own : own.filter(({ row }) => row.id === conversation)
  const all = within.flatMap(({ runs }) => runs.map((job) => job))
  const inOrder = conversation === null ? all.sort(lastChangedFirst) : all.reverse()
  const isBefore = (job: JobRow) => after !== null && conversation === null && lastChangedFirst(job, after) <= 0
  const start = after !== null && conversation !== null ? indexOf(inOrder, after.id) + 1 : 0
  const looked: JobRow[] = []
  let left = live === true && conversation === null ? Number.POSITIVE_INFINITY : look
  for (const job of inOrder.slice(start)) {
    if (isBefore(job)) continue
    looked.push(job)
    if (conversation !== null || job.endedAt !== null) left -= 1
    if (left === 0) break
  }
  const last = left === 0 ? looked.at(-1) : undefined
  const least = since ?? Number.NEGATIVE_INFINITY
  const wanted = looked.filter(
    (job) =>
      (agents === null || agents.includes(conversations.get(job.conversation)?.row.agent ?? '')) &&
      (live === null || live === (job.endedAt === null)) &&
      (status ?? job.status) === job.status &&
      job.changedAt >= least,
  )
  return { wanted, next: last === undefined || last.changedAt < least ? null : placeOf(last) }
}

function placeOf({ changedAt, id }: JobRow): RunPlace {
  return { changedAt, id }
}

function newestFirst(one: JobRow, other: JobRow): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1)
}
