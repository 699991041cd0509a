/** Approvals of calls: when a call needs one, and what it may change. */
import type { JsonSchema } from './schema.ts'

/**
 * Decides whether one call needs a person's approval: it does unless this returns `false`. It gets a copy of the arguments
 * as the tool takes them, without bound values. It must be synchronous. If it throws, the person is asked.
 */
export type ApprovalPredicate = (args: Readonly<Record<string, unknown>>) => boolean

/** Limits of an approval's changes: they must fit the schema that the model was offered, and not touch bound names. */
export interface ApprovalTerms {
  readonly schema: JsonSchema
  readonly bound: readonly string[]
  /** Set if the schema alone decides which names it takes. */
  readonly takesAnyName?: true
}
