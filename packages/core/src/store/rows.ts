/** How rows of SQL tables become rows of the contract: the columns have the same names in every driver. */
import type { AgentRow } from '../agent/records.ts'
import type { ConversationRow, InterruptionRow, ReplyRow } from './store.ts'

/** A row, by the names of its columns. */
type Row = Readonly<Record<string, unknown>>

/** What reads the tables that a driver has, beside its jobs; `text` gives back a text as it was before it was stored. */
export interface RowReaders {
  conversationRow(row: Row): ConversationRow
  /** Its state is a column of its own, so that settling it need not write the view again. */
  interruptionRow(row: Row): InterruptionRow
  agentRow(row: Row): AgentRow
  replyRow(row: Row): ReplyRow
}

const parsed = <Value>(json: unknown): Value => (json === null ? null : JSON.parse(json as string)) as Value

/** The readers of one driver. */
export function rowReaders(text: (value: unknown) => string): RowReaders {
  const textOrNull = (value: unknown): string | null => (value === null ? null : text(value))
  return {
    conversationRow: (row) => ({
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
