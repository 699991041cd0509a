/** The contract of a query source: a database that query tools can read and never write [Rb42, D16]. */

/** One value of a placeholder. A source refuses numbers that are not finite and strings that are not well-formed Unicode. */
export type QueryScalar = string | number | boolean | null

/**
 * The value bound to a placeholder. The database gets a list as a single value; the documentation of each source says in
 * which form.
 */
export type QueryValue = QueryScalar | readonly QueryScalar[]

/** A query and the value of each `$name` in it, keyed without the `$`. Values of other names are ignored. */
export interface BoundQuery {
  readonly sql: string
  readonly bindings: ReadonlyMap<string, QueryValue>
}

/** Rows as plain JSON values. `truncated` means that the row or byte limit cut them. */
export interface QueryRows {
  readonly rows: readonly Record<string, unknown>[]
  readonly truncated: boolean
}

/**
 * Why a query returned no rows. Three reasons will not succeed on a retry: `unbound`, a placeholder without a value;
 * `unfit`, a value that its type cannot hold; `not-read-only`. `failed` covers the rest: the text, or the database (file
 * gone, an error while it ran).
 */
export type QueryFailureReason = 'timeout' | 'aborted' | 'unbound' | 'unfit' | 'not-read-only' | 'failed'

/** A query without rows. `detail` says what to fix and never names the host's folders; it may quote a bound value. */
export interface QueryFailure {
  readonly ok: false
  readonly reason: QueryFailureReason
  readonly detail: string
}

/** The result of running a query. */
export type QueryResult = ({ readonly ok: true } & QueryRows) | QueryFailure

/** A mistake in a query's text, with its line and column, counted from 1 in characters of the original text. */
export interface QueryMistake {
  readonly problem: 'not-read-only' | 'invalid'
  readonly detail: string
  readonly line: number
  readonly column: number
}

/** Why a query with this mistake returns no rows. */
export function reasonOf({ problem }: QueryMistake): QueryFailureReason {
  return problem === 'invalid' ? 'failed' : problem
}

/** The text itself is valid, but the database could not be reached: its names and types are not checked. */
interface QueryUnchecked {
  readonly problem: 'unavailable'
  readonly detail: string
  readonly placeholders: readonly string[]
}

/** The result of checking a query: the names that need a value, each once, or its mistakes. */
export type QueryCheck =
  | { readonly ok: true; readonly placeholders: readonly string[] }
  | ({ readonly ok: false } & (QueryMistake | QueryUnchecked))

/** A database that queries can read. Neither method throws or rejects because of a query, its values or the file. */
export interface QuerySource {
  /** The kind of database, for messages: `sqlite`. */
  readonly kind: string
  /** Checks that the text is a single read-only statement that this database understands. Runs nothing. */
  check(sql: string): Promise<QueryCheck>
  /** Runs one query. Checks the text again. Stops at the source's limits, and on abort, which discards the rows so far. */
  run(query: BoundQuery, options: { readonly signal: AbortSignal }): Promise<QueryResult>
  /** Stops running queries and frees all resources; later calls fail. Closing twice is allowed. */
  close(): Promise<void>
}

/** The limits of one query: 5 seconds, 200 rows, and 256 kB of rows as a JSON array in UTF-8 [D16]. */
export const QUERY_LIMITS = Object.freeze({ timeoutMs: 5_000, maxRows: 200, maxBytes: 256_000 })
