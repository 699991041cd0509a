/** Who takes part in conversations on PostgreSQL. */
import { pageStart } from '../../cursor.ts'
import { participantSql } from '../../sql/postgres/participants.ts'
import type { ParticipantRow, Store } from '../../store.ts'
import type { PostgresSession } from './session.ts'
import type { Statement, Row } from './statements.ts'
import { jsonText, restored, stored } from './text.ts'

/** The methods of a store that are about participants. */
export function participantMethods(
  session: PostgresSession,
): Pick<Store, 'listParticipants' | 'getParticipant' | 'readOwners'> {
  const read = async (database: string, query: Statement) => (await session.read(database, query))[0] ?? []
  return {
    async listParticipants(database, conversation, { after, limit }) {
      const at = [stored(database), stored(conversation)] as const
      const last = after === null ? null : await read(at[0], [participantSql.getParticipant, ...at, stored(after)])
      const position = last === null ? -1 : (pageStart(last[0]).position as number)
      const rows = await read(at[0], [participantSql.listParticipants, ...at, position, limit])
      return rows.map(participantRow)
    },
    async getParticipant(database, conversation, user) {
      const at = [stored(database), stored(conversation), stored(user)] as const
      const [row] = await read(at[0], [participantSql.getParticipant, ...at])
      return row === undefined ? null : participantRow(row)
    },
    async readOwners(database, conversations, person) {
      const at = stored(database)
      const whom = person === null ? null : stored(person)
      const rows = await read(at, [participantSql.readOwners, at, conversations.map(stored), whom])
      return rows.map((row) => ({
        id: restored(row.id as string),
        agent: restored(row.agent as string),
        createdBy: restored(row.created_by as string),
        takesPart: row.takes_part as boolean,
      }))
    },
  }
}

/** The row of a person, from a row of the table. */
export function participantRow({ person, name, roles, joined_at: joinedAt, left_at: leftAt }: Row): ParticipantRow {
  return {
    user: restored(person as string),
    name: name === null ? null : restored(name as string),
    roles: JSON.parse(roles as string),
    joinedAt: joinedAt as number,
    leftAt: leftAt as number | null,
  }
}

/** Writes the rows of people; the last row of a person in a conversation counts. */
export function setParticipants(
  database: string,
  given: readonly (ParticipantRow & { readonly conversation: string })[],
): Statement[] {
  if (given.length === 0) return []
  const rows = [...new Map(given.map((one) => [`${one.conversation} ${one.user}`, one])).values()]
  const names = rows.map(({ name }) => (name === null ? null : stored(name)))
  return [
    [
      participantSql.setParticipants,
      database,
      rows.map(({ conversation }) => stored(conversation)),
      rows.map(({ user }) => stored(user)),
      names,
      rows.map(({ roles }) => jsonText(roles)),
      rows.map(({ joinedAt }) => Math.trunc(joinedAt)),
      rows.map(({ leftAt }) => (leftAt === null ? null : Math.trunc(leftAt))),
    ],
  ]
}
