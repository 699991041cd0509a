/** The agents that a start cannot reach: those that need a trusted value which is missing. */
import type { StoredAgent } from '@witan/protocol'
import { type EdgeLists, mappedName } from '@witan/protocol/edges'
import { edgesFrom } from './agents.ts'

/** What decides whether an agent can be called. */
export type ReachAgent = Pick<StoredAgent, 'id' | 'parameters' | 'disabled'> & EdgeLists

/** The agents that a run of `rootId` cannot reach without a value of a missing name, by that name. */
export function lostWithout(
  agents: readonly ReachAgent[],
  rootId: string,
  missing: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const all = namesIn(agents)
  const full = reached(agents, rootId, all)
  const lost = new Map<string, readonly string[]>()
  for (const name of missing) {
    const left = reached(agents, rootId, new Set([...all].filter((one) => one !== name)))
    const ids = [...full].filter((id) => !left.has(id))
    if (ids.length > 0) lost.set(name, ids)
  }
  return lost
}

function namesIn(agents: readonly ReachAgent[]): ReadonlySet<string> {
  const names = new Set(agents.flatMap(({ parameters }) => parameters.map(({ name }) => name)))
  for (const { map } of agents.flatMap(edgesFrom)) {
    for (const source of Object.values(map)) if (source !== null) names.add(source)
  }
  return names
}

/** Follows every edge with the bound values that no model made: only they can supply a trusted parameter. */
function reached(agents: readonly ReachAgent[], rootId: string, given: ReadonlySet<string>): ReadonlySet<string> {
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const found = new Set<string>()
  const seen = new Set<string>()
  const root = byId.get(rootId)
  const open = root === undefined ? [] : [{ agent: root, bound: declared(root).filter((name) => given.has(name)) }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const key = `${next.agent.id}\n${next.bound.toSorted().join('\n')}`
    if (seen.has(key)) continue
    seen.add(key)
    found.add(next.agent.id)
    for (const edge of edgesFrom(next.agent)) {
      const child = byId.get(edge.agent)
      if (child === undefined || child.disabled) continue
      const has = (name: string) => {
        const source = mappedName(edge, name)
        return source !== null && (next.bound.includes(source) || given.has(source))
      }
      const isOpen = child.parameters.every(({ name, policy }) => policy !== 'forbidModelGeneration' || has(name))
      if (isOpen) open.push({ agent: child, bound: declared(child).filter(has) })
    }
  }
  return found
}

function declared({ parameters }: ReachAgent): string[] {
  return parameters.map(({ name }) => name)
}
