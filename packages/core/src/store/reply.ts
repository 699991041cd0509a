/** Remembered replies: whose one is, and when one that never came is given up. */
import type { ReplyRow, Reservation } from './store.ts'

/** Whether this is the reply that the reservation began, and it is under way: it has neither an end nor a note. */
export function isHeld(row: ReplyRow | undefined, { at }: Reservation): boolean {
  return row !== undefined && row.at === at && row.status === null && row.note === null
}

/**
 * Whether a request counts as lost: it has neither a reply nor a run, and is old. Its key then counts for the same body again; another
 * body has no right to it. Should the first be alive after all, it stores nothing more under a key that was taken from it.
 */
export function isLost(row: ReplyRow, of: { readonly digest: string; readonly lostBefore: number }): boolean {
  return row.status === null && row.note === null && row.at < of.lostBefore && row.digest === of.digest
}
