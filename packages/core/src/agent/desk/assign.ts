/** Sub-agents and tools of one agent, put in and taken out one by one: each is a save of that agent like any other. */
import { type AgentData, isWitanError, type StoredAgent, type SubAgentEdge, WitanError } from '@witan/protocol'
import { type DeskContext, existsError, getAgent, lookingAgain, type Saved, saveAgents, toStored } from './desk.ts'

/** A place in a roster. `agent` is null where it was deleted by force. */
export interface SubAgentLine {
  readonly agent: StoredAgent | null
  readonly edge: SubAgentEdge
}

/** A sub-agent that was put into a roster, and the parent as it stands now; `created` is false where only its edge changed. */
export interface AssignedSubAgent extends SubAgentLine {
  readonly agent: StoredAgent
  readonly parent: StoredAgent
  readonly created: boolean
}

/** An agent that is not there yet, and the edge to it. */
export interface NewSubAgent extends RevisionOption {
  readonly child: AgentData
  readonly edge: SubAgentEdge
}

/** Only over this revision of the agent that changes; null or absent: over whichever there is. */
export interface RevisionOption {
  readonly ifRevision?: number | null
}

/** The roster of an agent, in its order. Throws `NOT_FOUND`. */
export async function listSubAgents(desk: DeskContext, parent: string): Promise<readonly SubAgentLine[]> {
  const { data } = await getAgent(desk, parent)
  return data.subAgents.map((edge) => ({ agent: current(desk, edge.agent), edge }))
}

/** The sub-agent's edge in its parent's roster. Throws `NOT_FOUND` where the parent does not list it. */
export async function listedEdge(desk: DeskContext, parent: string, id: string): Promise<SubAgentEdge> {
  return lookingAgain(desk, async () => {
    const { data } = await getAgent(desk, parent)
    const edge = data.subAgents.find((one) => one.agent === id)
    if (edge === undefined) throw notListed(parent, `sub-agent \`${id.slice(0, 80)}\``)
    return edge
  })
}

/** Puts an agent into the roster, or gives it another edge. Throws whatever the parent's check finds, such as `AGENT_REF_UNKNOWN`. */
export async function assignSubAgent(
  desk: DeskContext,
  parent: string,
  { edge, ifRevision = null }: RevisionOption & { readonly edge: SubAgentEdge },
): Promise<AssignedSubAgent> {
  let created = true
  const [saved] = await revise(desk, parent, {
    ifRevision,
    edit: ({ subAgents }) => {
      created = !subAgents.some(({ agent }) => agent === edge.agent)
      const changed = subAgents.map((one) => (one.agent === edge.agent ? edge : one))
      return { subAgents: created ? [...subAgents, edge] : changed }
    },
  })
  return assigned(desk, edge.agent, { parent: saved as Saved, created })
}

/** Creates an agent and puts it into the roster, both or neither. Throws `AGENT_EXISTS`. */
export async function createSubAgent(
  desk: DeskContext,
  parent: string,
  { child, edge, ifRevision = null }: NewSubAgent,
): Promise<AssignedSubAgent> {
  await getAgent(desk, parent)
  if (child.id === parent) throw existsError(parent)
  const saved = await revise(desk, parent, {
    ifRevision,
    child,
    edit: ({ subAgents }) => ({ subAgents: [...subAgents, edge] }),
  })
  return assigned(desk, child.id, { parent: saved[1] as Saved, created: true })
}

/** Takes a sub-agent out of the roster; the agent itself stays. Throws `NOT_FOUND` where it is not listed. */
export async function unassignSubAgent(
  desk: DeskContext,
  parent: string,
  { id, ifRevision = null }: RevisionOption & { readonly id: string },
): Promise<StoredAgent> {
  const [saved] = await revise(desk, parent, {
    ifRevision,
    edit: ({ subAgents }) => {
      const left = subAgents.filter(({ agent }) => agent !== id)
      if (left.length === subAgents.length) throw notListed(parent, `sub-agent \`${id.slice(0, 80)}\``)
      return { subAgents: left }
    },
  })
  return (saved as Saved).agent
}

/** Gives an agent a tool. Throws `TOOL_UNKNOWN`, `NAME_TAKEN`. `created` is false where it had the tool. */
export async function assignTool(
  desk: DeskContext,
  id: string,
  { tool, ifRevision = null }: RevisionOption & { readonly tool: string },
): Promise<Saved> {
  let created = true
  const [saved] = await revise(desk, id, {
    ifRevision,
    edit: ({ tools }) => {
      created = !tools.includes(tool)
      return { tools: created ? [...tools, tool] : tools }
    },
  })
  return { agent: (saved as Saved).agent, created }
}

/** Takes a tool from an agent. Throws `NOT_FOUND` where it has none of that name. */
export async function unassignTool(
  desk: DeskContext,
  id: string,
  { tool, ifRevision = null }: RevisionOption & { readonly tool: string },
): Promise<StoredAgent> {
  const [saved] = await revise(desk, id, {
    ifRevision,
    edit: ({ tools }) => {
      if (!tools.includes(tool)) throw notListed(id, `tool \`${tool.slice(0, 80)}\``)
      return { tools: tools.filter((one) => one !== tool) }
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

/** Saves a change over the very revision it was made from. Without a revision asked for, a change that somebody overtook is made again. */
async function revise(desk: DeskContext, id: string, { ifRevision, child, edit }: Revising): Promise<readonly Saved[]> {
  for (let tries = 1; ; tries += 1) {
    const { data, revision } = await getAgent(desk, id)
    const changed = { ...data, ...edit(data) }
    const each = new Map([[id, { ifRevision: ifRevision ?? revision }]])
    try {
      return await saveAgents(desk, child === undefined ? [changed] : [child, changed], { create: true, each })
    } catch (error) {
      const isOvertaken = isWitanError(error) && error.code === 'REVISION_MISMATCH'
      const hasMoved = desk.registry.rows(desk.database).get(id)?.revision !== revision
      if (!isOvertaken || ifRevision !== null || !hasMoved || tries === mostTries) throw error
    }
  }
}

async function assigned(
  desk: DeskContext,
  id: string,
  { parent, created }: { parent: Saved; created: boolean },
): Promise<AssignedSubAgent> {
  const edge = parent.agent.subAgents.find(({ agent }) => agent === id) as SubAgentEdge
  return { agent: toStored(await getAgent(desk, id)), edge, parent: parent.agent, created }
}

function current(desk: DeskContext, id: string): StoredAgent | null {
  const row = desk.registry.rows(desk.database).get(id)
  return row === undefined ? null : toStored(row)
}

function notListed(id: string, what: string): WitanError {
  return new WitanError('NOT_FOUND', `Agent \`${id.slice(0, 80)}\` lists no ${what}.`, {
    hint: `GET /api/v1/agents/${id.slice(0, 80)} shows what it lists.`,
  })
}
