/** Converts rows of the tables to rows of the contract, and values to text. */
import { rowReaders } from '../rows.ts'
import type { JobKind, JobRow, JobStatus } from '../store.ts'

/** A row from SQLite. Queries name their columns after the contract, in snake case. */
export type Row = Record<string, string | number | null>

/** Any JSON value as text. A value that JSON cannot hold becomes null. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

/** JSON that may be missing: then it is null, which is not stored either. */
export function optionalText(value: unknown): string | null {
  return value === null || value === undefined ? null : jsonText(value)
}

function optional(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

/** A job as it is stored: with its key, and its JSON still as text. */
export interface StoredJob extends Omit<JobRow, 'database' | 'conversation' | 'about' | 'result'> {
  readonly key: number
  readonly about: string | null
  readonly result: string | null
}

/** A row with columns by position, which is faster to read. */
export type Tuple = readonly (string | number | null)[]

/** The number of columns in `jobColumns`. */
const jobWidth = 16

/** The job in a tuple that has `jobColumns` from `start`; null if an outer join found none. */
export function storedJob(tuple: Tuple, start = 0): StoredJob | null {
  if (tuple[start] === null) return null
  return {
    key: tuple[start] as number,
    id: tuple[start + 1] as string,
    kind: tuple[start + 2] as JobKind,
    status: tuple[start + 3] as JobStatus,
    owner: tuple[start + 4] as string | null,
    epoch: tuple[start + 5] as number,
    leaseUntil: tuple[start + 6] as number,
    wake: tuple[start + 7] === 1,
    attempts: tuple[start + 8] as number,
    createdAt: tuple[start + 9] as number,
    startedAt: tuple[start + 10] as number | null,
    endedAt: tuple[start + 11] as number | null,
    firstSeq: tuple[start + 12] as number,
    about: tuple[start + 13] as string | null,
    result: tuple[start + 14] as string | null,
    changedAt: tuple[start + 15] as number,
  }
}

/** A job of the contract. */
export function jobOf(job: StoredJob, of: { readonly database: string; readonly conversation: string }): JobRow {
  const { key: _, about, result, ...rest } = job
  const { database, conversation } = of
  return { ...rest, database, conversation, about: optional(about), result: optional(result) }
}

/** A job from a query that also selects its database and conversation. */
export function jobOfTuple(tuple: Tuple): JobRow {
  const [database, conversation] = [tuple[jobWidth] as string, tuple[jobWidth + 1] as string]
  return jobOf(storedJob(tuple) as StoredJob, { database, conversation })
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
} = rowReaders((value) => value as string)
