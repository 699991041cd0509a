/** How rows of the tables become rows of the contract, and values become text. */
import type { AgentRow } from '../../agent/records.ts'
import type { ConversationRow, InterruptionRow, JobRow, JobStatus, ReplyRow } from '../store.ts'

/** A row as SQLite gives it. Every column of a query is named after the contract, in its own spelling. */
export type Row = Record<string, string | number | null>

/** Any JSON value as text; what JSON cannot say becomes null. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

function parsed<Value>(text: Row[string] | undefined): Value {
  return JSON.parse(text as string) as Value
}

/** A job as it is stored: with its key, and its result still as text. */
export interface StoredJob extends Omit<JobRow, 'database' | 'conversation' | 'result'> {
  readonly key: number
  readonly result: string | null
}

/** A row whose columns are known by their order, which is the faster way to read one. */
export type Tuple = readonly (string | number | null)[]

/** The job in a tuple that has `jobColumns` from `start`; null where an outer join found none. */
export function storedJob(tuple: Tuple, start = 0): StoredJob | null {
  if (tuple[start] === null) return null
  return {
    key: tuple[start] as number,
    id: tuple[start + 1] as string,
    status: tuple[start + 2] as JobStatus,
    owner: tuple[start + 3] as string | null,
    epoch: tuple[start + 4] as number,
    leaseUntil: tuple[start + 5] as number,
    wake: tuple[start + 6] === 1,
    attempts: tuple[start + 7] as number,
    startedAt: tuple[start + 8] as number,
    endedAt: tuple[start + 9] as number | null,
    firstSeq: tuple[start + 10] as number,
    result: tuple[start + 11] as string | null,
  }
}

/** A job as the contract has it. */
export function jobOf(job: StoredJob, of: { readonly database: string; readonly conversation: string }): JobRow {
  const { key: _, result, ...rest } = job
  const { database, conversation } = of
  return { ...rest, database, conversation, result: result === null ? null : parsed(result) }
}

/** A job from a query that also gives its database and conversation. */
export function jobOfTuple(tuple: Tuple): JobRow {
  return jobOf(storedJob(tuple) as StoredJob, { database: tuple[12] as string, conversation: tuple[13] as string })
}

/** A conversation's own row. */
export function conversationOf(row: Row): ConversationRow {
  return {
    database: row.database as string,
    id: row.id as string,
    agent: row.agent as string,
    createdBy: row.created_by as string,
    createdAt: row.created_at as number,
    lastMessageAt: row.last_message_at as number,
    lastSeq: row.last_seq as number,
    parameters: parsed(row.parameters),
    maxModelIterationsPerCall: row.max_iterations as number | null,
    expiresAt: row.expires_at as number | null,
  }
}

/** An interruption; its state is a column of its own, so that settling it need not write the view again. */
export function interruptionOf(row: Row): InterruptionRow {
  return {
    database: row.database as string,
    conversation: row.conversation as string,
    job: row.job as string,
    call: row.call as string,
    view: { ...parsed<InterruptionRow['view']>(row.view), state: row.state as InterruptionRow['view']['state'] },
    bound: parsed(row.bound),
    answer: parsed(row.answer),
    answeredBy: row.answered_by as string | null,
    createdAt: row.created_at as number,
    settledAt: row.settled_at as number | null,
  }
}

/** One revision of an agent. */
export function agentOf(row: Row): AgentRow {
  return {
    database: row.database as string,
    id: row.id as string,
    revision: row.revision as number,
    source: row.source as AgentRow['source'],
    data: parsed(row.data),
    warnings: parsed(row.warnings),
  }
}

/** A remembered reply. */
export function replyOf(row: Row): ReplyRow {
  return {
    key: row.key as string,
    digest: row.digest as string,
    status: row.status as number | null,
    body: row.body as string | null,
    at: row.at as number,
  }
}
