/** What replies and streams hold for readers that have not taken it, over all connections of the process, and the bound of it. */

/** How many bytes all of them hold together, at most; beyond it, those are cut off whose readers took nothing for longest. */
export const mostUnreadBytes = 256 * 1_048_576

/** What one of them holds. */
export interface Unread {
  bytes: number
  /** Called once beyond the bound. It must leave. */
  cut(): void
}

/** Those that are open, the one read last at the end. */
const open = new Set<Unread>()
let total = 0

/** How many bytes all of them hold now. */
export function unreadBytes(): number {
  return total
}

/** Begins to count; its reader counts as one that has just read. */
export function join(one: Unread): void {
  open.add(one)
}

/** Ends the count. False if it had left before. */
export function leave(one: Unread): boolean {
  count(one, 0)
  return open.delete(one)
}

/** Whether it has neither left nor been cut off. */
export function isOpen(one: Unread): boolean {
  return open.has(one)
}

/** Notes that its reader took something. False if it has left. */
export function wasRead(one: Unread): boolean {
  if (!open.delete(one)) return false
  open.add(one)
  return true
}

/** Counts what it holds from now on. If all together hold more than `most`, others are cut off. */
export function count(one: Unread, bytes: number, most = Number.POSITIVE_INFINITY): void {
  if (!open.has(one)) return
  total += bytes - one.bytes
  one.bytes = bytes
  for (const oldest of open) {
    if (total <= most) return
    if (oldest !== one && oldest.bytes > 0) oldest.cut()
  }
}
