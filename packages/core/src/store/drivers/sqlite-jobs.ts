/** Jobs of the embedded store: looked up, claimed, kept and given back. */
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { JobRow, Store } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { jobOfTuple, type Tuple } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

type JobMethods = Pick<Store, 'getJob' | 'listJobs' | 'claimJobs' | 'heartbeat' | 'releaseJobs'>

/** The methods of a store that are about jobs. */
export function jobMethods(session: SqliteSession): JobMethods {
  return {
    getJob: (database, id) =>
      session.read(({ tuple }) => {
        const row = tuple(jobSql.getJob, database, id)
        return row === null ? null : jobOfTuple(row)
      }),
    listJobs: (database, conversation) =>
      session.read(({ get, tuples }) => {
        const found = get(logSql.findConversation, database, conversation)
        return found === null ? [] : tuples(jobSql.listJobs, found.number as number).map(jobOfTuple)
      }),
    claimJobs: ({ owner, leaseMs, limit }) =>
      session.write((connection) => {
        const now = session.now()
        const due = connection.tuples(jobSql.dueJobs, now, limit)
        return due.map((row) => take(connection, row, { owner, leaseUntil: now + leaseMs }))
      }),
    heartbeat: (owner, jobs, leaseMs) =>
      session.write(({ all, run }) => {
        const leaseUntil = session.now() + leaseMs
        const held = new Map(all(jobSql.jobsOfOwner, owner).map((row) => [row.id, row]))
        const kept = jobs.filter(({ id, epoch }) => held.get(id)?.epoch === epoch).map(({ id }) => id)
        session.atWork.clear()
        for (const id of kept) session.atWork.add(id)
        for (const id of kept) run(jobSql.prolongLease, held.get(id)?.key as number, leaseUntil)
        return kept
      }),
    releaseJobs: (owner) => session.write(({ run }) => run(jobSql.releaseJobs, owner)),
  }
}

function take(connection: SqliteConnection, row: Tuple, by: { owner: string; leaseUntil: number }): JobRow {
  const job = jobOfTuple(row)
  const taken = {
    ...job,
    ...by,
    epoch: job.epoch + 1,
    attempts: job.attempts + 1,
    wake: false,
    status: 'running',
  } as const
  const { owner, epoch, leaseUntil, attempts } = taken
  connection.run(jobSql.takeJob, row[0] as number, owner, epoch, leaseUntil, 0, attempts)
  return taken
}
