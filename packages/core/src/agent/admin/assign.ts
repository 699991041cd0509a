/** Adds and removes single sub-agents and tools of an agent. Each change is an ordinary save of that agent. */
import { type AgentData, isWitanError, type StoredAgent, type SubAgentEdge, WitanError } from '@witan/protocol'
import { type KnowledgeUse, knowledgeUses } from '@witan/protocol/knowledge'
import type { AssignedSubAgent, SubAgentLine } from '@witan/protocol/edges'
import { type AdminContext, getAgent, lookingAgain, toStored } from './admin.ts'
import { existsError, type Saved, saveAgents } from './save.ts'

/** What an assignment came to. `created` is false if only the edge changed. */
export interface SubAgentAssignment extends AssignedSubAgent {
  readonly created: boolean
}

/** A new agent, and the edge to it. */
interface NewSubAgent extends RevisionOption {
  readonly child: AgentData
  readonly edge: SubAgentEdge
}

/** The expected revision of the changed agent; null or absent: any. */
export interface RevisionOption {
  readonly ifRevision?: number | null
}

/** The roster of an agent, in order. Throws `NOT_FOUND`. */
export async function listSubAgents(admin: AdminContext, parent: string): Promise<readonly SubAgentLine[]> {
  const { data } = await getAgent(admin, parent)
  return data.subAgents.map((edge) => ({ agent: current(admin, edge.agent), edge }))
}

/** The sub-agent's edge in its parent's roster. Throws `NOT_FOUND` if the parent does not list it. */
export async function listedEdge(
  admin: AdminContext,
  parent: string,
  { id, word = id }: { readonly id: string; readonly word?: string },
): Promise<SubAgentEdge> {
  return lookingAgain(admin, async () => {
    const { data } = await getAgent(admin, parent)
    const edge = data.subAgents.find((one) => one.agent === id)
    if (edge === undefined) throw subAgentNotListed(parent, word)
    return edge
  })
}

/** Adds an agent to the roster, or replaces its edge. Throws the parent's check errors, such as `AGENT_REF_UNKNOWN`. */
export async function assignSubAgent(
  admin: AdminContext,
  parent: string,
  { edge, ifRevision = null }: RevisionOption & { readonly edge: SubAgentEdge },
): Promise<SubAgentAssignment> {
  let created = true
  const [saved] = await revise(admin, parent, {
    ifRevision,
    edit: ({ subAgents }) => {
      created = !subAgents.some(({ agent }) => agent === edge.agent)
      const changed = subAgents.map((one) => (one.agent === edge.agent ? edge : one))
      return { subAgents: created ? [...subAgents, edge] : changed }
    },
  })
  return assigned(admin, edge.agent, { parent: saved as Saved, created })
}

/** Creates an agent and adds it to the roster, both or neither. Throws `AGENT_EXISTS`. */
export async function createSubAgent(
  admin: AdminContext,
  parent: string,
  { child, edge, ifRevision = null }: NewSubAgent,
): Promise<SubAgentAssignment> {
  await getAgent(admin, parent)
  if (child.id === parent) throw existsError(parent)
  const saved = await revise(admin, parent, {
    ifRevision,
    child,
    edit: ({ subAgents }) => ({ subAgents: [...subAgents, edge] }),
  })
  return assigned(admin, child.id, { parent: saved[1] as Saved, created: true })
}

/** Removes a sub-agent from the roster; the agent itself remains. Throws `NOT_FOUND` if it is not listed. */
export async function unassignSubAgent(
  admin: AdminContext,
  parent: string,
  { id, ifRevision = null }: RevisionOption & { readonly id: string },
): Promise<StoredAgent> {
  const [saved] = await revise(admin, parent, {
    ifRevision,
    edit: ({ subAgents }) => {
      const left = subAgents.filter(({ agent }) => agent !== id)
      if (left.length === subAgents.length) throw notListed(parent, `sub-agent \`${id.slice(0, 80)}\``)
      return { subAgents: left }
    },
  })
  return (saved as Saved).agent
}

/** Adds a tool to an agent. Throws `TOOL_UNKNOWN`, `NAME_TAKEN`. `created` is false if the agent had the tool already. */
export async function assignTool(
  admin: AdminContext,
  id: string,
  { tool, ifRevision = null }: RevisionOption & { readonly tool: string },
): Promise<Saved> {
  let created = true
  const [saved] = await revise(admin, id, {
    ifRevision,
    edit: ({ tools }) => {
      created = !tools.includes(tool)
      return { tools: created ? [...tools, tool] : tools }
    },
  })
  return { agent: (saved as Saved).agent, created }
}

/** Removes a tool from an agent. Throws `NOT_FOUND` if the agent has no tool of that name. */
export async function unassignTool(
  admin: AdminContext,
  id: string,
  { tool, ifRevision = null }: RevisionOption & { readonly tool: string },
): Promise<StoredAgent> {
  const [saved] = await revise(admin, id, {
    ifRevision,
    edit: ({ tools }) => {
      if (!tools.includes(tool)) throw notListed(id, `tool \`${tool.slice(0, 80)}\``)
      return { tools: tools.filter((one) => one !== tool) }
    },
  })
  return (saved as Saved).agent
}

/** Gives an agent a knowledge base, or replaces how it searches it. Throws `KNOWLEDGE_UNKNOWN`, and what a check of its filter finds. */
export async function assignKnowledge(
  admin: AdminContext,
  id: string,
  { use, ifRevision = null }: RevisionOption & { readonly use: KnowledgeUse },
): Promise<Saved> {
  let created = true
  const [saved] = await revise(admin, id, {
    ifRevision,
    edit: ({ knowledgeBases }) => {
      const at = knowledgeUses({ knowledgeBases }).findIndex((one) => one.id === use.id)
      created = at < 0
      return { knowledgeBases: created ? [...knowledgeBases, use] : knowledgeBases.with(at, use) }
    },
  })
  return { agent: (saved as Saved).agent, created }
}

/** Takes a knowledge base from an agent. Throws `NOT_FOUND` if the agent does not list it. */
export async function unassignKnowledge(
  admin: AdminContext,
  id: string,
  { base, ifRevision = null }: RevisionOption & { readonly base: string },
): Promise<StoredAgent> {
  const [saved] = await revise(admin, id, {
    ifRevision,
    edit: (agent) => {
      const rest = agent.knowledgeBases.filter((one) => (typeof one === 'string' ? one : one.id) !== base)
      if (rest.length === agent.knowledgeBases.length) throw notListed(id, `knowledge base \`${base.slice(0, 80)}\``)
      return { knowledgeBases: rest }
    },
  })
  return (saved as Saved).agent
}

interface Revising {
  readonly ifRevision: number | null
  /** A new agent that is saved together with the change. */
  readonly child?: AgentData
  edit(agent: AgentData): Partial<AgentData>
}

const mostTries = 100

/** Saves a change against the revision that it was based on. If no revision was requested, a conflicting change is retried. */
async function revise(
  admin: AdminContext,
  id: string,
  { ifRevision, child, edit }: Revising,
): Promise<readonly Saved[]> {
  for (let tries = 1; ; tries += 1) {
    const { data, revision } = await getAgent(admin, id)
    const changed = { ...data, ...edit(data) }
    const each = new Map([[id, { ifRevision: ifRevision ?? revision }]])
    try {
      return await saveAgents(admin, child === undefined ? [changed] : [child, changed], { create: true, each })
    } catch (error) {
      const isOvertaken = isWitanError(error) && error.code === 'REVISION_MISMATCH'
      const hasMoved = admin.registry.current(admin.database).agents.get(id)?.revision !== revision
      if (!isOvertaken || ifRevision !== null || !hasMoved || tries === mostTries) throw error
    }
  }
}

async function assigned(
  admin: AdminContext,
  id: string,
  { parent, created }: { parent: Saved; created: boolean },
): Promise<SubAgentAssignment> {
  const edge = parent.agent.subAgents.find(({ agent }) => agent === id) as SubAgentEdge
  return { agent: toStored(admin, await getAgent(admin, id)), edge, parent: parent.agent, created }
}

function current(admin: AdminContext, id: string): StoredAgent | null {
  const row = admin.registry.current(admin.database).agents.get(id)
  return row === undefined ? null : toStored(admin, row)
}

/** The error for a sub-agent that an agent does not list, or that the caller may not run. */
export function subAgentNotListed(parent: string, word: string): WitanError {
  return notListed(parent, `sub-agent \`${word.slice(0, 80)}\``)
}

function notListed(id: string, what: string): WitanError {
  return new WitanError('NOT_FOUND', `Agent \`${id.slice(0, 80)}\` lists no ${what}.`, {
    hint: `GET /api/v1/agents/${id.slice(0, 80)} shows what it lists.`,
  })
}
