/** On what terms an append is stored, and why it is refused. */
import type { Entry } from '@witan/protocol/entries'

/** How many runs of a principal may be live. */
export interface RunLimit {
  readonly createdBy: string
  readonly most: number
}

/** The last stored entry that a writer knows, null for none, and the history (`Store.history`) in which it was known to be stored. */
export interface Followed {
  readonly history: number
  readonly entry: Entry | null
}

/**
 * Why an append was refused. The first reason counts, in this order: reply, existence, what it follows, fence, seq, interruptions, content,
 * jobs, limit.
 */
export type Refusal =
  | 'reply-taken'
  | 'exists'
  | 'missing'
  | 'went-back'
  | 'fenced'
  | 'moved'
  | 'active'
  | 'inactive'
  | 'woken'
  | 'settled'
  | 'contentless'
  | 'too-many'
