/** Pages of lists. */

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
