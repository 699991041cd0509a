/** Whose names no person may have, because the person would speak in their name. */
import type { AgentData } from '@witan/protocol'
import { looksLike } from '@witan/protocol/names'
import { peopleOf } from '../parameter/known-people.ts'

/** Names that no person may have: `user` and `witan` are authors; `all`, `me` and `none` have a meaning in requests. */
const reservedPeople: ReadonlySet<string> = new Set(['user', 'witan', 'all', 'me', 'none'])

/** The agent, or the reserved word, that a person's id is or looks like; null for none. */
export function takenByOthers(
  id: string,
  agents: { has(id: string): boolean },
): { readonly name: string; readonly isAgent: boolean } | null {
  for (const name of looksLike(id)) {
    if (agents.has(name)) return { name, isAgent: true }
    if (reservedPeople.has(name)) return { name, isAgent: false }
  }
  return null
}

const looks = new WeakMap<AgentData, ReadonlySet<string>>()

/** Everything that the ids of an agent's people look like. A check asks it for each pair of agents, so it is kept. */
export function looksOfPeople(agent: AgentData): ReadonlySet<string> {
  const known = looks.get(agent)
  if (known !== undefined) return known
  const found = new Set(peopleOf(agent).flatMap(({ id }) => [...looksLike(id)]))
  looks.set(agent, found)
  return found
}
