/** Where a page of a list begins. */
import { WitanError } from '@witan/protocol'

/** The place behind which a page begins, as the driver found it. Throws `BODY_INVALID` where the row of the cursor is not there, or no longer. */
export function placeOf<Place>(found: Place | null | undefined): Place {
  if (found !== null && found !== undefined) return found
  throw new WitanError('BODY_INVALID', '`cursor` leads nowhere: what it names is not in this list, or was deleted.', {
    path: 'cursor',
    hint: 'Use the nextCursor of the page before, or start again without one.',
  })
}

/** Where in `rows` the page behind `after` begins. Throws as `placeOf`. */
export function startOf<Row>(rows: readonly Row[], after: string | null, id: (row: Row) => string): number {
  if (after === null) return 0
  const index = rows.findIndex((row) => id(row) === after)
  return placeOf(index < 0 ? null : index) + 1
}
