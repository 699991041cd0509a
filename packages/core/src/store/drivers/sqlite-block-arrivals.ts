/** Blocks with all their texts that are copied or imported in the embedded store, a few texts in each turn. Readers find a block once it is whole. */
import { nextTurn } from '../../identity/turn.ts'
import type { BlockRevision, BlockRow } from '../../memory/records.ts'
import { piecesOf } from '../pieces.ts'
import { blockSql } from '../sql/blocks.ts'
import {
  addBlock,
  addRevision,
  enough,
  type KnownKey,
  keyOf,
  manyCharacters,
  overwriting,
  type PlacedBlock,
  placeOf,
  textsAtOnce,
} from './sqlite-block-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSession } from './sqlite-session.ts'

interface Copying {
  readonly database: string
  readonly from: string
  readonly to: string
  idOf(): string
}

/** A row of `listCopied`. */
type CopiedRow = Pick<PlacedBlock, 'agent' | 'scope' | 'subject' | 'key' | 'kind' | 'revision' | 'characters'> & {
  readonly number: number
  readonly created_at: number
}

/** What is still to be copied. A block is found once all its texts are there. */
interface Left {
  readonly database: string
  readonly to: number
  readonly rows: CopiedRow[]
  /** The copy under way. */
  begun: number | null
}

/** Copies blocks and uses; nothing if the other conversation is deleted, or has blocks. */
export async function copyBlocks(session: SqliteSession, { database, from, to, idOf }: Copying): Promise<void> {
  const left = await session.write(({ tuple, all, run }): Left | null => {
    const [source, target] = [from, to].map((id) => tuple(blockSql.conversationOf, database, id, session.now())?.[0])
    if (source === undefined || target === undefined || tuple(blockSql.hasBlocks, target) !== null) return null
    run(blockSql.copyUses, source, target)
    return {
      database,
      to: target as number,
      rows: [...all(blockSql.listCopied, source)] as unknown as CopiedRow[],
      begun: null,
    }
  }, true)
  if (left === null) return
  const ids = left.rows.map(idOf)
  const copy = (connection: SqliteConnection) =>
    overwriting(connection, () => copySome(connection, { left, ids, now: session.now() }))
  while (!(await session.write(copy, true, manyCharacters))) await nextTurn()
}

function copySome(
  connection: SqliteConnection,
  { left, ids, now }: { readonly left: Left; readonly ids: string[]; readonly now: number },
): boolean {
  const { all, run } = connection
  const isEnough = enough()
  for (let [row] = left.rows; row !== undefined; [row] = left.rows) {
    if (isEnough()) return false
    left.begun ??= beginCopy(connection, { ...left, now }, row)
    if (left.begun !== null) {
      if (all(blockSql.copyRevisions, row.number, left.begun, textsAtOnce).length === textsAtOnce) continue
      run(blockSql.setArrived, left.begun, ids.shift() as string)
    }
    left.rows.shift()
    left.begun = null
  }
  return true
}

/** Adds a copy that no reader finds yet. Null if somebody wrote a block of its key meanwhile. */
function beginCopy(
  connection: SqliteConnection,
  { database, to, now }: Left & { readonly now: number },
  row: CopiedRow,
): number | null {
  const { number: _, created_at: createdAt, ...block } = row
  const { agent, scope, subject, key } = block
  const known = connection.get(blockSql.findKey, database, agent, scope, subject, to, key) as KnownKey | null
  if (known !== null && known.id !== null) return null
  return addBlock(connection, { ...block, database, conversation: to, id: null, createdAt }, { known, now })
}

interface Arriving {
  readonly database: string
  readonly block: BlockRow
  readonly revisions: readonly BlockRevision[]
}

/** Adds a block with its revisions: if they are short, in one transaction. False if its key or id is taken, also meanwhile. */
export async function putBlock(session: SqliteSession, arriving: Arriving): Promise<boolean> {
  const pieces = [...piecesOf(arriving.revisions, ({ text }) => text.length)]
  let number: number | null = null
  for (const [index, revisions] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    if (index > 0) await nextTurn()
    const put = (connection: SqliteConnection) =>
      overwriting(connection, () => putPiece(connection, session, { ...arriving, revisions, number, isLast }))
    number = await session.write(
      put,
      true,
      revisions.reduce((sum, { text }) => sum + text.length, 0),
    )
    if (number === null) return false
  }
  return number !== null
}

function putPiece(
  connection: SqliteConnection,
  session: SqliteSession,
  { number, isLast, ...piece }: Arriving & { readonly number: number | null; readonly isLast: boolean },
): number | null {
  const { tuple, run } = connection
  const { database, block, revisions } = piece
  if (tuple(blockSql.findBlock, database, block.id) !== null) return null
  if (number !== null && tuple(blockSql.isArriving, number) === null) return null
  const place = number ?? beginPut(connection, session, piece)
  if (place === null) return null
  for (const one of revisions) addRevision(connection, place, { ...one, kind: block.kind, call: null })
  if (isLast) run(blockSql.setArrived, place, block.id)
  return place
}

function beginPut(connection: SqliteConnection, session: SqliteSession, { database, block }: Arriving): number | null {
  const at = placeOf(connection, session, { database, owner: block })
  const known = at === null ? null : keyOf(connection, at, block.key)
  if (at === null || (known !== null && known.id !== null)) return null
  const place = { database, conversation: at[4], id: null, characters: block.text.length }
  return addBlock(connection, { ...block, ...place }, { known, now: session.now() })
}
