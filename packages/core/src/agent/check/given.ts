/** What a conversation binds: which declarations a value reaches that is given under a name, however edges map it on the way. */
import type { AgentData, Parameter } from '@witan/protocol'
import type { AgentSet } from './graph.ts'
import { reachable } from './graph.ts'

/** One declaration that a given value reaches. */
export interface Taker {
  readonly agent: AgentData
  readonly parameter: Parameter
}

/**
 * For each name that a start of `root` may give: the declarations that are bound to it, the root's first. A name that an edge cuts
 * off, or that an agent between has a value of its own for, reaches nobody below [E17].
 */
export function takersOf(root: AgentData, agents: AgentSet): ReadonlyMap<string, readonly Taker[]> {
  const all = reachable(root, agents)
  const sources = new Map(all.map((agent) => [agent.id, ownSources(agent, agent.id === root.id)]))
  const sure = new Set(root.parameters.filter(({ sendToModel }) => sendToModel).map(({ name }) => name))
  let changed = all
  while (changed.length > 0)
    changed = [...new Set(changed.flatMap((agent) => handDown(agent, { agents, sources, sure })))]
  const takers = new Map<string, Taker[]>()
  for (const agent of all) {
    for (const parameter of agent.parameters) {
      for (const given of sources.get(agent.id)?.get(parameter.name) ?? []) {
        if (given === null) continue
        const known = takers.get(given)
        if (known === undefined) takers.set(given, [{ agent, parameter }])
        else known.push({ agent, parameter })
      }
    }
  }
  return takers
}

/** Where the values of an agent's parameters may come from: names that a conversation gives, and null for a model. */
type Sources = ReadonlyMap<string, Set<string | null>>

interface Walk {
  readonly agents: AgentSet
  readonly sources: ReadonlyMap<string, Sources>
  /** Names that every start gives: no model is ever asked for them. */
  readonly sure: ReadonlySet<string>
}

function ownSources({ parameters }: AgentData, isRoot: boolean): Sources {
  return new Map(parameters.map(({ name }) => [name, new Set(isRoot ? [name] : [])]))
}

/** Adds what an agent's edges hand down. Gives the children for whom any of it was news. */
function handDown(agent: AgentData, walk: Walk): AgentData[] {
  const learned = new Set<AgentData>()
  for (const { agent: id, map } of agent.subAgents) {
    const child = walk.agents.get(id)
    if (child === undefined) continue
    for (const parameter of child.parameters) {
      const { name } = parameter
      const known = walk.sources.get(id)?.get(name) as Set<string | null>
      const before = known.size
      const mapped = Object.hasOwn(map, name) ? (map[name] ?? null) : name
      for (const source of offered(agent, { parameter, mapped }, walk)) known.add(source)
      if (known.size > before) learned.add(child)
    }
  }
  return [...learned]
}

/** A child takes what its parent has, and else the conversation's; of a value that a model made a trusted one takes the latter too [R30, E15]. */
function offered(
  parent: AgentData,
  { parameter: { policy }, mapped }: { readonly parameter: Parameter; readonly mapped: string | null },
  { sources, sure }: Walk,
): Iterable<string | null> {
  if (mapped === null) return policy === null ? [null] : []
  const parents = sources.get(parent.id)?.get(mapped)
  if (parents === undefined) return policy !== null || sure.has(mapped) ? [mapped] : [mapped, null]
  return policy === null ? parents : [...parents].map((source) => source ?? mapped)
}
