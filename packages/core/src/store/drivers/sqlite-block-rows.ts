/** Rows of blocks of memory in the embedded store, inside one transaction. Deleted texts are overwritten in the file. */
import { isTurnSpent } from '../../identity/turn.ts'
import type { BlockOwner, BlockRevision, BlockRow, BlockUse } from '../../memory/records.ts'
import { blockSql } from '../sql/blocks.ts'
import { erasedKey } from '../../memory/write.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { jsonText } from './sqlite-rows.ts'

/** How many texts one statement writes or deletes. */
export const textsAtOnce = 4
const statementsAtOnce = 8

/** Whether a transaction that writes or deletes many texts has done enough, asked after each of its statements. */
export function enough(): () => boolean {
  let left = statementsAtOnce
  return () => {
    left -= 1
    return left === 0 || isTurnSpent()
  }
}

/** About how many characters such a transaction writes: it gets a turn, and its checkpoint another one. */
export const manyCharacters = 500_000

/**
 * Runs work whose deletions leave nothing in the file once its log is written back. All writes of blocks do: a text that SQLite moves to
 * another page would stay in the first one.
 */
export function overwriting<Result>({ db }: SqliteConnection, work: () => Result): Result {
  db.exec('pragma secure_delete = on')
  try {
    return work()
  } finally {
    db.exec('pragma secure_delete = off')
  }
}

interface Clock {
  readonly now: () => number
}

/** The number of a conversation that is there; null if it is deleted or expired. */
export function numberOf(
  { tuple }: SqliteConnection,
  { now }: Clock,
  { database, id }: { readonly database: string; readonly id: string },
): number | null {
  return (tuple(blockSql.conversationOf, database, id, now())?.[0] as number | undefined) ?? null
}

/** The values of an owner in statements; null if its conversation is deleted. */
export function placeOf(
  connection: SqliteConnection,
  clock: Clock,
  { database, owner }: { readonly database: string; readonly owner: BlockOwner },
) {
  const { agent, scope, subject, conversation } = owner
  const number = conversation === null ? null : numberOf(connection, clock, { database, id: conversation })
  if (conversation !== null && number === null) return null
  return [database, agent, scope, subject, number] as const
}

/** An owner, as statements take it. */
export type Place = NonNullable<ReturnType<typeof placeOf>>

/** What is known of a key of an owner. */
export function keyOf({ get }: SqliteConnection, at: Place, key: string): KnownKey | null {
  return get(blockSql.findKey, ...at, key) as KnownKey | null
}

/** The last revision of the blocks of an owner that were erased; 0 if none is known. */
export function lastErased(connection: SqliteConnection, at: Place): number {
  return keyOf(connection, at, erasedKey)?.last ?? 0
}

/** What is known of a key: the number of its row, its block's id if there is one, and the last revision. */
export interface KnownKey {
  readonly number: number
  readonly id: string | null
  readonly last: number
}

/** A block to add: whose it is, by the number of its conversation, and what it is without its texts. */
export interface PlacedBlock
  extends Pick<BlockRow, 'agent' | 'scope' | 'subject' | 'key' | 'kind' | 'revision' | 'createdAt'> {
  readonly database: string
  readonly conversation: number | null
  /** Null until readers may find it. */
  readonly id: string | null
  readonly characters: number
}

/**
 * Adds a block without revisions; `known` is what there was of its key. Returns its number. A block without an id counts as deleted, so that
 * what a process that ends leaves of it is removed.
 */
export function addBlock(
  connection: SqliteConnection,
  block: PlacedBlock,
  { known, now }: { readonly known: KnownKey | null; readonly now: number },
): number {
  const { database, agent, scope, subject, conversation, key, id, kind, revision, characters, createdAt } = block
  const { run } = connection
  const owner = [database, agent, scope, subject, conversation] as const
  const last = Math.max(revision, known?.last ?? lastErased(connection, owner))
  const counts = [revision, last, characters, createdAt, id === null ? now : null] as const
  const number = connection.nextBlock()
  run(blockSql.insertBlock, ...owner, key, id, kind, ...counts, number)
  if (known === null) return number
  run(blockSql.deleteKey, known.number)
  run(blockSql.moveRevisions, known.number, number)
  return number
}

/** Adds a revision of the block with this number. */
export function addRevision(
  { run }: SqliteConnection,
  number: number,
  {
    revision,
    kind,
    call,
    at,
    writtenBy,
    text,
  }: BlockRevision & Pick<BlockRow, 'kind'> & { readonly call: string | null },
): void {
  run(blockSql.insertRevision, number, revision, kind, call, at, jsonText(writtenBy), text)
}

/** Deletes the texts of a deleted block behind a revision while this turn has a share. Returns behind which some are left; null if none is. */
export function clearTexts({ tuples }: SqliteConnection, number: number, after: number): number | null {
  const isEnough = enough()
  for (let last = after; ; ) {
    const cleared = tuples(blockSql.clearTexts, number, last, textsAtOnce).map(([revision]) => revision as number)
    if (cleared.length < textsAtOnce) return null
    last = Math.max(...cleared)
    if (isEnough()) return last
  }
}

/** Which blocks are deleted: a statement that finds the next one, with its values. */
type Next = readonly [sql: string, ...values: (string | number | null)[]]

/**
 * Deletes blocks with all that is known of them while this turn has a share. A block loses its texts one after another, its present one
 * with the block itself. Returns how many readers found before, and whether none is left.
 */
export function deleteBlocks(
  connection: SqliteConnection,
  [sql, ...values]: Next,
  forget = (_number: number) => {},
): { readonly deleted: number; readonly isDone: boolean } {
  const { tuple, all, run } = connection
  const isEnough = enough()
  let deleted = 0
  do {
    const next = tuple(sql, ...values)
    if (next === null) return { deleted, isDone: true }
    const [number, isFound] = next as readonly [number, number]
    if (all(blockSql.deleteEarlier, number, textsAtOnce).length === textsAtOnce) continue
    forget(number)
    run(blockSql.deleteRevisions, number)
    run(blockSql.deleteKey, number)
    deleted += isFound
  } while (!isEnough())
  return { deleted, isDone: false }
}

/** Deletes all blocks about somebody as `deleteBlocks` does. Their owners count on behind the last revision that they had. */
export function eraseSome(connection: SqliteConnection, next: Next, now: number): ReturnType<typeof deleteBlocks> {
  return deleteBlocks(connection, next, (number) => {
    if (connection.all(blockSql.raiseErased, number, now).length > 0) return
    connection.run(blockSql.insertErased, number, now, connection.nextBlock())
  })
}

/** Deletes what is left of the blocks and uses of a conversation that is deleted, while this turn has a share. False if some is left. */
export function deleteBlocksOf(connection: SqliteConnection, number: number): boolean {
  const { all, tuple } = connection
  while (all(blockSql.deleteUses, number, textsAtOnce).length === textsAtOnce) if (isTurnSpent()) return false
  if (tuple(blockSql.firstOf, number) === null) return true
  return overwriting(connection, () => deleteBlocks(connection, [blockSql.firstOf, number]).isDone)
}

/** Notes that blocks were used in the conversation with this number. */
export function insertUse(
  { run }: SqliteConnection,
  { agent, subject }: Omit<BlockUse, 'conversation'>,
  { database, number }: { readonly database: string; readonly number: number },
): void {
  run(blockSql.insertUse, number, subject, agent, database)
}
