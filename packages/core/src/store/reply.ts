/** Remembered replies: when one that never came is given up. */
import type { ReplyRow } from './store.ts'

/**
 * Whether a request was lost with its process: it has neither a reply nor a run, and is older than any that are at work. Its key then
 * counts for the same body again; another body has no right to it.
 */
export function isLost(row: ReplyRow, of: { readonly digest: string; readonly lostBefore: number }): boolean {
  return row.status === null && row.note === null && row.at < of.lostBefore && row.digest === of.digest
}
