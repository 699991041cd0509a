/** What lists of conversations and interruptions leave out. */
import type { ReadLimit } from '../identity/rights.ts'

/** Which conversations a list wants; null for all. */
export interface ConversationFilter {
  readonly agent: string | null
  readonly createdBy: string | null
  /** The id of a person. */
  readonly participant?: string | null
}

/** Who lists interruptions: one that sees those of its conversations, and those for one of its addressees. Null: without an addressee. */
export interface InterruptionReader extends ReadLimit {
  readonly addressees: readonly (string | null)[]
}
