/** Snapshots that are read a few rows at a time. A log only grows, and ended jobs and settled interruptions never change, so no lock is needed. */
import { isWitanError, WitanError } from '@witan/protocol'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import type { ConversationSnapshot, OpenSnapshot, SnapshotRows } from './store.ts'

/** How many rows are read at once, unless they are long. */
const pageSize = 1000

/**
 * The rows at the positions from 0 to `count`. `read` gets positions, the second exclusive, and returns at least the first row; null if the
 * conversation was deleted.
 */
export function rowsOf<Row>(
  id: string,
  count: number,
  read: (from: number, to: number) => Promise<readonly Row[] | null>,
): SnapshotRows<Row> {
  return {
    count,
    async *[Symbol.asyncIterator]() {
      for (let from = 0; from < count; ) {
        if (isTurnSpent()) await nextTurn()
        const rows = await read(from, Math.min(count, from + pageSize))
        if (rows === null || rows.length === 0) throw goneError(id)
        for (const row of rows) {
          if (isTurnSpent()) await nextTurn()
          yield row
        }
        from += rows.length
      }
    },
  }
}

function goneError(id: string): WitanError {
  return new WitanError('NOT_FOUND', `Conversation \`${id}\` was deleted while it was read.`, {
    hint: 'Start again: what was read so far is not complete.',
  })
}

/** Other rows made of these. */
export function mapped<Row, Made>(
  rows: SnapshotRows<Row>,
  make: (row: Row) => Made | Promise<Made>,
): SnapshotRows<Made> {
  return {
    count: rows.count,
    async *[Symbol.asyncIterator]() {
      for await (const row of rows) yield await make(row)
    },
  }
}

/** Rows that are in memory. */
export function listed<Row>(list: readonly Row[]): SnapshotRows<Row> {
  return rowsOf('', list.length, async (from, to) => list.slice(from, to))
}

/** A snapshot that is in memory. */
export function opened(snapshot: ConversationSnapshot): OpenSnapshot {
  const { row, entries, jobs, interruptions, contents = [], participants = [] } = snapshot
  return {
    row,
    entries: listed(entries),
    jobs: listed(jobs),
    interruptions: listed(interruptions),
    contents: listed(contents),
    participants,
  }
}

async function all<Row>(rows: SnapshotRows<Row>): Promise<readonly Row[]> {
  const list: Row[] = []
  for await (const row of rows) list.push(row)
  return list
}

/** The snapshot with all its rows in memory. */
export async function collected(snapshot: OpenSnapshot): Promise<ConversationSnapshot> {
  const { row, participants } = snapshot
  const contents = await all(snapshot.contents)
  return {
    row,
    entries: await all(snapshot.entries),
    jobs: await all(snapshot.jobs),
    interruptions: await all(snapshot.interruptions),
    ...(contents.length === 0 ? {} : { contents }),
    ...(participants.length === 0 ? {} : { participants }),
  }
}

/** The same; null if there is none, or if it was deleted while it was read. */
export async function collectedIfThere(snapshot: OpenSnapshot | null): Promise<ConversationSnapshot | null> {
  try {
    return snapshot && (await collected(snapshot))
  } catch (error) {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return null
    throw error
  }
}
