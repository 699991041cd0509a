/** On what terms an append is stored, and why it is refused. */

/** How many runs of a principal may be live. */
export interface RunLimit {
  readonly createdBy: string
  readonly most: number
}

/** Why an append was refused. The first reason counts, in this order: reply, existence, fence, seq, interruptions, content, jobs, limit. */
export type Refusal =
  | 'reply-taken'
  | 'exists'
  | 'missing'
  | 'fenced'
  | 'moved'
  | 'active'
  | 'inactive'
  | 'woken'
  | 'settled'
  | 'contentless'
  | 'too-many'
