/** What a child reads of its caller's document. */
import type { Naming } from '../parameter/known-people.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { Said } from './said.ts'

/**
 * The part of its caller's document that a child reads if the edge shares it, as of the child's start [C5]. The model reads it, but
 * the child's document does not contain it: the next delegation reads the caller's document as it is then.
 */
export interface SharedHistory {
  readonly said: readonly Said[]
  /** The shared range of `said`; `upTo` is exclusive. */
  readonly from: number
  readonly upTo: number
  /** Tools that are agents: exchanges with them are left out. */
  readonly others: ReadonlySet<string>
  /** Removes every value that the child may not see. */
  readonly scrub: Scrubber
  /** The names by which the child knows people. */
  readonly naming: Naming
}
