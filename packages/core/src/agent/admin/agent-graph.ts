/** The graph of what an agent reaches: nodes, edges, and where most of them meet. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'
import { type Edge, edgesOf } from '@witan/protocol/edges'
import type { HotSpot } from '@witan/protocol/protocols'
import { reachable } from '../check/graph.ts'
import { hotSpotsOf } from '../check/hot-spots.ts'
import { remotesOf } from '../remote-agent.ts'
import { type AdminContext, currentAgents, getAgent } from './admin.ts'

/** A node of the graph. */
interface GraphNode {
  readonly id: string
  readonly name: string
  readonly kind: 'agent' | 'workflow' | 'user' | 'remote'
  /** How a workflow runs its steps; null for any other node. */
  readonly workflow: 'sequence' | 'parallel' | 'loop' | null
}

/** An edge of the graph. Those of kind `users` lead to the people whom an agent may ask. */
interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: Edge['kind'] | 'users'
  readonly description: string
  /** The place among the steps of a workflow, from 1; null for any other edge. An agent that stands twice has two edges. */
  readonly step: number | null
  /** Whether the agent waits for a sub-agent or a remote agent; null for any other edge. */
  readonly blocking: SubAgentEdge['blocking'] | null
  readonly style: SubAgentEdge['style'] | null
}

/**
 * What one agent reaches. The node of a person has the person's id; that of any person in a role is `role:<name>`; that of those who
 * take part in the conversation is `participants`. That of an agent on another server has its address, or the URL of its card. `hotSpots` has the busiest nodes, at most 10. */
export interface AgentGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly hotSpots: readonly HotSpot[]
}

/** The graph of an agent. Throws `NOT_FOUND`. */
export async function graphOf(admin: AdminContext, id: string): Promise<AgentGraph> {
  const row = await getAgent(admin, id)
  const agents = reachable(row.data, currentAgents(admin))
  const people = new Map<string, GraphNode>()
  const remotes = new Map<string, GraphNode>()
  const edges = agents.flatMap((agent): readonly GraphEdge[] => {
    const asked = askedBy(agent)
    for (const node of asked) if (!people.has(node.id)) people.set(node.id, node)
    for (const { address, card = '' } of remotesOf(agent)) remotes.set(address ?? card, remoteNode(address ?? card))
    const askedEdges = asked.map((to) => ({
      from: agent.id,
      to: to.id,
      kind: 'users' as const,
      description: '',
      ...bare,
    }))
    return [...linksOf(agent), ...askedEdges]
  })
  const nodes = [...agents.map(nodeOf), ...people.values(), ...remotes.values()]
  return {
    nodes,
    edges,
    hotSpots: hotSpotsOf(
      nodes.map(({ id }) => id),
      edges,
    ),
  }
}

const bare = { step: null, blocking: null, style: null } as const

function linksOf(agent: AgentData): GraphEdge[] {
  return edgesOf(agent).map((edge) => {
    const { kind, at, description } = edge
    const to = edge.target === 'remote' ? edge.remote : edge.agent
    const link = { from: agent.id, to, kind, description, ...bare }
    if (kind === 'remotes') return { ...link, blocking: remotesOf(agent)[Number(at.split('.')[1])]?.blocking ?? null }
    if (kind === 'workflow') return { ...link, step: Number(at.split('.')[2]) + 1 }
    const listed = kind === 'subAgents' ? agent.subAgents[Number(at.split('.')[1])] : undefined
    return listed === undefined ? link : { ...link, blocking: listed.blocking, style: listed.style }
  })
}

function nodeOf({ id, name = id, workflow }: AgentData): GraphNode {
  return { id, name, kind: workflow === null ? 'agent' : 'workflow', workflow: workflow?.kind ?? null }
}

function remoteNode(id: string): GraphNode {
  return { id, name: id, kind: 'remote', workflow: null }
}

/** The people whom an agent may ask, in the order of its definition. */
function askedBy({ users }: AgentData): readonly GraphNode[] {
  if (users === 'participants') return [{ id: 'participants', name: 'who takes part', kind: 'user', workflow: null }]
  return users.map((entry) =>
    'role' in entry
      ? { id: `role:${entry.role}`, name: `anybody in the role ${entry.role}`, kind: 'user', workflow: null }
      : { id: entry.id, name: entry.name ?? entry.id, kind: 'user', workflow: null },
  )
}
