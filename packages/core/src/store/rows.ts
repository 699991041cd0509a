/** Converts rows of SQL tables to rows of the contract. Every driver uses the same column names. */
import type { AgentRow } from '../agent/records.ts'
import type { UsageRow } from './usage-records.ts'
import { firstWordsOf } from './entry-text.ts'
import type { ReplyRow } from './reply-records.ts'
import type { ConversationRow, InterruptionRow, JobStatus, ListedConversation } from './store.ts'

/** A row by column name. */
type Row = Readonly<Record<string, unknown>>

/** Reads the rows of every table but jobs. */
interface RowReaders {
  conversationRow(row: Row): ConversationRow
  /** Needs the columns `beginning`, the first characters of its first entry, and `run_…` of its latest run. */
  listedConversation(row: Row): ListedConversation
  /** The state is a column of its own, so that settling does not rewrite the view. */
  interruptionRow(row: Row): InterruptionRow
  agentRow(row: Row): AgentRow
  replyRow(row: Row): ReplyRow
}

const parsed = <Value>(json: unknown): Value => (json === null ? null : JSON.parse(json as string)) as Value

/** The readers of one driver. `text` decodes a stored text. */
export function rowReaders(text: (value: unknown) => string): RowReaders {
  const textOrNull = (value: unknown): string | null => (value === null ? null : text(value))
  const conversationRow = (row: Row): ConversationRow => ({
    database: text(row.database),
    id: text(row.id),
    agent: text(row.agent),
    createdBy: text(row.created_by),
    createdAt: row.created_at as number,
    lastMessageAt: row.last_message_at as number,
    lastSeq: row.last_seq as number,
    parameters: parsed(row.parameters),
    maxModelIterationsPerCall: row.max_iterations as number | null,
    expiresAt: row.expires_at as number | null,
  })
  const lastRun = (row: Row): ListedConversation['lastRun'] =>
    row.run_id === null
      ? null
      : {
          id: text(row.run_id),
          status: row.run_status as JobStatus,
          createdAt: row.run_created_at as number,
          endedAt: row.run_ended_at as number | null,
          about: parsed(row.run_about),
        }
  return {
    conversationRow,
    listedConversation: (row) => ({
      ...conversationRow(row),
      firstMessage: row.beginning === null ? null : firstWordsOf(row.beginning as string),
      lastRun: lastRun(row),
    }),
    interruptionRow: (row) => ({
      database: text(row.database),
      conversation: text(row.conversation),
      job: text(row.job),
      call: text(row.call),
      view: { ...parsed<InterruptionRow['view']>(row.view), state: row.state as InterruptionRow['view']['state'] },
      bound: parsed(row.bound),
      terms: parsed(row.terms),
      answer: parsed(row.answer),
      answeredBy: textOrNull(row.answered_by),
      createdAt: row.created_at as number,
      expiresAt: row.expires_at as number | null,
      settledAt: row.settled_at as number | null,
    }),
    agentRow: (row) => ({
      database: text(row.database),
      id: text(row.id),
      revision: row.revision as number,
      source: row.source as AgentRow['source'],
      data: parsed(row.data),
      warnings: parsed(row.warnings),
      changed: parsed(row.changed),
    }),
    replyRow: (row) => ({
      key: text(row.key),
      digest: text(row.digest),
      status: row.status as number | null,
      body: textOrNull(row.body),
      note: textOrNull(row.note),
      at: row.at as number,
    }),
  }
}

/** Sums of usage. Its key is a text that needs no decoding, unless a reader is given. */
export function usageRow(row: Row, text: (value: unknown) => string = (value) => value as string): UsageRow {
  return {
    by: row.dimension as UsageRow['by'],
    key: text(row.key),
    day: row.day as number,
    modelCalls: row.model_calls as number,
    toolCalls: row.tool_calls as number,
    inputTokens: row.input_tokens as number,
    outputTokens: row.output_tokens as number,
    cachedInputTokens: row.cached_input_tokens as number,
    reasoningTokens: row.reasoning_tokens as number,
    cacheWriteTokens: row.cache_write_tokens as number,
    costUsd: row.cost_usd as number,
    unpriced: row.unpriced as number,
    incomplete: row.incomplete as number,
    priceDate: row.price_date as string | null,
  }
}
