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

/** A job; `columns` must hold `conversation` as its id. */
export function jobOf(row: Row): JobRow {
  return {
    id: row.id as string,
    database: row.database as string,
    conversation: row.conversation as string,
    status: row.status as JobStatus,
    owner: row.owner as string | null,
    epoch: row.epoch as number,
    leaseUntil: row.lease_until as number,
    wake: row.wake === 1,
    attempts: row.attempts as number,
    startedAt: row.started_at as number,
    endedAt: row.ended_at as number | null,
    firstSeq: row.first_seq as number,
    result: row.result === null ? null : parsed(row.result),
  }
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
