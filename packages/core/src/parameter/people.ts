/** The people that an agent may ask, as its model knows them: by id, by role, or by another name [C36, Tb06]. */
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

type Entry = AgentData['users'][number]

function openly(entry: Entry): KnownPerson {
  const id = addresseeOf(entry)
  return 'role' in entry
    ? { handle: id, called: id, roles: [], id }
    : { handle: id, called: entry.name ?? id, roles: entry.roles, id }
}

function hidden(entry: Entry, alias: string): KnownPerson {
  return { handle: alias, called: alias, roles: [], id: addresseeOf(entry) }
}

/** Whom an entry stands for, as an interruption is addressed: a person's id, or `role:<name>`. */
function addresseeOf(entry: Entry): string {
  return 'role' in entry ? `${roleMark}${entry.role}` : entry.id
}

const roleMark = 'role:'

/** Whether somebody is any person in a role. */
export function isRole({ id }: Pick<KnownPerson, 'id'>): boolean {
  return id.startsWith(roleMark)
}

/** The people of an agent that are listed by id. */
export function peopleOf({ users }: Pick<AgentData, 'users'>): readonly User[] {
  return users.flatMap((entry) => ('role' in entry ? [] : [entry]))
}

function slug(prefix: string): string {
  return prefix.toLowerCase().replace(/\s+/g, '-')
}
