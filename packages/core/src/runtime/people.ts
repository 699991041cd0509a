/** People as a caller names them: whom agents know, what is left out, and ids that no person can have. */
import { type AgentData, WitanError } from '@witan/protocol'
import { shownName } from '@witan/protocol/names'
import type { ParticipantRequest } from '@witan/protocol/schemas'
import { localOf } from '../agent/address.ts'
import { takenByOthers } from '../agent/people-names.ts'
import type { Person } from '../parameter/person.ts'
import { peopleOf } from '../parameter/known-people.ts'
import type { Scope } from './scope.ts'

/** Refuses an id of a person that an agent of the database has, or that means somebody else, or that looks like one of these. Throws `NAME_TAKEN`. */
export function refuseTakenName({ parts, database }: Scope, id: string, path: string): void {
  const { agents } = parts.registry.current(database)
  const locals = new Set([...agents.values()].map(({ data }) => localOf(data)))
  const taken = takenByOthers(id, { has: (name) => agents.has(name) || locals.has(name) })
  if (taken === null) return
  const { name, isAgent } = taken
  const as = name === id ? '' : `looks like \`${name}\`, which `
  const which = agents.has(name) ? 'id' : 'address'
  const why = isAgent ? `is the ${which} of an agent` : 'has a meaning of its own'
  throw new WitanError('NAME_TAKEN', `\`${shownName(id.slice(0, 200))}\` ${as}${why}, so no person can have it.`, {
    path,
    hint: 'Choose another id for the person.',
  })
}

/** The error for a person whose id could be taken for that of another one who takes part. */
export function alikeError(id: string, other: string, path: string): WitanError {
  return new WitanError('NAME_TAKEN', `\`${id}\` looks like \`${other}\`, who takes part too.`, {
    path,
    hint: 'Choose another id for one of the two.',
  })
}

/** The people whom agents name; the first agent that names a person gives name and roles. */
export function peopleNamedBy(agents: readonly AgentData[]): readonly Person[] {
  const named = new Map<string, Person>()
  for (const { id, name = null, roles } of agents.flatMap(peopleOf)) {
    if (!named.has(id)) named.set(id, { id, name, roles })
  }
  return [...named.values()]
}

/** A person as requested; what is left out comes from the agents. */
export function requestedPerson({ id, name, roles }: ParticipantRequest, named: readonly Person[]): Person {
  const known = named.find((one) => one.id === id)
  return { id, name: name ?? known?.name ?? null, roles: roles ?? known?.roles ?? [] }
}

/** Whether a request says nothing else of a person than is known. */
export function isRepeat({ name, roles }: ParticipantRequest, known: Person): boolean {
  const sameRoles = roles === undefined || JSON.stringify(roles) === JSON.stringify(known.roles)
  return sameRoles && (name === undefined || name === known.name)
}
