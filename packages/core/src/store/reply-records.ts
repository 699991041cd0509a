/** The contract for the remembered replies to idempotent requests. */

/** One use of an idempotency key. `at` identifies it: when its reply was begun, in ms of the store's clock. */
export interface Reservation {
  readonly key: string
  readonly at: number
}

/** A remembered reply to an idempotent request. */
export interface ReplyRow {
  readonly key: string
  readonly digest: string
  readonly status: number | null
  readonly body: string | null
  /** The note that the request's append left; see `Append.note`. */
  readonly note: string | null
  readonly at: number
}

/** Replies by key, in one database each. */
export interface ReplyRecords {
  /**
   * Stores a fresh key and returns null, or returns the existing row. A row older than `expiresBefore` counts as removed. So does a
   * row older than `lostBefore` with the same digest, and neither reply nor note: its request counts as lost, even if still alive.
   * Waits for an append that is just storing a note at the row.
   */
  beginReply(
    database: string,
    row: {
      readonly key: string
      readonly digest: string
      readonly at: number
      readonly expiresBefore: number
      readonly lostBefore: number
    },
  ): Promise<ReplyRow | null>
  /**
   * Stores the reply of a reservation. Null removes the reservation, unless it has a note, because a request must not be stored twice.
   * Does nothing if another request holds the key by now.
   */
  finishReply(
    database: string,
    of: Reservation,
    reply: { readonly status: number; readonly body: string } | null,
  ): Promise<void>
}
