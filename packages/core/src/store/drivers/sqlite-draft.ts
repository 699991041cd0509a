/**
 * A new conversation with many rows is written in pieces, each in a transaction and a turn of its own. The rows belong to no
 * conversation until the last piece creates it, so it is whole or not there, whenever the process ends.
 */
import { nextTurn } from '../../identity/turn.ts'
import { piecesOf } from '../pieces.ts'
import { logSql } from '../sql/log.ts'
import type { WriteCache } from './sqlite-append.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** A row of a draft, and about how many characters it has. A commit of a piece takes about ten milliseconds. */
export interface DraftRow {
  readonly size: number
  /** Stores it under a number. False if it may not be stored: then nothing of the conversation is. */
  write(connection: SqliteConnection, number: number): boolean
}

/** A new conversation that is written in pieces. */
interface Draft<Result> {
  /** Each is made before its piece is written. */
  readonly rows: Iterable<DraftRow>
  /** The result if a row was refused. */
  readonly refused: Result
  /** The result if the conversation may not be stored as things are; else null. Asked before the first row and before the last. */
  refusal(connection: SqliteConnection, cache: WriteCache): Result | null
  /** Whether the rows of this number are still all of it. Asked after the last row. Default: yes. */
  isWhole?(connection: SqliteConnection, number: number): boolean
  /** Creates the conversation to which all rows of this number belong from now on. */
  finish(connection: SqliteConnection, cache: WriteCache, number: number): Result
}

/** Writes a draft: if it is small, in one transaction, in which it takes its turn among the other writes. */
export async function writeDraft<Result>(session: SqliteSession, draft: Draft<Result>): Promise<Result> {
  let place: DraftPlace | null = null
  try {
    let piece: readonly DraftRow[] = []
    for (const next of piecesOf(draft.rows, ({ size }) => size)) {
      if (piece.length > 0) {
        const isFirst = place === null
        place ??= await newPlace(session)
        const [rows, { number }] = [piece, place]
        const refusal = await session.write((...at) => putPiece(draft, rows, { at, number, isFirst }), true)
        if (refusal !== null) return refusal
        await nextTurn()
      }
      piece = next
    }
    const number = place?.number ?? null
    return await session.write((...at) => putLast(draft, piece, { at, number }), true)
  } finally {
    place?.drafts.delete(place.number)
  }
}

/** A number that `drafts` has while its rows are written: nobody else deletes them. */
interface DraftPlace {
  readonly number: number
  readonly drafts: Set<number>
}

function newPlace(session: SqliteSession): Promise<DraftPlace> {
  return session.read(({ nextConversation }, { drafts }) => {
    const number = nextConversation()
    drafts.add(number)
    return { number, drafts }
  })
}

type At = readonly [connection: SqliteConnection, cache: WriteCache]

function putPiece<Result>(
  draft: Draft<Result>,
  piece: readonly DraftRow[],
  { at, number, isFirst }: { readonly at: At; readonly number: number; readonly isFirst: boolean },
): Result | null {
  const [connection] = at
  if (isFirst) {
    const refusal = draft.refusal(...at)
    if (refusal !== null) return refusal
    connection.run(logSql.unlink, number)
  }
  return piece.every((row) => row.write(connection, number)) ? null : draft.refused
}

function putLast<Result>(
  draft: Draft<Result>,
  piece: readonly DraftRow[],
  { at, number }: { readonly at: At; readonly number: number | null },
): Result {
  const [connection] = at
  const refusal = draft.refusal(...at)
  if (refusal !== null) return refusal
  const own = number ?? connection.nextConversation()
  if (piece.every((row) => row.write(connection, own)) && (draft.isWhole?.(connection, own) ?? true)) {
    if (number !== null) connection.run(logSql.link, own)
    return draft.finish(...at, own)
  }
  connection.run(logSql.unlink, own)
  return draft.refused
}
