/** Walking the acquaintance model: what an agent reaches, on which paths, and where it turns in circles. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'

/** Agents by id. */
export type AgentSet = ReadonlyMap<string, AgentData>

/** One way from a root to an agent. */
export interface AgentPath {
  /** Ids from the root, joined by `/`. */
  readonly path: string
  readonly agent: AgentData
  readonly parent: AgentPath | null
  readonly edge: SubAgentEdge | null
}

const mostPaths = 2000

/** All paths from `root`, each agent at most once on a path, parents before children; cut at 2,000. */
export function pathsFrom(root: AgentData, agents: AgentSet): readonly AgentPath[] {
  const paths: AgentPath[] = [{ path: root.id, agent: root, parent: null, edge: null }]
  for (let index = 0; index < paths.length && paths.length < mostPaths; index += 1) {
    const at = paths[index] as AgentPath
    for (const edge of at.agent.subAgents) {
      const child = agents.get(edge.agent)
      if (child === undefined || isOn(at, child.id)) continue
      paths.push({ path: `${at.path}/${child.id}`, agent: child, parent: at, edge })
    }
  }
  return paths
}

function isOn(path: AgentPath | null, id: string): boolean {
  for (let at = path; at !== null; at = at.parent) if (at.agent.id === id) return true
  return false
}

/** All agents that `root` reaches, itself first. */
export function reachable(root: AgentData, agents: AgentSet): readonly AgentData[] {
  const found = new Map([[root.id, root]])
  for (const agent of found.values()) {
    for (const edge of agent.subAgents) {
      const child = agents.get(edge.agent)
      if (child !== undefined) found.set(child.id, child)
    }
  }
  return [...found.values()]
}

/** The cycles through `root`, each as the ids along it with the first again at the end. */
export function cyclesThrough(root: AgentData, agents: AgentSet): readonly (readonly string[])[] {
  const cycles: string[][] = []
  for (const at of pathsFrom(root, agents)) {
    if (at.parent !== null && at.agent.subAgents.some((edge) => edge.agent === root.id))
      cycles.push([...at.path.split('/'), root.id])
  }
  return cycles
}

/** Agents that list `id`. */
export function listedBy(id: string, agents: AgentSet): readonly string[] {
  return [...agents.values()]
    .filter((agent) => agent.id !== id && agent.subAgents.some((edge) => edge.agent === id))
    .map((agent) => agent.id)
}
