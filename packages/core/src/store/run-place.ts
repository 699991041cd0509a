/** The order of runs by their last change. */
import type { RunPlace } from './store.ts'

/** Sorts the last changed first; of those that changed at once, by id from the end. */
export function lastChangedFirst(one: RunPlace, other: RunPlace): number {
  return other.changedAt - one.changedAt || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)
}
