/** What connects a principal with a conversation, as the store has it. */
import type { Principal } from '../identity/principal.ts'
import { hasRole, type Involvement, personOf } from '../identity/rights.ts'
import type { ConversationRow, Store } from './store.ts'

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
