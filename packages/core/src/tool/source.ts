/** The contract of a query source: a database that a query tool may read and can never write [Rb42, D16]. */

/** One value a placeholder may carry. A number is finite and a string well-formed Unicode; a source refuses others. */
export type QueryScalar = string | number | boolean | null

/** What a placeholder is bound to. A list reaches the database as one value; the source's page says in which form. */
export type QueryValue = QueryScalar | readonly QueryScalar[]

/** A query and the value of each `$name` in it, keyed without the `$`. Values that the text does not name are ignored. */
export interface BoundQuery {
  readonly sql: string
  readonly bindings: ReadonlyMap<string, QueryValue>
}

/** Rows as plain JSON values. `truncated` says that the row or the byte limit cut them short. */
export interface QueryRows {
  readonly rows: readonly Record<string, unknown>[]
  readonly truncated: boolean
}

/**
 * Why a query gave no rows. Three will not pass when tried again: `unbound`, a placeholder without a value; `unfit`, a value that has
 * no form in its place; `not-read-only`. `failed` is all else: the text, or the database (file gone, an error while it ran).
 */
export type QueryFailureReason = 'timeout' | 'aborted' | 'unbound' | 'unfit' | 'not-read-only' | 'failed'

/** A query without rows. `detail` names what to mend and never the host's folders; it may quote a bound value. */
export interface QueryFailure {
  readonly ok: false
  readonly reason: QueryFailureReason
  readonly detail: string
}

/** What running a query gives. */
export type QueryResult = ({ readonly ok: true } & QueryRows) | QueryFailure

/** A mistake in a query's text, at a line and a column counted from 1 in characters of the text as given. */
export interface QueryMistake {
  readonly problem: 'not-read-only' | 'invalid'
  readonly detail: string
  readonly line: number
  readonly column: number
}

/** Why a query with this mistake gives no rows. */
export function reasonOf({ problem }: QueryMistake): QueryFailureReason {
  return problem === 'invalid' ? 'failed' : problem
}

/** The text alone is in order, and the database was out of reach: no verdict on its names and types. */
export interface QueryUnchecked {
  readonly problem: 'unavailable'
  readonly detail: string
  readonly placeholders: readonly string[]
}

/** What checking a query gives: the names it must be bound with, each once, or what is wrong with it. */
export type QueryCheck =
  | { readonly ok: true; readonly placeholders: readonly string[] }
  | ({ readonly ok: false } & (QueryMistake | QueryUnchecked))

/** A database that queries can read. Neither method throws or rejects for what a query, its values or the file did. */
export interface QuerySource {
  /** Names the kind of database, for messages: `sqlite`. */
  readonly kind: string
  /** Says whether the text is one statement that only reads and that this database understands. Runs nothing. */
  check(sql: string): Promise<QueryCheck>
  /** Runs one query. Checks the text again; stops at the source's limits and on abort, when the rows so far are lost. */
  run(query: BoundQuery, options: { readonly signal: AbortSignal }): Promise<QueryResult>
  /** Ends what runs and frees what is held; later calls fail. Closing twice is allowed. */
  close(): Promise<void>
}

/** What one query may take: 5 seconds, 200 rows, and 256 kB of rows written as a JSON array in UTF-8 [D16]. */
export const QUERY_LIMITS = Object.freeze({ timeoutMs: 5_000, maxRows: 200, maxBytes: 256_000 })
