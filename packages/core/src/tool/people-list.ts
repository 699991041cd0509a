/** The people of an agent as the descriptions of its tools list them [T22]. */
import { displayName } from '../identity/display-name.ts'
import type { KnownPerson } from '../parameter/known-people.ts'
import { type Description, listWithin, longestDescription } from './description.ts'

/** The description of `ask_user`. */
export function describeAsking(people: readonly KnownPerson[]): Description {
  return withPeople('Writes to a person and waits for the reply.', people)
}

/** The description of `ask_all_users`. */
export function describeAskingAll(people: readonly KnownPerson[]): Description {
  return withPeople('Writes the same to all people at once and waits for all replies.', people)
}

/** What a tool does, and whom it can reach: with their display names and roles, or where these have no room, without. */
function withPeople(does: string, people: readonly KnownPerson[]): Description {
  const named = people.map(({ handle, called, roles }) => {
    const name = displayName({ id: handle, name: called })
    return { handle, more: name === null ? [] : [name], roles }
  })
  const forms = [
    () => named.map(({ handle, more, roles }) => shown(handle, [...more, ...roles])),
    () => named.map(({ handle, more }) => shown(handle, more)),
    () => named.map(({ handle }) => handle),
  ]
  const before = `${does} ${people.length === 1 ? 'The person is' : 'The people are'} `
  return listWithin(longestDescription, forms, { before, between: '; ', after: '.' })
}

function shown(handle: string, more: readonly string[]): string {
  return more.length === 0 ? handle : `${handle} (${more.join(', ')})`
}
