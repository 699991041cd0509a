/** Blocks of memory in an export, each with its revisions: a line for the block and one for each text. */
import { isDeepStrictEqual } from 'node:util'
import { isWitanError } from '@witan/protocol'
import type { BlockRevision, BlockRow } from '../memory/records.ts'
import { invalid, type MovingLine, type MovingOf, movingRows } from './export-lines.ts'
import { readBound } from '../identity/row-page.ts'
import type { Store } from './store.ts'

/** A block with its revisions, the oldest first. */
export interface MovingBlock {
  readonly kind: 'memory'
  readonly database: string
  readonly block: BlockRow
  readonly revisions: readonly BlockRevision[]
}

const pageSize = 200

/** The blocks of a database, or of one conversation, the oldest first. One that is deleted meanwhile is left out. */
export async function* blocksOf(
  store: Store,
  database: string,
  conversation: string | null = null,
): AsyncGenerator<MovingBlock> {
  for (const id of await blockIds(store, database, conversation)) {
    const found = await readBlock(store, database, id)
    if (found !== null) yield found
  }
}

async function blockIds(store: Store, database: string, conversation: string | null): Promise<readonly string[]> {
  const ids: string[] = []
  const filter = { agent: null, subject: null, scope: null, kind: null, conversation }
  for (;;) {
    const page = { limit: pageSize, after: ids.at(-1) ?? null, bound: readBound, ...filter }
    try {
      const rows = await store.listBlocks(database, page)
      if (rows.length === 0) return ids.reverse()
      for (const { id } of rows) ids.push(id)
    } catch (error) {
      // The last one was deleted meanwhile: continue after the one before it.
      if (!isCursorError(error) || ids.pop() === undefined) throw error
    }
  }
}

async function readBlock(store: Store, database: string, id: string): Promise<MovingBlock | null> {
  const block = await store.getBlock(database, id)
  const revisions: BlockRevision[] = []
  for (;;) {
    const after = revisions.at(-1)?.revision ?? null
    const page = { limit: pageSize, after: after === null ? null : String(after), bound: readBound }
    const rows = await store.listBlockRevisions(database, id, page).catch((error: unknown) => {
      if (isCursorError(error)) return null
      throw error
    })
    if (block === null || rows === null) return null
    if (rows.length > 0) {
      revisions.push(...rows)
      continue
    }
    const then = revisions.filter(({ revision }) => revision <= block.revision).reverse()
    return then.at(-1)?.revision === block.revision ? { kind: 'memory', database, block, revisions: then } : null
  }
}

function isCursorError(error: unknown): boolean {
  return isWitanError(error) && error.code === 'BODY_INVALID'
}

/** The lines of a block. */
export function* blockLines({ database, block, revisions }: MovingBlock): Generator<MovingLine> {
  yield { kind: 'memory', database, block: movingRows.block(block), revisions: revisions.length }
  for (const one of revisions) yield { kind: 'revision', revision: movingRows.blockRevision(one) }
}

/** A block as its lines have it: what it is now is what was written last. Throws `BODY_INVALID` if they do not belong together. */
export function movedBlock(
  { database, block }: MovingOf<'memory'>,
  revisions: readonly BlockRevision[],
  place: string,
): MovingBlock {
  const last = revisions.at(-1)
  const isRising = revisions.every(({ revision }, index) => revision > (revisions[index - 1]?.revision ?? 0))
  if (last === undefined || !isRising || last.revision !== block.revision)
    throw invalid(place, 'ends a block of memory whose revisions are not in order')
  const { text, at, writtenBy } = last
  return { kind: 'memory', database, block: { ...block, text, updatedAt: at, writtenBy }, revisions }
}

/** Compares a block with what the store has under its id, and under its key. */
export async function standingOfBlock(store: Store, item: MovingBlock): Promise<'new' | 'same' | 'other'> {
  const { database, block } = item
  const there = await readBlock(store, database, block.id)
  if (there !== null) return isDeepStrictEqual(there, item) ? 'same' : 'other'
  const own = await store.readBlocks(database, [block])
  return own.some(({ key }) => key === block.key) ? 'other' : 'new'
}
