/** Interruptions of the embedded store: looked up and listed. */
import { pageStart } from '../cursor.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import type { Store } from '../store.ts'
import { interruptionRow } from './sqlite-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSession } from './sqlite-session.ts'

type InterruptionMethods = Pick<
  Store,
  'countOpenInterruptions' | 'getInterruption' | 'listInterruptions' | 'dueInterruptions'
>

/** The methods of a store that are about interruptions. */
export function interruptionMethods(session: SqliteSession): InterruptionMethods {
  return {
    countOpenInterruptions: (database, most) =>
      session.read(({ tuples }) => tuples(interruptionSql.openOnes, database, most).length),
    getInterruption: (database, id) =>
      session.read(({ get }) => {
        const row = get(interruptionSql.getInterruption, database, id)
        return row === null ? null : interruptionRow(row)
      }),
    listInterruptions: (database, page) =>
      session.read((connection) => {
        const { after } = page
        const last =
          after === null ? null : pageStart(connection.get(interruptionSql.findInterruption, database, after))
        const range = [database, (last?.number as number | undefined) ?? 0, page.limit] as const
        return connection.some(page.bound, ...listing(page, range)).map(interruptionRow)
      }),
    dueInterruptions: (limit) =>
      session.read(({ all }) => all(interruptionSql.dueInterruptions, session.now(), limit).map(interruptionRow)),
  }
}

type Listing = Parameters<Store['listInterruptions']>[1]
type Range = readonly [database: string, above: number, limit: number]

/** The statement that finds such a list by an index, and its parameters. */
function listing(page: Listing, range: Range): Parameters<SqliteConnection['all']> {
  const { state, conversation, addressees, reader = null } = page
  const named = addressees === null ? null : JSON.stringify(addressees.filter((one) => one !== null))
  const isNobodyWanted = addressees?.includes(null) === true
  if (reader !== null) {
    const filter = [...range, state, conversation, named, Number(isNobodyWanted)] as const
    const reached = [reader.createdBy, reader.participant] as const
    if (reader.addressees.length === 0) return [interruptionSql.listInterruptionsReached, ...filter, ...reached]
    const { listInterruptionsSeen, listInterruptionsSeenByState } = interruptionSql
    const sql = state === null ? listInterruptionsSeen : listInterruptionsSeenByState
    const isNobodySeen = Number(reader.addressees.includes(null))
    return [sql, ...filter, ...reached, JSON.stringify(reader.addressees), isNobodySeen]
  }
  if (isNobodyWanted) return [interruptionSql.listInterruptionsFiltered, ...range, state, conversation, named, 1]
  if (named !== null) return [interruptionSql.listInterruptionsFor, ...range, state, conversation, named]
  if (conversation !== null) return [interruptionSql.listInterruptionsOfConversation, ...range, state, conversation]
  if (state !== null) return [interruptionSql.listInterruptionsByState, ...range, state]
  return [interruptionSql.listInterruptions, ...range]
}
