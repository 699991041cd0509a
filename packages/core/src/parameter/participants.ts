/** Who takes part in a conversation: given at its start, and kept beside the parameters under a name that none can have. */
import type { GivenParameters } from './parameter.ts'

const name = '$users'

/** The ids of those who take part; null where everybody does whom an agent names. */
export function participantsOf(given: GivenParameters): ReadonlySet<string> | null {
  const value = given.get(name)?.value
  return Array.isArray(value) ? new Set(value.map(String)) : null
}

/** What is stored with a conversation for them. */
export function storedParticipants(
  users: readonly string[] | null,
): Record<string, readonly [value: string[], hidden: false]> {
  return users === null ? {} : { [name]: [[...new Set(users)], false] }
}
