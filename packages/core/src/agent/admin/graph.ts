/** The graph of what an agent reaches: nodes, edges, and where most of them meet. */
import type { AgentData } from '@witan/protocol'
import { reachable } from '../check/graph.ts'
import { type Edge, edgesOf } from '../edges.ts'
import { type AdminContext, currentAgents, getAgent } from './admin.ts'

/** A node of the graph. */
export interface GraphNode {
  readonly id: string
  readonly name: string
  readonly kind: 'agent' | 'workflow'
}

/** An edge of the graph. */
export interface GraphEdge extends Pick<Edge, 'kind' | 'description'> {
  readonly from: string
  readonly to: string
}

/** How many edges lead to a node and away from it. */
export interface HotSpot {
  readonly id: string
  readonly in: number
  readonly out: number
}

/** What one agent reaches. `hotSpots` has the busiest nodes, at most 10. */
export interface AgentGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly hotSpots: readonly HotSpot[]
}

/** The graph of an agent. Throws `NOT_FOUND`. */
export async function graphOf(admin: AdminContext, id: string): Promise<AgentGraph> {
  const row = await getAgent(admin, id)
  const agents = reachable(row.data, currentAgents(admin))
  const edges = agents.flatMap((agent) =>
    edgesOf(agent).map(({ kind, agent: to, description }) => ({ from: agent.id, to, kind, description })),
  )
  return { nodes: agents.map(nodeOf), edges, hotSpots: hotSpotsOf(agents, edges) }
}

function nodeOf({ id, name = id, workflow }: AgentData): GraphNode {
  return { id, name, kind: workflow === null ? 'agent' : 'workflow' }
}

const mostSpots = 10

function hotSpotsOf(agents: readonly AgentData[], edges: readonly GraphEdge[]): readonly HotSpot[] {
  const spots = new Map(agents.map(({ id }) => [id, { id, in: 0, out: 0 }]))
  for (const { from, to } of edges) {
    const [one, other] = [spots.get(from), spots.get(to)]
    if (one !== undefined) one.out += 1
    if (other !== undefined) other.in += 1
  }
  const busy = [...spots.values()].filter((spot) => spot.in + spot.out > 0)
  return busy.sort((one, other) => other.in + other.out - one.in - one.out).slice(0, mostSpots)
}
