/** Jobs of the embedded store: looked up, claimed, renewed and released. */
import { pageStart } from '../cursor.ts'
import { claimedJob } from '../job-change.ts'
import { lastChangedFirst } from '../runs-of.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { Store } from '../store.ts'
import type { RunPlace, RunsOf, RunsPage } from '../runs-of.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { conversationOfKey, countRuns, endOfRunKeys, firstRunKey, takeJob } from './sqlite-job-rows.ts'
import { jobOf, jobOfTuple, type StoredJob, storedJob } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

type RunsOfMethod = 'listRunsOf' | 'countRunsOf' | 'countLiveRunsOf'
type ReadMethods = Pick<Store, 'getJob' | 'listJobs' | 'listRuns' | 'countRuns' | 'listTasks' | RunsOfMethod>
type LeaseMethods = Pick<Store, 'claimJobs' | 'heartbeat' | 'releaseJobs' | 'wakeStranded'>

/** The methods of a store that are about jobs. */
export function jobMethods(session: SqliteSession): ReadMethods & LeaseMethods {
  return { ...readMethods(session), ...leaseMethods(session) }
}

function readMethods(session: SqliteSession): ReadMethods {
  return {
    getJob: (database, id) =>
      session.read(({ tuple }) => {
        const row = tuple(jobSql.getJob, database, id)
        return row === null ? null : jobOfTuple(row)
      }),
    listJobs: (database, conversation, { live = false } = {}) =>
      session.read(({ get, tuples }) => {
        const found = get(logSql.findConversation, database, conversation)
        const sql = live ? jobSql.listLiveJobs : jobSql.listJobs
        return found === null ? [] : tuples(sql, found.number as number).map(jobOfTuple)
      }),
    listRuns: (database, conversation, { limit, after, bound }) =>
      session.read(({ get, tuple, someTuples }) => {
        const number = (get(logSql.findConversation, database, conversation)?.number as number | undefined) ?? null
        const key = after === null ? null : runKey(tuple(jobSql.runKey, database, after), number)
        if (number === null) return []
        return someTuples(bound, jobSql.listRuns, number, key ?? endOfRunKeys(number), limit).map(jobOfTuple)
      }),
    countRuns: (database, conversation) =>
      session.read((connection) => {
        const found = connection.get(logSql.findConversation, database, conversation)
        return found === null ? 0 : countRuns(connection, found.number as number)
      }),
    listTasks: (database, { limit, after, live, bound, of = null }) =>
      session.read(({ get, someTuples }) => {
        const last = after === null ? null : pageStart(get(jobSql.findJob, database, after))
        const range = [database, last?.created_at ?? Number.MAX_SAFE_INTEGER, after ?? '', limit] as const
        if (of === null) {
          const { listTasks, listLiveTasks, listEndedTasks } = jobSql
          const sql = live === null ? listTasks : live ? listLiveTasks : listEndedTasks
          return someTuples(bound, sql, ...range).map(jobOfTuple)
        }
        const { listTasksOf, listLiveTasksOf, listEndedTasksOf } = jobSql
        const sql = live === null ? listTasksOf : live ? listLiveTasksOf : listEndedTasksOf
        return someTuples(bound, sql, ...range, of.createdBy, of.participant).map(jobOfTuple)
      }),
    ...runsOfMethods(session),
  }
}

/** The methods of `readMethods` that are about the runs of one principal. */
function runsOfMethods(session: SqliteSession): Pick<ReadMethods, RunsOfMethod> {
  return {
    listRunsOf: (database, page) =>
      session.read((connection) => {
        if (page.conversation === null) return listByChange(connection, { ...page, database })
        const found = lookedAt(connection, { ...page, database })
        if (found === null) return { rows: [], next: null }
        const wanted = [...wantedRuns(database, page, found.least), ...found.range] as const
        const rows = connection.someTuples(page.bound, jobSql.listRunsIn, ...wanted, page.limit)
        return { rows: rows.map(jobOfTuple), next: nextOf(found, page) }
      }),
    countRunsOf: (database, { look, ...of }) =>
      session.read((connection) => {
        const found = lookedAt(connection, { ...of, database, after: null, look })
        const count = (sql: string, ...given: readonly (string | number | null)[]) =>
          connection.get(sql, ...given)?.count as number
        if (found === null) return 0
        const wanted = [...wantedRuns(database, of, found.least), ...found.range] as const
        if (of.conversation !== null) return count(jobSql.countRunsIn, ...wanted)
        const live = count(jobSql.countLiveWanted, ...wantedRuns(database, of, of.since ?? least))
        return of.live === true ? live : live + count(jobSql.countRunsOf, ...wanted)
      }),
    countLiveRunsOf: (database, createdBy, most) =>
      session.read(({ get }) => get(jobSql.countLiveRunsOf, database, createdBy, most)?.count as number),
  }
}

function wantedRuns(database: string, { createdBy, agents, conversation, status, live }: RunsOf, least: number) {
  const among = agents === null ? null : JSON.stringify(agents)
  return [database, createdBy, among, conversation, status, live === null ? null : Number(live), least] as const
}

/** Live runs are few and have an index of their own; ended ones are read in the order of their last change. */
function listByChange(connection: SqliteConnection, page: RunsPage & RunsOf & { readonly database: string }) {
  const { database, after, bound, limit, live } = page
  const open = wantedRuns(database, page, page.since ?? least)
  const running =
    live === false ? [] : connection.tuples(jobSql.listLiveRunsOf, ...open, ...behind(after), limit).map(jobOfTuple)
  const found = live === true ? null : lookedAt(connection, page)
  if (found === null) return { rows: running, next: null }
  let isCut = false
  const cut = (): void => {
    isCut = true
    bound?.cut()
  }
  const wanted = [...wantedRuns(database, page, found.least), ...found.range] as const
  const limited = bound === undefined ? undefined : { ...bound, cut }
  const ended = connection.someTuples(limited, jobSql.listRunsOf, ...wanted, limit).map(jobOfTuple)
  // What is behind the last one that was looked at comes with the next page.
  const last = (isCut ? ended.at(-1) : undefined) ?? found.next
  const fitting = last === null ? running : running.filter((job) => lastChangedFirst(job, last) < 0)
  return { rows: [...fitting, ...ended].sort(lastChangedFirst).slice(0, limit), next: nextOf(found, page) }
}

/** Nothing that is behind a place changed later than that. */
function nextOf({ next }: Looked, { since }: Pick<RunsOf, 'since'>): RunPlace | null {
  return next === null || next.changedAt < (since ?? least) ? null : next
}

const least = -Number.MAX_SAFE_INTEGER

/** The place behind which a list goes on. */
function behind(after: RunPlace | null) {
  return [after?.changedAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? ''] as const
}

interface Looked {
  /** The least change of a run that is looked at and wanted. */
  readonly least: number
  /** The parameters of a statement that looks at no more. */
  readonly range: readonly (string | number)[]
  /** The last run that is looked at, if there may be more. */
  readonly next: RunPlace | null
}

/** Which runs a list looks at; null for none. */
function lookedAt(
  connection: SqliteConnection,
  {
    database,
    conversation,
    createdBy,
    since,
    after,
    look,
  }: RunsOf & Pick<RunsPage, 'after' | 'look'> & { database: string },
): Looked | null {
  const { get } = connection
  const most = Number.MAX_SAFE_INTEGER
  const from = since ?? -most
  if (conversation === null) {
    const last = get(jobSql.lastLooked, database, createdBy, ...behind(after), look)
    const next = last === null ? null : { changedAt: last.changed_at as number, id: last.id as string }
    const range = [...behind(after), next?.changedAt ?? -most, next?.id ?? '']
    return { least: Math.max(from, next?.changedAt ?? from), range, next }
  }
  const number = (get(logSql.findConversation, database, conversation)?.number as number | undefined) ?? null
  const key = after === null ? null : runKey(connection.tuple(jobSql.runKey, database, after.id), number)
  if (number === null) return null
  const below = key ?? endOfRunKeys(number)
  const last = get(jobSql.lastLookedIn, firstRunKey(number), below, look)
  const next = last === null ? null : { changedAt: last.changed_at as number, id: last.id as string }
  return { least: from, range: [below, (last?.key as number | undefined) ?? firstRunKey(number)], next }
}

/** The key of a run of the conversation with that number. */
function runKey(found: readonly unknown[] | null, number: number | null): number {
  const key = found?.[0] as number | undefined
  return pageStart(key !== undefined && conversationOfKey(key) === number ? key : null)
}

function leaseMethods(session: SqliteSession): LeaseMethods {
  return {
    claimJobs: ({ owner, leaseMs, limit }) =>
      session.write((connection) => {
        const now = session.now()
        const by = { owner, leaseUntil: now + leaseMs, now }
        return connection.tuples(jobSql.dueJobs, now, limit).map((row) => {
          const { database, conversation } = jobOfTuple(row)
          const job = claimedJob(storedJob(row) as StoredJob, by)
          takeJob(connection, job)
          return jobOf(job, { database, conversation })
        })
      }),
    heartbeat: (owner, jobs, leaseMs) =>
      session.write(({ all, run }) => {
        const leaseUntil = session.now() + leaseMs
        const epochs = new Map(jobs.map(({ id, epoch }) => [id, epoch]))
        const held = all(jobSql.jobsOfOwner, owner).filter(({ id, epoch }) => epochs.get(id as string) === epoch)
        session.atWork.clear()
        for (const { key, id } of held) {
          session.atWork.add(id as string)
          run(jobSql.prolongLease, key as number, leaseUntil)
        }
        return held.map(({ id, wake }) => ({ id: id as string, wake: wake === 1 }))
      }),
    wakeStranded: (after, limit) =>
      session.write(({ all, run }) => {
        const rows = all(jobSql.unowned, Number(after ?? -1), limit)
        const found = rows.filter(({ stranded }) => stranded === 1)
        for (const { key } of found) run(jobSql.wakeStranded, key as number)
        const last = rows[limit - 1]
        return { next: last === undefined ? null : String(last.key), woken: found.length }
      }),
    releaseJobs: (owner, jobs) =>
      session.write(({ all, run }) => {
        const wanted = jobs === undefined ? null : new Set(jobs.map(({ id }) => id))
        for (const { key, id } of all(jobSql.jobsOfOwner, owner)) {
          if (wanted !== null && !wanted.has(id as string)) continue
          session.atWork.delete(id as string)
          run(jobSql.releaseJob, key as number)
        }
      }),
  }
}
