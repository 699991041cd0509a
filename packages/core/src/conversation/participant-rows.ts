/** The rows of a conversation's people, as its start and its log say. */
import type { Entry } from '@witan/protocol/entries'
import { storedPeople } from '../parameter/person.ts'
import type { Append, ConversationRow, ParticipantRow } from '../store/store.ts'

const nobody = {}

/** The people with whom a new conversation begins, for the append that creates it. */
export function startingRows(row: Pick<ConversationRow, 'parameters' | 'createdAt'>): Pick<Append, 'participants'> {
  return storedPeople(row.parameters).length === 0 ? nobody : { participants: rowsAfter(row, []) }
}

/** The rows after these first entries of the log: everybody who took part, in the order of the first joining. */
export function rowsAfter(
  { parameters, createdAt }: Pick<ConversationRow, 'parameters' | 'createdAt'>,
  entries: readonly Entry[],
): readonly ParticipantRow[] {
  const rows = new Map<string, ParticipantRow>()
  for (const { id, name, roles } of storedPeople(parameters)) {
    rows.set(id, { user: id, name, roles, joinedAt: createdAt, leftAt: null })
  }
  for (const entry of entries) {
    if (entry.type !== 'participant') continue
    const { user, name, roles, change } = entry.body
    const joinedAt = change === 'joined' ? entry.at : (rows.get(user)?.joinedAt ?? entry.at)
    rows.set(user, { user, name, roles, joinedAt, leftAt: change === 'joined' ? null : entry.at })
  }
  return [...rows.values()]
}
