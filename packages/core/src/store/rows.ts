/** Converts rows of SQL tables to rows of the contract, by their columns. Every driver uses the same column names. */
import type { AgentRow } from '../agent/records.ts'
import type { BlockRevision, BlockRow } from '../memory/records.ts'
import type { WrittenBefore } from '../memory/write.ts'
import { firstWordsOf } from './entry-text.ts'
import { snakeCase } from './sql/records.ts'
import { sumColumns, type UsageRow } from './usage-records.ts'
import type { ReplyRow } from './reply-records.ts'
import type { ConversationRow, InterruptionRow, LastRun, ListedConversation } from './store.ts'

/** A row by column name. */
type Row = Readonly<Record<string, unknown>>

/** The columns of a table: texts, JSON, and what needs no reading. Any may be null. */
interface Columns {
  readonly text: readonly string[]
  readonly json?: readonly string[]
  readonly plain: readonly string[]
}

const conversation: Columns = {
  text: ['database', 'id', 'agent', 'createdBy'],
  json: ['parameters'],
  plain: ['createdAt', 'lastMessageAt', 'lastSeq', 'expiresAt'],
}
const interruption: Columns = {
  text: ['database', 'conversation', 'job', 'call', 'answeredBy'],
  json: ['view', 'bound', 'terms', 'answer'],
  plain: ['createdAt', 'expiresAt', 'settledAt'],
}
const agent: Columns = {
  text: ['database', 'id'],
  json: ['data', 'warnings', 'changed'],
  plain: ['revision', 'source'],
}
const reply: Columns = { text: ['key', 'digest', 'body', 'note'], plain: ['status', 'at'] }
const lastRun: Columns = { text: ['id'], plain: ['status', 'createdAt', 'endedAt'] }
const usage: Columns = { text: ['key'], plain: ['day', ...sumColumns, 'priceDate'] }

const block: Columns = {
  text: ['agent', 'scope', 'subject', 'conversation', 'id', 'kind', 'key', 'text'],
  json: ['writtenBy'],
  plain: ['revision', 'createdAt', 'updatedAt'],
}
const blockRevision: Columns = { text: ['text'], json: ['writtenBy'], plain: ['revision', 'at'] }
const written: Columns = { ...blockRevision, text: ['kind', 'text'] }

const asIs = (value: unknown): unknown => value
const parsed = (value: unknown): unknown => (value === null ? null : JSON.parse(value as string))

/** Reads rows with these columns, whose names may begin with something. */
function readerOf<Of>({ text, json = [], plain }: Columns, decode: (value: unknown) => string, begin = '') {
  const textOrNull = (value: unknown) => (value === null ? null : decode(value))
  const columns = [...text, ...json, ...plain].map((name, index) => {
    const read = index < text.length ? textOrNull : index < text.length + json.length ? parsed : asIs
    return [name, `${begin}${snakeCase(name)}`, read] as const
  })
  return (row: Row): Of => {
    const made: Record<string, unknown> = {}
    for (const [name, column, read] of columns) made[name] = read(row[column])
    return made as Of
  }
}

/** The readers of one driver, of every table but jobs. `text` decodes a stored text, and `about` what is told of a run. */
export function rowReaders(text: (value: unknown) => string, about: (value: unknown) => unknown = parsed) {
  const [ofConversation, ofInterruption] = [
    readerOf<ConversationRow>(conversation, text),
    readerOf<InterruptionRow>(interruption, text),
  ]
  const ofLastRun = readerOf<LastRun>(lastRun, text, 'run_')
  const ofUsage = readerOf<UsageRow>(usage, text)
  const conversationRow = (row: Row): ConversationRow => ({
    ...ofConversation(row),
    maxModelIterationsPerCall: row.max_iterations as number | null,
  })
  return {
    blockRow: readerOf<BlockRow>(block, text),
    revisionRow: readerOf<BlockRevision>(blockRevision, text),
    writtenRow: readerOf<WrittenBefore>(written, text),
    conversationRow,
    /** Needs the columns `beginning`, the first characters of its first entry, and `run_…` of its latest run. */
    listedConversation: (row: Row): ListedConversation => ({
      ...conversationRow(row),
      firstMessage: row.beginning === null ? null : firstWordsOf(row.beginning as string),
      lastRun: row.run_id === null ? null : { ...ofLastRun(row), about: about(row.run_about) },
    }),
    /** The state is a column of its own, so that settling does not rewrite the view. */
    interruptionRow(row: Row): InterruptionRow {
      const made = ofInterruption(row)
      return { ...made, view: { ...made.view, state: row.state as InterruptionRow['view']['state'] } }
    },
    agentRow: readerOf<AgentRow>(agent, text),
    replyRow: readerOf<ReplyRow>(reply, text),
    usageRow: (row: Row): UsageRow => ({ ...ofUsage(row), by: row.dimension as UsageRow['by'] }),
  }
}
