/** Lists of the runs that one principal began, by their last change. */
import type { TaskStatus } from '@witan/protocol'
import type { RowPage } from '../identity/row-page.ts'

/** Which runs of a principal a list wants: of some agents, of one conversation, live or not, in one status, changed since then; null for all. */
export interface RunsOf {
  readonly createdBy: string
  readonly agents: readonly string[] | null
  readonly conversation: string | null
  readonly live: boolean | null
  readonly status: TaskStatus | null
  /** The least `changedAt`. */
  readonly since: number | null
}

/** Where a run stands in a list by its last change. It stays there when the run itself has moved on. */
export interface RunPlace {
  readonly changedAt: number
  readonly id: string
}

/** A part of a list of runs. */
export interface RunsPage extends Omit<RowPage, 'after'> {
  /** Exclusive; null for the beginning. */
  readonly after: RunPlace | null
  /** How many runs of the principal are looked at, at most, whether they are wanted or not. A store may leave live ones out of the count. */
  readonly look: number
}

/** Sorts the last changed first; of those that changed at once, by id from the end. */
export function lastChangedFirst(one: RunPlace, other: RunPlace): number {
  return other.changedAt - one.changedAt || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)
}
