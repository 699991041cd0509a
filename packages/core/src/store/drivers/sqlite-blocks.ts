/** Blocks of agents' memory in the embedded store. */
import { nextTurn } from '../../identity/turn.ts'
import {
  type BlockFilter,
  type BlockRecords,
  type BlockResult,
  type BlockRow,
  type BlockWrite,
  keptRevisions,
} from '../../memory/records.ts'
import { type BlockStanding, decideWrite, deletedKeyMs, type OwnBlock, resultAgain } from '../../memory/write.ts'
import { pageStart } from '../cursor.ts'
import type { RowPage } from '../../identity/row-page.ts'
import { blockSql } from '../sql/blocks.ts'
import { copyBlocks, putBlock } from './sqlite-block-arrivals.ts'
import {
  addBlock,
  addRevision,
  clearTexts,
  deleteBlocks,
  eraseSome,
  insertUse,
  keyOf,
  type KnownKey,
  lastErased,
  manyCharacters,
  numberOf,
  overwriting,
  type Place,
  placeOf,
} from './sqlite-block-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { blockRow, revisionRow, writtenRow } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** The methods of a store that are about blocks. */
export function blockMethods(session: SqliteSession): BlockRecords {
  return {
    readBlocks: (database, owners) =>
      session.read((connection) =>
        owners.flatMap((owner) => {
          const at = placeOf(connection, session, { database, owner })
          return at === null ? [] : connection.all(blockSql.readBlocks, ...at).map(blockRow)
        }),
      ),
    writeBlock: (database, write) => writeBlock(session, database, write),
    async noteBlockUse(database, use) {
      const missing = (connection: SqliteConnection) => {
        const number = numberOf(connection, session, { database, id: use.conversation })
        const isNoted = number === null || connection.tuple(blockSql.hasUse, number, use.subject, use.agent) !== null
        return isNoted ? null : number
      }
      if ((await session.read(missing)) === null) return
      await session.write((connection) => {
        const number = missing(connection)
        if (number !== null) insertUse(connection, use, { database, number })
      }, true)
    },
    listBlocks: (database, page) => session.read((connection) => listBlocks(connection, database, page)),
    getBlock: (database, id) =>
      session.read(({ get }) => {
        const row = get(blockSql.getBlock, database, id)
        return row === null ? null : blockRow(row)
      }),
    listBlockRevisions: (database, id, page) =>
      session.read((connection) => listRevisions(connection, { database, id, page })),
    async deleteBlock(database, id) {
      const number = await session.write((connection) => {
        const found = connection.tuple(blockSql.findBlock, database, id)
        if (found === null) return null
        const [number, last] = found as readonly [number, number]
        connection.run(blockSql.setDeleted, number, last + 1, session.now())
        return number
      }, true)
      if (number !== null) await clear(session, number)
      return number !== null
    },
    eraseBlocks: (database, { subject, agent }) => eraseAll(session, [blockSql.firstAbout, database, subject, agent]),
    listBlockUses: (database, { subject, agent, limit, after }) =>
      session.read(({ tuples }) =>
        tuples(blockSql.listUses, database, subject, agent, after, limit, session.now()).map(([id]) => id as string),
      ),
    copyBlocks: (database, ...[from, to, idOf]) => copyBlocks(session, { database, from, to, idOf }),
    putBlock: (database, block, revisions) => putBlock(session, { database, block, revisions }),
  }
}

function listBlocks(
  { tuple, some }: SqliteConnection,
  database: string,
  page: RowPage & BlockFilter,
): readonly BlockRow[] {
  const { limit, after, bound, agent, subject, scope, kind, conversation = null } = page
  const last = after === null ? null : pageStart(tuple(blockSql.findBlock, database, after))
  const below = (last?.[0] as number | undefined) ?? Number.MAX_SAFE_INTEGER
  const values = [database, below, limit, agent, scope, kind] as const
  if (conversation !== null) return some(bound, blockSql.listBlocksOf, ...values, subject, conversation).map(blockRow)
  const rows =
    subject === null
      ? some(bound, blockSql.listBlocks, ...values)
      : some(bound, blockSql.listBlocksAbout, ...values, subject)
  return rows.map(blockRow)
}

function listRevisions(
  { tuple, some }: SqliteConnection,
  { database, id, page }: { readonly database: string; readonly id: string; readonly page: RowPage },
) {
  const { limit, after, bound } = page
  const block = (tuple(blockSql.findBlock, database, id)?.[0] as number | undefined) ?? null
  const place = after !== null && /^[1-9]\d{0,14}$/.test(after) ? Number(after) : null
  if (after !== null) pageStart(place === null ? null : tuple(blockSql.hasRevision, block, place))
  return some(bound, blockSql.listRevisions, block, place ?? Number.MAX_SAFE_INTEGER, limit).map(revisionRow)
}

/** Deletes the texts of a deleted block, a few in each turn. What a process that ends leaves goes when the file is opened. */
async function clear(session: SqliteSession, number: number): Promise<void> {
  for (let after: number | null = 0; after !== null; ) {
    const from: number = after
    if (from > 0) await nextTurn()
    after = await session.write(
      (connection) => overwriting(connection, () => clearTexts(connection, number, from)),
      true,
      manyCharacters,
    )
  }
}

/** Erases all blocks that a statement finds, a few in each turn. Returns how many readers found before. */
async function eraseAll(session: SqliteSession, next: Parameters<typeof eraseSome>[1]): Promise<number> {
  for (let all = 0; ; ) {
    const { deleted, isDone } = await session.write(
      (connection) => overwriting(connection, () => eraseSome(connection, next, session.now())),
      true,
      manyCharacters,
    )
    all += deleted
    if (isDone) return all
    await nextTurn()
  }
}

async function writeBlock(session: SqliteSession, database: string, write: BlockWrite): Promise<BlockResult> {
  const { owner, by, text } = write
  const work = (connection: SqliteConnection): Written => {
    const at = placeOf(connection, session, { database, owner })
    const conversation = by.conversationId
    const user = conversation === null ? null : numberOf(connection, session, { database, id: conversation })
    if (at === null || (conversation !== null && user === null)) return { result: { ok: false, reason: 'gone' } }
    const { agent, subject } = owner
    if (user !== null && subject !== null) insertUse(connection, { agent, subject }, { database, number: user })
    return overwriting(connection, () => writeAt(connection, { at, write, now: session.now() }))
  }
  const { result, cleared } = await session.write(work, true, text.length)
  if (cleared !== undefined) await clear(session, cleared)
  return result
}

interface Written {
  readonly result: BlockResult
  /** The number of a block that was deleted. */
  readonly cleared?: number
}

function writeAt(
  connection: SqliteConnection,
  { at, write, now }: { readonly at: Place; readonly write: BlockWrite; readonly now: number },
): Written {
  const { key, call, by: writtenBy } = write
  deleteBlocks(connection, [blockSql.firstDeleted, now - deletedKeyMs])
  const known = keyOf(connection, at, key)
  const decision = decideWrite(write, standingOf(connection, { at, write, known }))
  if (decision.kind === 'done') return { result: decision.result }
  if (decision.kind === 'delete') {
    const { number } = known as KnownKey
    const { revision } = decision
    connection.run(blockSql.setDeleted, number, revision, now)
    connection.run(blockSql.insertRevision, number, revision, 'core', call, write.at, null, null)
    return { result: { ok: true, revision, block: null }, cleared: number }
  }
  const { row } = decision
  const { revision, kind, text } = row
  const isThere = known !== null && known.id !== null
  const place = { database: at[0], conversation: at[4], characters: text.length }
  const number = isThere ? known.number : addBlock(connection, { ...row, ...place }, { known, now })
  if (isThere) connection.run(blockSql.updateBlock, number, kind, revision, text.length)
  addRevision(connection, number, { revision, kind, call, at: row.updatedAt, writtenBy, text })
  connection.run(blockSql.forgetRevisions, number, revision - keptRevisions)
  return { result: { ok: true, revision, block: row } }
}

function standingOf(
  connection: SqliteConnection,
  { at, write, known }: { readonly at: Place; readonly write: BlockWrite; readonly known: KnownKey | null },
): BlockStanding {
  const { get, all } = connection
  const there = known === null || known.id === null ? null : get(blockSql.getBlock, at[0], known.id)
  const current = there === null ? null : blockRow(there)
  const again = known === null || write.call === null ? null : get(blockSql.findCall, known.number, write.call)
  const done = resultAgain(again === null ? null : writtenRow(again), current)
  const own = all(blockSql.listOwn, ...at) as unknown as readonly OwnBlock[]
  return { current, last: known?.last ?? lastErased(connection, at), done, own }
}
