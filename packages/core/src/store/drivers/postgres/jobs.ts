/** Jobs on PostgreSQL: looked up, listed, claimed, renewed and released. */
import { pageStart } from '../../cursor.ts'
import { jobSql, listTasks as tasksSql, workerSql } from '../../sql/postgres/jobs.ts'
import type { RowPage } from '../../../identity/row-page.ts'
import type { HeldJob, JobRow, Store } from '../../store.ts'
import type { Statement, Row } from './statements.ts'
import type { Notifications } from './notify.ts'
import { jobRow } from './rows.ts'
import { countRunsOf, listRunsOf } from './runs-of.ts'
import type { PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import { restored, stored } from './text.ts'

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
export function jobMethods(session: PostgresSession, notifications: Notifications): JobMethods {
  return {
    async getJob(database, id) {
      const [rows = []] = await session.read(database, [jobSql.getJob, stored(database), stored(id)])
      return rows[0] === undefined ? null : jobRow(rows[0])
    },
    async listJobs(database, conversation, { live = false } = {}) {
      const sql = live ? jobSql.listLiveJobs : jobSql.listJobs
      const [rows = []] = await session.read(database, [sql, stored(database), stored(conversation)])
      return rows.map(jobRow)
    },
    listRuns: (database, conversation, page) => listRuns(session, { database, conversation }, page),
    async countRuns(database, conversation) {
      const [rows = []] = await session.read(database, [jobSql.countRuns, stored(database), stored(conversation)])
      return rows[0]?.count as number
    },
    listTasks: (database, page) => listTasks(session, database, page),
    listRunsOf: (database, page) => listRunsOf(session, database, page),
    countRunsOf: (database, of) => countRunsOf(session, database, of),
    async countLiveRunsOf(database, createdBy, most) {
      const query = [jobSql.countLiveRunsOf, stored(database), stored(createdBy), most] as const
      const [rows = []] = await session.read(database, query)
      return rows[0]?.count as number
    },
    async claimJobs({ owner, leaseMs, limit }) {
      const values = [stored(owner), Math.trunc(leaseMs), limit] as const
      const rows = await asWorker(session, [workerSql.claimJobs, ...values])
      return byNumber(rows).map(jobRow)
    },
    async heartbeat(owner, jobs, leaseMs) {
      const inOrder = jobs
        .map(({ database, id, epoch }) => ({ database: stored(database), id: stored(id), epoch }))
        .sort((one, other) => (one.id < other.id ? -1 : 1))
      const [ids, epochs] = [inOrder.map(({ id }) => id), inOrder.map(({ epoch }) => epoch)]
      const values = [stored(owner), ids, epochs, Math.trunc(leaseMs), inOrder.map(({ database }) => database)] as const
      const rows = await asWorker(session, [workerSql.heartbeat, ...values])
      return byNumber(rows).map(({ id, wake }): HeldJob => ({ id: restored(id as string), wake: wake as boolean }))
    },
    async wakeStranded(after, limit) {
      const place = after === null ? ['', '', -1] : (JSON.parse(after) as [string, string, number])
      const [last] = await asWorker(session, [workerSql.wakeStranded, ...place, limit])
      if (last === undefined) return { next: null, woken: 0 }
      const { database, conversation, number, looked, woken } = last
      if ((woken as number) > 0) notifications.due()
      const next = looked === limit ? JSON.stringify([database, conversation, number]) : null
      return { next, woken: woken as number }
    },
    async releaseJobs(owner, jobs) {
      const query: Statement =
        jobs === undefined
          ? [workerSql.releaseAll, stored(owner)]
          : [
              workerSql.releaseSome,
              stored(owner),
              jobs.map((job) => stored(job.database)),
              jobs.map(({ id }) => stored(id)),
            ]
      const [rows = []] = await session.writeAsWorker(query, { isForAnyVersion: true })
      if (rows.length > 0) notifications.due()
    },
  }
}

async function asWorker(session: PostgresSession, query: Statement): Promise<readonly Row[]> {
  const [rows = []] = await session.writeAsWorker(query)
  return rows
}

/** In creation order. */
function byNumber(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.number as number) - (other.number as number))
}

async function listRuns(
  session: PostgresSession,
  { database, conversation }: { readonly database: string; readonly conversation: string },
  { limit, after, bound }: RowPage,
): Promise<readonly JobRow[]> {
  const at = [stored(database), stored(conversation)] as const
  const last = after === null ? null : await session.read(database, [jobSql.runPlace, ...at, stored(after)])
  const place = last === null ? Number.MAX_SAFE_INTEGER : pageStart(last[0]?.[0]).number
  const query = [jobSql.listRuns, ...at, place as number, limit] as const
  const rows = await someRows(session, { database, query, long: ['about', 'result'] }, bound)
  return rows.map(jobRow)
}

async function listTasks(session: PostgresSession, database: string, page: Parameters<Store['listTasks']>[1]) {
  const { limit, after, live, bound, of = null } = page
  const at = stored(database)
  const last = after === null ? null : await session.read(database, [jobSql.taskPlace, at, stored(after)])
  const place = last === null ? Number.MAX_SAFE_INTEGER : pageStart(last[0]?.[0]).created_at
  const reading = of === null ? [] : [of.createdBy, of.participant].map((one) => (one === null ? null : stored(one)))
  const range = [at, place as number, stored(after ?? ''), limit] as const
  const query = [tasksSql(live, of !== null), ...range, ...reading] as const
  const rows = await someRows(session, { database, query, long: ['about', 'result'] }, bound)
  return rows.map(jobRow)
}
