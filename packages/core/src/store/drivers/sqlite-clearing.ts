/** Deletes what belongs to no conversation: the rest of long ones that were deleted, and what a killed process had begun to write. */
import { nextTurn } from '../../identity/turn.ts'
import { logSql } from '../sql/log.ts'
import type { WriteCache } from './sqlite-append.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { sweepContents } from './sqlite-contents.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { deleteRows } from './sqlite-unlinked.ts'

/** Content that a deletion released is unused since 0. */
const released = 1

/** The first number whose rows nobody writes and no conversation has; null if there is none. A process that was killed may have left some. */
export function firstUnlinked({ tuples }: SqliteConnection, { drafts }: WriteCache): number | null {
  const all = tuples(logSql.listUnlinked).map(([number]) => number as number)
  return all.find((number) => !drafts.has(number)) ?? null
}

/** Deletes all rows that belong to no conversation, a few in each turn, and the content that is unused then. */
export async function clearUnlinked(session: SqliteSession): Promise<void> {
  for (;;) {
    const number = await session.read(firstUnlinked)
    if (number === null) break
    await nextTurn()
    await session.write((connection) => deleteRows(connection, number), true)
  }
  await sweepContents(session, released)
}
