/**
 * The participants of a conversation: set at its start, and stored with the parameters under a name that no parameter can
 * have.
 */
import type { ConversationValues } from './parameter.ts'

const name = '$users'

/** The ids of the participants; null: everybody that an agent names. */
export function participantsOf(given: ConversationValues): ReadonlySet<string> | null {
  const value = given.get(name)?.value
  return Array.isArray(value) ? new Set(value.map(String)) : null
}

/** The participants in the form that is stored with a conversation. */
export function storedParticipants(
  users: readonly string[] | null,
): Record<string, readonly [value: string[], hidden: false]> {
  return users === null ? {} : { [name]: [[...new Set(users)], false] }
}
