/** Idempotent replies: which request holds one, and when a pending one counts as lost. */
import type { ReplyRow, Reservation } from './reply-records.ts'

/** Whether this row is the reservation's reply and is pending: it has neither a status nor a note. */
export function isHeld(row: ReplyRow | undefined, { at }: Reservation): boolean {
  return row !== undefined && row.at === at && row.status === null && row.note === null
}

/**
 * Whether a request counts as lost: it is old and has neither a reply nor a note. A request with the same body may then use the key
 * again, another body may not. If the first request is still alive, it can store nothing more under that key.
 */
export function isLost(row: ReplyRow, of: { readonly digest: string; readonly lostBefore: number }): boolean {
  return row.status === null && row.note === null && row.at < of.lostBefore && row.digest === of.digest
}
