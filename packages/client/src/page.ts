/** Reads paged lists. */

/** One page of a list. `nextCursor` is null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Which page of a list: at most `limit` items (1 to 200), after `cursor`. */
export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** Every item of a list, one page at a time and never the next page before it is needed. */
export async function* eachItem<Item>(
  read: (query: PageQuery) => Promise<Page<Item>>,
  first: PageQuery = {},
): AsyncGenerator<Item, void, undefined> {
  let query: PageQuery | null = first
  while (query) {
    const page: Page<Item> = await read(query)
    yield* page.items
    query = page.nextCursor === null ? null : { ...first, cursor: page.nextCursor }
  }
}
