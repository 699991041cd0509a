/** How jobs of the embedded store are written. */
import { jobSql } from '../sql/jobs.ts'
import type { JobKind, JobRow } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { optionalText, type StoredJob } from './sqlite-rows.ts'

/** How many job keys a conversation has; the upper half is for tasks. */
const keysOfConversation = 1_048_576

/** The key of the first run of the conversation with this number. */
export function firstRunKey(number: number): number {
  return number * keysOfConversation + 1
}

/** The end of the keys that the runs of the conversation with this number can have. */
export function endOfRunKeys(number: number): number {
  return number * keysOfConversation + keysOfConversation / 2
}

/** The number of the conversation whose job has this key. */
export function conversationOfKey(key: number): number {
  return Math.floor(key / keysOfConversation)
}

/** How many runs the conversation with this number has. Runs are numbered consecutively and never deleted singly. */
export function countRuns({ tuple }: SqliteConnection, number: number): number {
  const last = tuple(jobSql.latestRun, number)?.[0] as number | null | undefined
  return last == null ? 0 : last - number * keysOfConversation
}

/** The key of the next run or task of the conversation with this number. */
export function nextKey({ tuple }: SqliteConnection, number: number, kind: JobKind): number {
  const [sql, base] =
    kind === 'run' ? ([jobSql.latestRun, 0] as const) : ([jobSql.latestTask, keysOfConversation / 2] as const)
  const last = tuple(sql, number)?.[0] as number | null | undefined
  return (last ?? number * keysOfConversation + base) + 1
}

/** Adds a new job. */
export function startJob({ run }: SqliteConnection, job: JobRow, key: number): void {
  if (job.owner === null) return insertJob({ run }, job, { key })
  const { database, id, kind, owner, leaseUntil, createdAt, firstSeq, about } = job
  run(jobSql.startJob, key, database, id, kind, owner, leaseUntil, createdAt, firstSeq, optionalText(about))
}

/** Adds an existing job, as imported. `maker`: who created its conversation, where that is not stored yet. */
export function insertJob(
  { run }: Pick<SqliteConnection, 'run'>,
  job: JobRow,
  { key, maker = null }: { readonly key: number; readonly maker?: string | null },
): void {
  const { database, id, kind, status, owner, epoch, leaseUntil, wake, attempts } = job
  const { createdAt, startedAt, endedAt, firstSeq, about, result } = job
  const work = [status, owner, epoch, leaseUntil, wake ? 1 : 0, attempts]
  const times = [createdAt, startedAt, endedAt, firstSeq]
  const last = [optionalText(about), optionalText(result), job.changedAt, maker]
  run(jobSql.insertJob, key, database, id, kind, ...work, ...times, ...last)
}

/** Writes the columns that change when a job gets an owner. */
export function takeJob({ run }: SqliteConnection, job: StoredJob): void {
  const { key, status, owner, epoch, leaseUntil, wake, attempts, startedAt } = job
  run(jobSql.takeJob, key, status, owner, epoch, leaseUntil, wake ? 1 : 0, attempts, startedAt)
}
