/** Pages of lists: of rows that a store reads, and of what is in memory. Each ends at its limit, or at its bound in bytes. */
import { WitanError } from '@witan/protocol'
import { type PageBound, pageBound } from '../identity/page-bound.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { pageStart, startOf } from '../store/cursor.ts'
import { type ReadBound, readCharacters } from '../identity/row-page.ts'

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Selects a page: `limit` 1 to 200, default 50; `cursor` from the previous page. */
export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string | null
  /** Where the page ends beside its limit. Default: at about 4 MiB of JSON. */
  readonly bound?: PageBound
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

/** How a row is shown, and the cursor that it gives. */
interface RowForm<Row, Item> {
  readonly item: (row: Row) => Item | Promise<Item>
  readonly id: (row: Row) => string
}

/** One page of a list in memory. */
export async function pageOf<Row, Item>(
  rows: readonly Row[],
  options: PageOptions,
  to: RowForm<Row, Item>,
): Promise<Page<Item>> {
  const start = startOf(rows, options.cursor ?? null, to.id)
  const page = openPage(options, to)
  for (let index = start; index < rows.length; index += 1) {
    if (!(await page.add(rows[index] as Row))) break
  }
  return page.end()
}

/** One page of rows that are made one after the other, as far as the page needs them. Throws `BODY_INVALID` as `startOf` does. */
export async function pageOfStream<Row, Item>(
  rows: AsyncIterable<Row>,
  options: PageOptions,
  to: RowForm<Row, Item>,
): Promise<Page<Item>> {
  const page = openPage(options, to)
  let after = options.cursor ?? null
  for await (const row of rows) {
    if (after !== null) {
      if (to.id(row) === after) after = null
    } else if (!(await page.add(row))) break
  }
  if (after !== null) pageStart(null)
  return page.end()
}

/** One page of stored rows, each as its reader sees it. Long rows are read a few at a time. */
export async function rowPage<Row, Item>(
  options: PageOptions,
  read: (page: {
    readonly limit: number
    readonly after: string | null
    readonly bound: ReadBound
  }) => Promise<readonly Row[]>,
  to: RowForm<Row, Item>,
): Promise<Page<Item>> {
  const page = openPage(options, to)
  for (let after = options.cursor ?? null, isCut = true; isCut; ) {
    isCut = false
    const cut = () => {
      isCut = true
    }
    const limit = page.limit + 1 - page.count()
    const rows = await read({ limit, after, bound: { characters: readCharacters, cut } })
    for (const row of rows) if (!(await page.add(row))) return page.end()
    const last = rows.at(-1)
    if (last === undefined || rows.length === limit) break
    after = to.id(last)
  }
  return page.end()
}

/** A page that grows. `add` is false for the first row that does not fit. */
function openPage<Row, Item>(options: PageOptions, { item, id }: RowForm<Row, Item>) {
  const limit = limitOf(options)
  const { bound = pageBound() } = options
  const items: Item[] = []
  let last: string | null = null
  let isFull = false
  return {
    limit,
    count: () => items.length,
    async add(row: Row): Promise<boolean> {
      if (isTurnSpent()) await nextTurn()
      isFull = items.length === limit
      if (isFull) return false
      const shown = await item(row)
      isFull = !(await bound.fits(shown))
      if (isFull) return false
      items.push(shown)
      last = id(row)
      return true
    },
    end: (): Page<Item> => ({ items, nextCursor: isFull ? last : null }),
  }
}
