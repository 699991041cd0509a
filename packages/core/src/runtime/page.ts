/** Pages of lists: of rows that a store reads, and of what is in memory. */
import { WitanError } from '@witan/protocol'
import { startOf } from '../store/cursor.ts'

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Selects a page: `limit` 1 to 200, default 50; `cursor` from the previous page. */
export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string | null
}

/** The limit of a page. Throws `BODY_INVALID`. */
export function limitOf(options: PageOptions): number {
  const { limit = 50 } = options
  if (Number.isInteger(limit) && limit >= 1 && limit <= 200) return limit
  throw new WitanError('BODY_INVALID', `limit must be an integer 1–200, got ${limit}.`, {
    path: 'limit',
    hint: 'Leave it out for the default, 50.',
  })
}

/** One page of a list in memory. */
export function pageOf<Item>(items: readonly Item[], options: PageOptions, id: (item: Item) => string): Page<Item> {
  const limit = limitOf(options)
  const { cursor = null } = options
  const start = startOf(items, cursor, id)
  const page = items.slice(start, start + limit)
  const last = page.at(-1)
  return { items: page, nextCursor: last !== undefined && start + limit < items.length ? id(last) : null }
}

/** One page of stored rows, each as its reader sees it. */
export async function rowPage<Row, Item>(
  options: PageOptions,
  read: (limit: number) => Promise<readonly Row[]>,
  to: { item: (row: Row) => Item | Promise<Item>; id: (row: Row) => string },
): Promise<Page<Item>> {
  const limit = limitOf(options)
  const rows = await read(limit + 1)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: await Promise.all(shown.map(to.item)),
    nextCursor: rows.length > limit && last !== undefined ? to.id(last) : null,
  }
}
