/** Converts rows of the tables to rows of the contract. */
import type { JobState } from '../../job-change.ts'
import { aboutOf, resultOf } from '../../result-text.ts'
import { rowReaders } from '../../rows.ts'
import type { JobKind, JobRow, JobStatus } from '../../store.ts'
import type { Row } from './statements.ts'
import { restored } from './text.ts'

/** A stored job, with `about` and `result` still as text. */
export interface StoredJob extends JobState {
  readonly conversation: string
  readonly about: string
  readonly result: string
}

const text = (value: unknown): string => restored(value as string)
const textOrNull = (value: unknown): string | null => (value === null ? null : text(value))

/** A job, from a statement with `jobColumns`. */
export function storedJob(row: Row): StoredJob {
  return {
    id: text(row.id),
    conversation: text(row.conversation),
    kind: row.kind as JobKind,
    status: row.status as JobStatus,
    owner: textOrNull(row.owner),
    epoch: row.epoch as number,
    leaseUntil: row.lease_until as number,
    wake: row.wake as boolean,
    attempts: row.attempts as number,
    createdAt: row.created_at as number,
    startedAt: row.started_at as number | null,
    endedAt: row.ended_at as number | null,
    changedAt: row.changed_at as number,
    firstSeq: row.first_seq as number,
    about: row.about as string,
    result: row.result as string,
  }
}

/** A job of the contract. */
export function jobOf(database: string, job: StoredJob): JobRow {
  const { id, conversation, kind, status, owner, epoch, leaseUntil, wake, attempts } = job
  const { createdAt, startedAt, endedAt, changedAt, firstSeq, about, result } = job
  return {
    ...{ id, database, conversation, kind, status, owner, epoch, leaseUntil, wake, attempts },
    ...{ createdAt, startedAt, endedAt, changedAt, firstSeq, about: aboutOf(about), result: resultOf(result, job) },
  }
}

/** A job, from a statement with `jobColumns`. */
export function jobRow(row: Row): JobRow {
  return jobOf(text(row.database), storedJob(row))
}

/** The readers of all other tables. */
export const {
  agentRow,
  blockRow,
  conversationRow,
  interruptionRow,
  listedConversation,
  replyRow,
  revisionRow,
  usageRow,
  writtenRow,
} = rowReaders(text, aboutOf)
