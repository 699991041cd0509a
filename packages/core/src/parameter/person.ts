/**
 * The people of a conversation: those given at its start are stored with its parameters, under a name that no parameter can have;
 * later ones join and leave by entries of its log.
 */
import type { ConversationValues } from './parameter.ts'

/** A person as the runtime knows somebody of a conversation. */
export interface Person {
  readonly id: string
  readonly name: string | null
  readonly roles: readonly string[]
}

/** How somebody stands in a conversation: takes part, has left, or only spoke in it. */
type Presence = 'there' | 'left' | 'spoke'

/**
 * Everybody who ever took part or spoke, in the order of the first appearance, which never changes. A change makes a new value, so a
 * run keeps the people with which it began.
 */
export interface People {
  readonly all: readonly (Person & { readonly presence: Presence })[]
  /** False if the conversation began without a list: then everybody may be asked whom an agent names and who has not left. */
  readonly isListed: boolean
}

/** A conversation without people. */
export const nobody: People = Object.freeze({ all: Object.freeze([]), isListed: false })

const name = '$users'

/** A row's parameters. */
type Stored = Readonly<Record<string, readonly [value: unknown, hidden: boolean, after?: number]>>

/** The people with whom a conversation began. Earlier versions stored ids only. */
export function storedPeople(parameters: Stored): readonly Person[] {
  const value = parameters[name]?.[0]
  return Array.isArray(value) ? value.map(personOf) : []
}

/** The people of a conversation before its first entry, from its stored values. */
export function startingPeople(given: ConversationValues): People {
  const found = given.get(name)
  if (found === undefined) return nobody
  const people = storedPeople({ [name]: [found.value, found.hidden] })
  return { all: people.map((one) => ({ ...one, presence: 'there' })), isListed: true }
}

function personOf(value: unknown): Person {
  if (typeof value !== 'object' || value === null) return { id: String(value), name: null, roles: [] }
  const { id, name: called = null, roles = [] } = value as Partial<Person>
  return { id: String(id), name: called, roles }
}

/** The people of a start in the form that is stored with a conversation; null if none were given. */
export function storedParticipants(
  people: readonly Person[] | null,
): Record<string, readonly [value: readonly (string | Person)[], hidden: false]> {
  if (people === null) return {}
  const value = people.map((one) => (one.name === null && one.roles.length === 0 ? one.id : one))
  return { [name]: [value, false] }
}

/** The same people after somebody has joined, has left or has spoken. */
export function changed(people: People, person: Person, presence: Presence): People {
  const index = people.all.findIndex(({ id }) => id === person.id)
  const known = people.all[index]
  if (known === undefined) return { ...people, all: [...people.all, { ...person, presence }] }
  if (presence === 'spoke') return people
  return { ...people, all: people.all.with(index, { ...person, presence }) }
}

/** Those who take part, in the order of joining. */
export function present({ all }: People): readonly Person[] {
  return all.filter(({ presence }) => presence === 'there')
}

/** Whether an agent that names this person may ask: the person takes part, or nobody says who does. */
export function isThere({ all, isListed }: People, id: string): boolean {
  const presence = all.find((one) => one.id === id)?.presence
  return presence === 'there' || (!isListed && presence !== 'left')
}

/** How many different people take part or have spoken, with `speaker` if there is one; nobody else who has left counts. */
export function companyOf({ all }: People, speaker: string | null = null): number {
  const others = all.filter(({ id, presence }) => id !== speaker && presence !== 'left')
  return others.length + (speaker === null ? 0 : 1)
}
