/** The latest plan of an agent, as its document keeps it. */
import type { PlanBody } from '@witan/protocol/entries'
import type { Words } from './said.ts'

/** A plan that was written. Its revisions go on counting after it is over. */
export interface KeptPlan {
  readonly revision: number
  /** Null once its agent has begun to work without planning: the plan is history then. */
  readonly body: PlanBody | null
  /** The line behind a summary that its agent has not read yet; null for none. */
  readonly unread: Words | null
}
