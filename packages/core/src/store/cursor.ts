/** Finds where a page of a list begins. */
import { WitanError } from '@witan/protocol'

/** The position after which a page begins, as the driver found it. Throws `BODY_INVALID` if the row of the cursor does not exist. */
export function pageStart<Place>(found: Place | null | undefined): Place {
  if (found !== null && found !== undefined) return found
  throw new WitanError('BODY_INVALID', '`cursor` names a row that is not in this list, or was deleted.', {
    path: 'cursor',
    hint: 'Use the nextCursor of the page before, or start again without one.',
  })
}

/** The index in `rows` of the page after the row `after`. Throws as `placeOf` does. */
export function startOf<Row>(rows: readonly Row[], after: string | null, id: (row: Row) => string): number {
  if (after === null) return 0
  const index = rows.findIndex((row) => id(row) === after)
  return pageStart(index < 0 ? null : index) + 1
}
