/** Who made a change, and when. */
import type { ChangeVia } from '@witan/protocol/keys'
import type { Principal } from './principal.ts'

/** A change: the principal's id, how it was known, and the time in ms of the store's clock. */
export interface Changed {
  readonly by: string
  readonly via: ChangeVia
  readonly at: number
}

/** A change by this principal. */
export function changedBy({ id, via = 'local' }: Principal, now: number): Changed {
  return { by: id, via, at: Math.trunc(now) }
}

/** The change in the form that readers get, with null for all three if it is not known. */
export function shownChange(changed: Changed | null): {
  readonly by: string | null
  readonly via: ChangeVia | null
  readonly at: string | null
} {
  if (changed === null) return { by: null, via: null, at: null }
  const { by, via, at } = changed
  return { by, via, at: new Date(at).toISOString() }
}
