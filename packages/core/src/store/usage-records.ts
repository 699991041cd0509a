/** Sums of usage beside the log: they follow the entries, in the same append [T27]. */
import type { UsageDimension } from '@witan/protocol/schemas'

/** What is added up, in the order of the columns. A cost is known, or its reply or embedding is `unpriced`; `incomplete` counts what makes the sums a lower bound. */
export const sumColumns = [
  ...(['modelCalls', 'toolCalls', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const),
  ...(['cacheWriteTokens', 'costUsd', 'unpriced', 'incomplete'] as const),
]

/** Sums, and the oldest date of a price table that a cost is from; null without one. */
export interface UsageSums extends Readonly<Record<(typeof sumColumns)[number], number>> {
  readonly priceDate: string | null
}

/** The sums of one key and day. `day` counts from 1970-01-01, UTC; by `day` the key is empty. */
export interface UsageRow extends UsageSums {
  readonly by: UsageDimension
  readonly key: string
  readonly day: number
}

/** A page of rows, behind the row `after`. That row need not exist. */
export interface UsagePage {
  readonly by: UsageDimension
  readonly after: Pick<UsageRow, 'key' | 'day'> | null
  readonly limit: number
}

/** The methods of a store about usage. It derives the rows from the entries that it stores, see `Append.usedBy`; what no entry has is added. */
export interface UsageRecords {
  /** Rows in the order of their keys, and of their days within a key. */
  listUsage(database: string, page: UsagePage): Promise<readonly UsageRow[]>
  /** Adds what was used outside of conversations to the sums: rows by model and by day. It is added once at most, and lost with a lost connection. */
  addUsage(database: string, rows: readonly UsageRow[]): Promise<void>
}
