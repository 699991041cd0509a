/** Interruptions of the embedded store: looked up and listed. */
import { placeOf } from '../cursor.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import type { Store } from '../store.ts'
import { interruptionRow } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

type InterruptionMethods = Pick<Store, 'getInterruption' | 'listInterruptions' | 'dueInterruptions'>

/** The methods of a store that are about interruptions. */
export function interruptionMethods(session: SqliteSession): InterruptionMethods {
  return {
    getInterruption: (database, id) =>
      session.read(({ get }) => {
        const row = get(interruptionSql.getInterruption, database, id)
        return row === null ? null : interruptionRow(row)
      }),
    listInterruptions: (database, page) =>
      session.read(({ get, all }) => {
        const { limit, after, state, conversation, addressees } = page
        const last = after === null ? null : placeOf(get(interruptionSql.findInterruption, database, after))
        const range = [database, (last?.number as number | undefined) ?? 0, limit] as const
        const { listInterruptions, listInterruptionsByState, listInterruptionsOfConversation } = interruptionSql
        const rows =
          addressees !== null
            ? all(interruptionSql.listInterruptionsFor, ...range, state, conversation, JSON.stringify(addressees))
            : conversation !== null
              ? all(listInterruptionsOfConversation, ...range, state, conversation)
              : state !== null
                ? all(listInterruptionsByState, ...range, state)
                : all(listInterruptions, ...range)
        return rows.map(interruptionRow)
      }),
    dueInterruptions: (limit) =>
      session.read(({ all }) => all(interruptionSql.dueInterruptions, session.now(), limit).map(interruptionRow)),
  }
}
