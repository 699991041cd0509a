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
 * off reaches nobody below that edge [E17].
 */
export function takersOf(root: AgentData, agents: AgentSet): ReadonlyMap<string, readonly Taker[]> {
  const all = reachable(root, agents)
  const names = new Map(all.map((agent) => [agent.id, new Map<string, Set<string>>()]))
  for (const { name } of root.parameters) names.get(root.id)?.set(name, new Set([name]))
  let isNew = true
  while (isNew) isNew = all.map((agent) => handDown(agent, names, agents)).includes(true)
  const takers = new Map<string, Taker[]>()
  for (const agent of all) {
    for (const parameter of agent.parameters) {
      for (const given of names.get(agent.id)?.get(parameter.name) ?? [])
        takers.set(given, [...(takers.get(given) ?? []), { agent, parameter }])
    }
  }
  return takers
}

type GivenNames = ReadonlyMap<string, Map<string, Set<string>>>

/** A child takes what its parent has, and otherwise what the conversation gives under the same name. Whether that was news. */
function handDown(agent: AgentData, names: GivenNames, agents: AgentSet): boolean {
  let isNew = false
  for (const { agent: id, map } of agent.subAgents) {
    for (const { name } of agents.get(id)?.parameters ?? []) {
      const mapped = Object.hasOwn(map, name) ? map[name] : name
      if (mapped === null || mapped === undefined) continue
      const childs = names.get(id) as Map<string, Set<string>>
      const known = childs.get(name) ?? new Set()
      const before = known.size
      known.add(mapped)
      for (const given of names.get(agent.id)?.get(mapped) ?? []) known.add(given)
      childs.set(name, known)
      isNew ||= known.size > before
    }
  }
  return isNew
}
