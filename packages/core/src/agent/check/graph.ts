/** Walks the graph of agents: what an agent reaches, on which paths, and its cycles. */
import type { AgentData } from '@witan/protocol'
import { canBegin, type AgentEdge, agentEdgesOf } from '@witan/protocol/edges'
import type { Pausable } from '../../identity/pausable.ts'

/** Agents by id. */
export type AgentSet = ReadonlyMap<string, AgentData>

/** One way from a root to an agent. */
export interface AgentPath {
  /** The root's id and the segments of the edges, joined by `/`. A target of a hand-over follows the position, never another target. */
  readonly path: string
  /** The number of its edges that add depth. */
  readonly levels: number
  readonly agent: AgentData
  readonly parent: AgentPath | null
  readonly edge: AgentEdge | null
}

/** The maximum number of paths that are examined per root. */
export const mostPaths = 2000

/** What to leave out of a walk. */
interface WalkOptions {
  /** Stop at this many paths; default 2,000. */
  readonly most?: number
  /** Visit only these agents; default: all of the set. */
  readonly within?: ReadonlySet<AgentData>
  /** Follow only these edges; default: all. */
  readonly follows?: (edge: AgentEdge) => boolean
}

/** All paths from `root`, shortest first. A path contains each agent at most once. Cut at `most`. */
export function* pathsFrom(
  root: AgentData,
  agents: AgentSet,
  { most = mostPaths, within, follows = () => true }: WalkOptions = {},
): Pausable<readonly AgentPath[]> {
  const paths: AgentPath[] = [{ path: root.id, levels: 0, agent: root, parent: null, edge: null }]
  for (const at of paths) {
    yield
    for (const edge of agentEdgesOf(at.agent)) {
      const agent = agents.get(edge.agent)
      if (agent === undefined || !follows(edge) || within?.has(agent) === false || isOn(at, agent.id)) continue
      if (paths.length >= most) return paths
      const levels = at.levels + (edge.addsDepth ? 1 : 0)
      paths.push({ path: `${above(at, edge).path}/${edge.segment}`, levels, agent, parent: at, edge })
    }
  }
  return paths
}

/** Where control of the agent at the end of a path began: the path itself, unless hand-overs lead to it. */
export function positionOf(at: AgentPath): AgentPath {
  let from = at
  while (from.edge?.addsDepth === false && from.parent !== null) from = from.parent
  return from
}

/** The path that an edge extends. For a hand-over it is the path of the position, so targets never form a chain. */
function above(at: AgentPath, { addsDepth }: AgentEdge): AgentPath {
  return addsDepth ? at : positionOf(at)
}

function isOn(path: AgentPath | null, id: string): boolean {
  for (let at = path; at !== null; at = at.parent) if (at.agent.id === id) return true
  return false
}

/** All agents that `root` reaches, including itself, first. */
export function reachable(root: AgentData, agents: AgentSet): readonly AgentData[] {
  return reachableFrom([root], agents)
}

/** All agents that any of these reaches; these come first. */
export function reachableFrom(roots: readonly AgentData[], agents: AgentSet): readonly AgentData[] {
  const found = new Map(roots.map((root) => [root.id, root]))
  for (const agent of found.values()) {
    for (const edge of agentEdgesOf(agent)) {
      const child = agents.get(edge.agent)
      if (child !== undefined && !found.has(child.id)) found.set(child.id, child)
    }
  }
  return [...found.values()]
}

/** A cycle: each edge with the agent that has it, in order. The last edge leads back to the first agent. */
type Cycle = readonly { readonly from: string; readonly edge: AgentEdge }[]

/** The shortest cycles through `root`, and how many were found. */
export function* cyclesThrough(
  root: AgentData,
  { agents, listers, most }: { readonly agents: AgentSet; readonly listers: Listers; readonly most: number },
): Pausable<{ readonly cycles: readonly Cycle[]; readonly count: number }> {
  const cycles: Cycle[] = []
  let count = 0
  const within = circleOf(root, agents, listers)
  if (within.size === 1) return { cycles, count }
  const back = new Set(listers.get(root.id))
  for (const at of yield* pathsFrom(root, agents, { within, follows: canBegin })) {
    const last = back.has(at.agent.id)
      ? agentEdgesOf(at.agent).find((edge) => edge.agent === root.id && canBegin(edge))
      : undefined
    if (last === undefined) continue
    count += 1
    if (cycles.length < most) cycles.push([...edgesTo(at), { from: at.agent.id, edge: last }])
  }
  return { cycles, count }
}

function edgesTo({ parent, edge }: AgentPath): Cycle {
  return parent === null || edge === null ? [] : [...edgesTo(parent), { from: parent.agent.id, edge }]
}

/** The agents that `root` reaches and that reach it: all cycles of `root` consist of them. */
function circleOf(root: AgentData, agents: AgentSet, listers: Listers): ReadonlySet<AgentData> {
  const below = new Set(reachable(root, agents))
  const circle = new Set([root])
  for (const agent of circle) {
    for (const id of listers.get(agent.id) ?? []) {
      const parent = agents.get(id)
      if (parent !== undefined && below.has(parent)) circle.add(parent)
    }
  }
  return circle
}

/** For each id, the agents that list it. */
export type Listers = ReadonlyMap<string, readonly string[]>

/** The listers of every agent of a set. */
export function listersOf(agents: AgentSet): Listers {
  const listers = new Map<string, string[]>()
  for (const agent of agents.values()) {
    for (const listed of new Set(agentEdgesOf(agent).map((edge) => edge.agent))) {
      if (listed === agent.id) continue
      const known = listers.get(listed)
      if (known === undefined) listers.set(listed, [agent.id])
      else known.push(agent.id)
    }
  }
  return listers
}

/** Agents that list `id`. */
export function listedBy(id: string, agents: AgentSet): readonly string[] {
  return [...agents.values()]
    .filter((agent) => agent.id !== id && agentEdgesOf(agent).some((edge) => edge.agent === id))
    .map((agent) => agent.id)
}
