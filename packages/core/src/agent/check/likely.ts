/**
 * Which of the other agents of a set one may clash with, found by what they share: a check of many agents would otherwise compare each with
 * all others. A set does not change any more; one that is asked about often is indexed, a part at a time, since that takes as long as
 * looking through it a few times.
 */
import type { AgentData } from '@witan/protocol'
import { localOf } from '../address.ts'
import { wordsOf } from '../naming.ts'
import { looksOfPeople } from '../people-names.ts'
import type { AgentSet } from './graph.ts'

type Groups = ReadonlyMap<string, readonly AgentData[]>

/** The parts of an index. */
const parts = {
  places: (all: readonly AgentData[]): ReadonlyMap<AgentData, number> =>
    new Map(all.map((agent, place) => [agent, place])),
  words: (all: readonly AgentData[]): Groups => groupedBy(all, wordsOf),
  addresses: (all: readonly AgentData[]): Groups =>
    groupedBy(all, ({ address }) => (typeof address === 'string' ? [address] : [])),
  locals: (all: readonly AgentData[]): Groups => groupedBy(all, (agent) => localOf(agent) ?? []),
  knowPeople: (all: readonly AgentData[]) =>
    all.filter((agent) => agent.anonymizeUsers !== null || looksOfPeople(agent).size > 0),
  speak: (all: readonly AgentData[]) => all.filter(({ speaks }) => speaks.length > 0),
}
type Part = keyof typeof parts

interface Known {
  readonly built: Map<Part, unknown>
  /** How often each part was asked for. */
  readonly asked: Map<Part, number>
}

const known = new WeakMap<AgentSet, Known>()
/** A part of the index is built when it is asked for the eighth time. */
const often = 8

/** A part of the index; null while the set was not asked about often. */
function partOf<Name extends Part>(name: Name, agents: AgentSet): ReturnType<(typeof parts)[Name]> | null {
  const of = known.get(agents) ?? { built: new Map(), asked: new Map() }
  known.set(agents, of)
  const asked = (of.asked.get(name) ?? 0) + 1
  of.asked.set(name, asked)
  if (asked < often) return null
  const part = of.built.get(name) ?? parts[name]([...agents.values()])
  of.built.set(name, part)
  return part as ReturnType<(typeof parts)[Name]>
}

function groupedBy(
  agents: readonly AgentData[],
  keysOf: (agent: AgentData) => readonly string[] | string,
): ReadonlyMap<string, readonly AgentData[]> {
  const groups = new Map<string, AgentData[]>()
  for (const agent of agents)
    for (const key of [keysOf(agent)].flat()) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [agent])
      else group.push(agent)
    }
  return groups
}

/** Those that may have its id, its name, its address or the local part of that; in the order of the set. */
export function likelyNamesakes(agent: AgentData, agents: AgentSet): Iterable<AgentData> {
  const words = partOf('words', agents)
  const addresses = partOf('addresses', agents)
  const locals = partOf('locals', agents)
  const places = partOf('places', agents)
  if (words === null || addresses === null || locals === null || places === null) return agents.values()
  const local = localOf(agent)
  const found = new Set([
    ...wordsOf(agent).flatMap((word) => words.get(word) ?? []),
    ...(typeof agent.address === 'string' ? (addresses.get(agent.address) ?? []) : []),
    ...(local === null ? [] : (words.get(local) ?? [])),
    ...(locals.get(agent.id) ?? []),
  ])
  return [...found].sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0))
}

/** Those that may know people, by names or by aliases. */
export function withPeople(agents: AgentSet): readonly AgentData[] {
  return partOf('knowPeople', agents) ?? [...agents.values()]
}

/** Those that may speak a protocol. */
export function speakersIn(agents: AgentSet): readonly AgentData[] {
  return partOf('speak', agents) ?? [...agents.values()]
}
