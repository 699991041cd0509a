/** Turns `--user anna` into the people of a new conversation. */
import type { Given, Option } from './command.ts'

/** The option that names people. */
export const userOption: Readonly<Record<string, Option>> = {
  user: { value: 'PERSON', multiple: true, help: 'A person who takes part in a new conversation; may be repeated.' },
}

/** What a conversation starts with; nothing where nobody is named. */
export function readUsers(given: Given): { readonly users?: readonly { readonly id: string }[] } {
  const users = given.texts('user').map((id) => ({ id }))
  return users.length === 0 ? {} : { users }
}
