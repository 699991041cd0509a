/** Blocks of agents' memory on PostgreSQL. */
import { pageStart } from '../../cursor.ts'
import type {
  BlockFilter,
  BlockOwner,
  BlockRecords,
  BlockResult,
  BlockRevision,
  BlockRow,
  BlockUse,
  BlockWrite,
} from '../../../memory/records.ts'
import { pause } from '../../../identity/turn.ts'
import { decideWrite, deletedKeyMs, type OwnBlock, resultAgain } from '../../../memory/write.ts'
import { piecesOf } from '../../pieces.ts'
import type { RowPage } from '../../../identity/row-page.ts'
import { blockSql, filterColumns, listBlocks } from '../../sql/postgres/blocks.ts'
import { logSql } from '../../sql/postgres/log.ts'
import type { Transaction } from './connection.ts'
import { newMark } from './ids.ts'
import { blockRow, revisionRow, writtenRow } from './rows.ts'
import { conclude, type PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import type { Row, Statement } from './statements.ts'
import { jsonText, restored, stored } from './text.ts'
import { confirmation } from './writing.ts'

/** The time-out for a deletion: a block with many long revisions takes longest. */
const deleteMs = 60_000

/** The methods of a store that are about blocks. */
export function blockMethods(session: PostgresSession): BlockRecords {
  const first = async (at: string, query: Statement) => (await session.read(at, query))[0] ?? []
  return {
    async readBlocks(database, owners) {
      if (owners.length === 0) return []
      const all = owners.map((owner) => placeOf('', owner).slice(1))
      const values = [0, 1, 2, 3].map((column) => all.map((place) => place[column] as string))
      const at = stored(database)
      return (await first(at, [blockSql.readBlocks, at, ...values])).map(blockRow)
    },
    writeBlock: (database, write) => writeBlock(session, stored(database), write),
    async noteBlockUse(database, { conversation, subject, agent }) {
      const at = stored(database)
      const query: Statement = [blockSql.noteUse, at, ...[conversation, subject, agent].map(stored)]
      await session.work((mayBeDone) =>
        session.connection.run({ database: at }, [query], { pool: 'write', confirms: mayBeDone }),
      )
    },
    listBlocks: (database, page) => list(session, stored(database), page),
    async getBlock(database, id) {
      const at = stored(database)
      const [row] = await first(at, [blockSql.getBlock, at, stored(id)])
      return row === undefined ? null : blockRow(row)
    },
    listBlockRevisions: (database, id, page) => listRevisions(session, [stored(database), stored(id)], page),
    deleteBlock: (database, id) => deleteBlock(session, stored(database), stored(id)),
    eraseBlocks: (database, about) => eraseBlocks(session, stored(database), about),
    async listBlockUses(database, { subject, agent, limit, after }) {
      const at = stored(database)
      const values = [agent, after].map((value) => (value === null ? null : stored(value)))
      const rows = await first(at, [blockSql.listUses, at, stored(subject), ...values, limit])
      return rows.map(({ id }) => restored(id as string))
    },
    copyBlocks: (database, ...[from, to, idOf]) =>
      copyBlocks(session, stored(database), { from: stored(from), to: stored(to), idOf }),
    putBlock: (database, block, revisions) => putBlock(session, stored(database), { block, revisions }),
  }
}

/** The values of an owner in statements. */
function placeOf(at: string, { agent, scope, subject, conversation }: BlockOwner) {
  return [at, stored(agent), scope, stored(subject ?? ''), stored(conversation ?? '')] as const
}

type Place = ReturnType<typeof placeOf>

async function list(session: PostgresSession, at: string, page: RowPage & BlockFilter): Promise<readonly BlockRow[]> {
  const { limit, after, bound } = page
  const last = after === null ? null : await session.read(at, [blockSql.blockPlace, at, stored(after)])
  const below = last === null ? Number.MAX_SAFE_INTEGER : (pageStart(last[0]?.[0]).number as number)
  const wanted = filterColumns.flatMap((name) => page[name] ?? []).map(stored)
  const query: Statement = [listBlocks(page), at, below, limit, ...wanted]
  return (await someRows(session, { database: at, query, long: ['text'] }, bound)).map(blockRow)
}

async function listRevisions(
  session: PostgresSession,
  [at, id]: readonly [string, string],
  { limit, after, bound }: RowPage,
): Promise<readonly BlockRevision[]> {
  let below = Number.MAX_SAFE_INTEGER
  if (after !== null) {
    below = pageStart(/^[1-9]\d{0,14}$/.test(after) ? Number(after) : null)
    const [rows = []] = await session.read(at, [blockSql.revisionPlace, at, id, below])
    pageStart(rows[0])
  }
  const query: Statement = [blockSql.listRevisions, at, id, below, limit]
  return (await someRows(session, { database: at, query, long: ['text'] }, bound)).map(revisionRow)
}

/** The statements with which a write begins: nobody deletes these conversations, or writes blocks of this owner, until it ends. */
function locks(place: Place, conversations: readonly string[]): Statement[] {
  const [at, ...owner] = place
  const names = [...new Set(conversations)].map(stored)
  return [
    [blockSql.keepConversations, at, names],
    [blockSql.listThere, at, names],
    [blockSql.lockOwner, at, owner.join('\n')],
  ]
}

/** What is known of a key, and the block if there is one. */
interface KnownKey {
  readonly number: number
  readonly last: number
  readonly row: BlockRow | null
}

function knownKey(row: Row | undefined): KnownKey | null {
  if (row === undefined) return null
  const { number, last, id } = row
  return { number: number as number, last: last as number, row: id === null ? null : blockRow(row) }
}

/** A write without a call gets one, which finds out whether it was stored if the reply to its commit is lost. */
async function writeBlock(session: PostgresSession, at: string, write: BlockWrite): Promise<BlockResult> {
  const { owner, by } = write
  const place = placeOf(at, owner)
  const conversations = [owner.conversation, by.conversationId].filter((id) => id !== null)
  const call = write.call === null ? `request ${newMark()}` : stored(write.call)
  const key = [...place, write.key] as const
  const work = async ({ send, commit, now }: Transaction, mayBeDone: boolean): Promise<BlockResult> => {
    const replies = await send([
      ...locks(place, conversations),
      [blockSql.forgetDeleted, at, Math.trunc(session.clock.now() - deletedKeyMs)],
      [blockSql.lockKey, ...key],
      [blockSql.findKey, ...key],
      [blockSql.findCall, ...key, call],
      [blockSql.listOwn, ...place],
      [blockSql.lastErased, ...place],
    ])
    const [, there = [], , , , found = [], again = [], own = [], [erased] = []] = replies
    if (there.length < new Set(conversations).size) return { ok: false, reason: 'gone' }
    const known = knownKey(found[0])
    const current = known?.row ?? null
    const done = resultAgain(again[0] === undefined ? null : writtenRow(again[0]), current)
    const standing = {
      current,
      last: known?.last ?? (erased?.last as number | undefined) ?? 0,
      done,
      own: own as unknown as readonly OwnBlock[],
    }
    const decision = decideWrite(write, standing)
    const notes = usesOf(at, by.conversationId, owner)
    if (decision.kind === 'done') {
      // Whoever wrote it may have been told that it is unknown whether it is stored.
      await commit(done === null || mayBeDone ? notes : [...notes, ...confirmation(at, now())])
      return decision.result
    }
    if (decision.kind === 'delete') {
      const { revision } = decision
      const gone = [at, known?.number as number, revision, Math.trunc(now()), call, Math.trunc(write.at)] as const
      await commit([...notes, [blockSql.deleteBlock, ...gone]])
      return { ok: true, revision, block: null }
    }
    const { row } = decision
    const { revision, text, updatedAt, writtenBy } = row
    await commit([
      ...notes,
      putting(place, { row, known, revisions: [{ revision, text, at: updatedAt, writtenBy }], call }),
    ])
    return { ok: true, revision, block: row }
  }
  return session.transaction(at, work, write.text === '' ? { replyMs: deleteMs } : {})
}

function usesOf(at: string, conversation: string | null, { agent, subject }: BlockOwner): Statement[] {
  if (conversation === null || subject === null) return []
  return insertUses(at, conversation, [{ agent, subject }])
}

/** Notes uses in a conversation that is not deleted meanwhile. */
export function insertUses(
  at: string,
  conversation: string,
  uses: readonly Omit<BlockUse, 'conversation'>[],
): Statement[] {
  if (uses.length === 0) return []
  const values = [uses.map(({ subject }) => stored(subject)), uses.map(({ agent }) => stored(agent))]
  return [[blockSql.insertUses, at, stored(conversation), ...values]]
}

interface Putting {
  readonly row: BlockRow
  readonly known: KnownKey | null
  readonly revisions: readonly BlockRevision[]
  readonly call: string | null
}

/** Stores a block with revisions: a new one, one of a key that is known, or another revision of one. */
function putting(place: Place, { row, known, revisions, call }: Putting): Statement {
  const [at] = place
  const { id, key, kind, revision, text, createdAt } = row
  const added = [kind, ...columnsOf(revisions, call)]
  const made = Math.trunc(createdAt)
  if (known === null) return [blockSql.insertBlock, ...place, key, stored(id), revision, text.length, made, ...added]
  if (known.row === null)
    return [blockSql.renewBlock, at, known.number, stored(id), revision, text.length, made, ...added]
  return [blockSql.changeBlock, at, known.number, revision, text.length, ...added]
}

function columnsOf(revisions: readonly BlockRevision[], call: string | null) {
  return [
    revisions.map((one) => one.revision),
    revisions.map(() => call),
    revisions.map((one) => Math.trunc(one.at)),
    revisions.map((one) => jsonText(one.writtenBy)),
    revisions.map((one) => stored(one.text)),
  ]
}

/** Reads first, so that a deletion whose reply was lost still returns true. */
async function deleteBlock(session: PostgresSession, at: string, id: string): Promise<boolean> {
  let wasThere = false
  return session.transaction(
    at,
    async ({ send, commit, now }) => {
      const [[found] = []] = await send([[blockSql.lockBlock, at, id]])
      if (found === undefined) return wasThere
      wasThere = true
      const time = Math.trunc(now())
      const [number, last] = [found.number as number, found.last as number]
      await commit([[blockSql.deleteBlock, at, number, last + 1, time, null, time]])
      return true
    },
    { replyMs: deleteMs },
  )
}

/** Blocks that an attempt found count if its reply was lost. */
async function eraseBlocks(
  session: PostgresSession,
  at: string,
  { subject, agent }: { readonly subject: string; readonly agent: string | null },
): Promise<number> {
  const found = new Set<unknown>()
  return session.transaction(
    at,
    async ({ send, commit, now }, mayBeDone) => {
      const of = agent === null ? null : stored(agent)
      const [rows = []] = await send([[blockSql.lockAbout, at, stored(subject), of]])
      if (!mayBeDone) found.clear()
      for (const { id } of rows) if (id !== null) found.add(id)
      const numbers = rows.map(({ number }) => number as number)
      const erase: Statement[] = [
        [blockSql.keepErased, at, numbers, Math.trunc(now())],
        [blockSql.eraseRevisions, at, numbers],
        [blockSql.eraseBlocks, at, numbers],
      ]
      await commit(numbers.length === 0 ? [] : erase)
      return found.size
    },
    { replyMs: deleteMs },
  )
}

interface Copying {
  readonly from: string
  readonly to: string
  idOf(): string
}

/** Nobody writes to the other conversation meanwhile: it is locked. */
async function copyBlocks(session: PostgresSession, at: string, { from, to, idOf }: Copying): Promise<void> {
  await session.transaction(
    at,
    async ({ send, commit }) => {
      const [, there = [], has = [], copied = []] = await send([
        [logSql.lockConversation, at, to],
        [blockSql.listThere, at, [from, to]],
        [blockSql.listCopied, at, to],
        [blockSql.listCopied, at, from],
      ])
      if (there.length < 2 || has.length > 0) return
      const numbers = copied.map(({ number }) => number as number)
      const ids = numbers.map(() => stored(idOf()))
      await commit([
        [blockSql.copyBlocks, at, to, numbers, ids],
        [blockSql.copyUses, at, from, to],
      ])
    },
    { replyMs: deleteMs },
  )
}

async function putBlock(
  session: PostgresSession,
  at: string,
  { block, revisions }: { readonly block: BlockRow; readonly revisions: readonly BlockRevision[] },
): Promise<boolean> {
  const place = placeOf(at, block)
  const conversations = block.conversation === null ? [] : [block.conversation]
  let isUntold = false
  const work = async ({ send, commit }: Transaction) => {
    const [, there = [], , taken = [], , found = []] = await send([
      ...locks(place, conversations),
      [blockSql.blockPlace, at, stored(block.id)],
      [blockSql.lockKey, ...place, block.key],
      [blockSql.findKey, ...place, block.key],
    ])
    const known = knownKey(found[0])
    if (isUntold && known?.row?.id === block.id) return true
    isUntold = false
    if (there.length < conversations.length || taken.length > 0 || (known?.row ?? null) !== null) return false
    let isBegun = false
    for (const piece of piecesOf(revisions, ({ text }) => text.length)) {
      const more: Statement = [blockSql.addRevisions, at, stored(block.id), block.kind, ...columnsOf(piece, null)]
      await send([isBegun ? more : putting(place, { row: block, known, revisions: piece, call: null })])
      isBegun = true
      await pause()
    }
    isUntold = true
    await conclude(commit([]), () => {
      isUntold = false
    })
    return true
  }
  return session.transaction(at, work, { replyMs: deleteMs })
}
