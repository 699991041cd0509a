/** The names by which the model of an agent knows people [C36, Tb06]. */
import type { AgentData, User } from '@witan/protocol'

/** What a model may know of a person. */
export interface KnownPerson {
  /** The name that it writes to ask this person: the id, or an alias. */
  readonly handle: string
  /** The name that stands before the person's words. */
  readonly called: string
  readonly roles: readonly string[]
  /** Who it is. No model reads it where the handle is an alias. */
  readonly id: string
}

type Naming = Pick<AgentData, 'users' | 'anonymizeUsers'>

/** The people of an agent as its model knows them, in the order of its definition. */
export function knownPeople({ users, anonymizeUsers }: Naming): readonly KnownPerson[] {
  return users.map((user, index) =>
    anonymizeUsers === null ? openly(user) : hidden(user, `${slug(anonymizeUsers)}-${index}`),
  )
}

function openly({ id, name = id, roles }: User): KnownPerson {
  return { handle: id, called: name, roles, id }
}

function hidden({ id }: User, alias: string): KnownPerson {
  return { handle: alias, called: alias, roles: [], id }
}

function slug(prefix: string): string {
  return prefix.toLowerCase().replace(/\s+/g, '-')
}
