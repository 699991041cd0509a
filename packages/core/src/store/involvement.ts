/** What connects a principal with a conversation, as the store has it. */
import type { Principal } from '../identity/principal.ts'
import { hasRole, type Involvement, personOf } from '../identity/rights.ts'
import type { ConversationRow, Store } from './store.ts'

/**
 * Looks up what connects a principal with conversations, each once, those of a page together. A conversation that is missing is a
 * stranger's.
 */
export function involvements(
  store: Pick<Store, 'readOwners'>,
  principal: Pick<Principal, 'id' | 'roles'>,
  database: string,
) {
  const known = new Map<string, Involvement>()
  const person = hasRole(principal, 'admin') ? null : personOf(principal)
  const learn = async (conversations: readonly string[]): Promise<void> => {
    const asked = [...new Set(conversations)].filter((id) => !known.has(id))
    if (asked.length === 0) return
    for (const id of asked) known.set(id, stranger)
    for (const { id, createdBy, takesPart } of await store.readOwners(database, asked, person))
      known.set(id, { isCreator: principal.id === createdBy, takesPart })
  }
  return { learn, of: (conversation: string): Involvement => known.get(conversation) ?? stranger }
}

/** What connects a principal with a conversation that is missing. */
const stranger: Involvement = { isCreator: false, takesPart: false }

/** Asks the store at most for one row, and for none if the principal is an `admin`, to whom it makes no difference. */
export async function involvementOf(
  store: Pick<Store, 'getParticipant'>,
  principal: Pick<Principal, 'id' | 'roles'>,
  { database, id, createdBy }: Pick<ConversationRow, 'database' | 'id' | 'createdBy'>,
): Promise<Involvement> {
  const isCreator = principal.id === createdBy
  const person = hasRole(principal, 'admin') ? null : personOf(principal)
  const joined = person === null ? null : await store.getParticipant(database, id, person)
  return { isCreator, takesPart: joined !== null && joined.leftAt === null }
}
