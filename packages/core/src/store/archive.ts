/** Finds conversations in which nothing is open any more, for an archive that takes them out of a store. */
import { conversationIds, exportedAlone } from './export.ts'
import type { MovingLine } from './export-lines.ts'
import type { ConversationState } from './still.ts'
import type { ListedConversation, OpenSnapshot, Store } from './store.ts'

/** One conversation of a database. */
export interface ConversationPlace {
  readonly database: string
  readonly id: string
}

/** A conversation that ended: its export with its blocks of memory, as a file of its own, and what it was when it was read. */
export interface EndedConversation {
  readonly as: ConversationState
  readonly lines: AsyncIterable<MovingLine>
}

/**
 * The ids of conversations that may have ended before this time, oldest first; `readEnded` finds out. One that is deleted meanwhile may
 * be among them.
 */
export function endedIds(store: Store, database: string, before: number): Promise<readonly string[]> {
  return conversationIds(store, database, (row) => mayHaveEnded(row, before))
}

function mayHaveEnded({ lastMessageAt, lastRun }: ListedConversation, before: number): boolean {
  return lastMessageAt < before && (lastRun === null || (lastRun.endedAt !== null && lastRun.endedAt < before))
}

/**
 * Reads a conversation if it ended: all its runs and tasks ended before this time, nothing was appended since, and no interruption is
 * open. Null if it did not, or is gone. It holds no lock, so what is appended later is told from what was read by `as`.
 */
export async function readEnded(
  store: Store,
  { database, id }: ConversationPlace,
  before: number,
): Promise<EndedConversation | null> {
  const snapshot = await store.openSnapshot(database, id)
  if (snapshot === null) return null
  const { createdAt, lastSeq, lastMessageAt } = snapshot.row
  const [last] = await store.readEntries(database, id, { after: lastSeq - 1, limit: 1 })
  if (Math.max(lastMessageAt, last?.at ?? 0) >= before || !(await hasEnded(snapshot, before))) return null
  return { as: { createdAt, lastSeq }, lines: exportedAlone(store, database, snapshot) }
}

async function hasEnded({ jobs, interruptions }: OpenSnapshot, before: number): Promise<boolean> {
  for await (const { endedAt } of jobs) if (endedAt === null || endedAt >= before) return false
  for await (const { view } of interruptions) if (view.state === 'open') return false
  return true
}
