/** The agents that a start cannot reach: those that need a trusted value which is missing. */
import type { StoredAgent } from '@witan/protocol'

/** What decides whether an agent can be called. */
export type ReachAgent = Pick<StoredAgent, 'id' | 'parameters' | 'disabled'> & {
  readonly subAgents: readonly Pick<StoredAgent['subAgents'][number], 'agent' | 'map'>[]
}

/** Agents that nothing but the values of these names lets a run of `rootId` reach, by the name that lacks. */
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

/** The name under which a child's parameter is looked for above it; null where the edge cuts it off. */
export function sourceOf({ map }: ReachAgent['subAgents'][number], name: string): string | null {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : name
}

function namesIn(agents: readonly ReachAgent[]): ReadonlySet<string> {
  const names = new Set(agents.flatMap(({ parameters }) => parameters.map(({ name }) => name)))
  for (const { subAgents } of agents) {
    for (const { map } of subAgents) for (const source of Object.values(map)) if (source !== null) names.add(source)
  }
  return names
}

/** Follows every edge with the values that are bound on the way and that no model made: they alone are taken for a trusted one. */
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
    for (const edge of next.agent.subAgents) {
      const child = byId.get(edge.agent)
      if (child === undefined || child.disabled) continue
      const has = (name: string) => {
        const source = sourceOf(edge, name)
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
