/** Pages of rows. */

/** A page of rows. */
export interface RowPage {
  readonly limit: number
  /** The id of the last row of the previous page, exclusive. If that row was deleted, the list throws `BODY_INVALID`. */
  readonly after: string | null
}
