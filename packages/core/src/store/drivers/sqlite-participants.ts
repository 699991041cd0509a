/** Who takes part in conversations of the embedded store. */
import { pageStart } from '../cursor.ts'
import { participantSql } from '../sql/participants.ts'
import type { Store } from '../store.ts'
import { participantRow } from './sqlite-participant-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** The methods of a store that are about participants. */
export function participantMethods(
  session: SqliteSession,
): Pick<Store, 'listParticipants' | 'getParticipant' | 'readOwners'> {
  const { getParticipant, listParticipants, readOwner } = participantSql
  return {
    listParticipants: (database, conversation, { after, limit }) =>
      session.read(({ get, all }) => {
        const at = [database, conversation] as const
        const last = after === null ? null : pageStart(get(getParticipant, ...at, after, session.now()))
        const position = (last?.position as number | undefined) ?? -1
        return all(listParticipants, ...at, position, limit, session.now()).map(participantRow)
      }),
    getParticipant: (database, conversation, user) =>
      session.read(({ get }) => {
        const row = get(getParticipant, database, conversation, user, session.now())
        return row === null ? null : participantRow(row)
      }),
    readOwners: (database, conversations, person) =>
      session.read(({ get }) =>
        conversations.flatMap((id) => {
          const row = get(readOwner, database, id, person, session.now())
          if (row === null) return []
          const { agent, created_by: createdBy, takes_part: takesPart } = row
          return [{ id, agent: agent as string, createdBy: createdBy as string, takesPart: takesPart === 1 }]
        }),
      ),
  }
}
