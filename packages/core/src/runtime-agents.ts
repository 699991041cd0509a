/** The agents of one principal's database: whole ones, their sub-agents and tools one by one, and direct runs. */
import { type SubAgentEdge, WitanError } from '@witan/protocol'
import { subAgentEdgeSchema } from '@witan/protocol/schemas'
import {
  assignSubAgent,
  assignTool,
  createSubAgent,
  listSubAgents,
  unassignSubAgent,
  unassignTool,
} from './agent/assign.ts'
import { checkAgents, deleteAgent, getAgent, graphOf, readAgent, saveAgents, toStored } from './agent/desk.ts'
import type { Principal } from './identity/principal.ts'
import { parseBody } from './runtime-body.ts'
import type { AcceptedRun, AgentDesk, SubAgentDesk, ToolDesk } from './runtime-contract.ts'
import { openDirectRun } from './runtime-direct.ts'
import { pageOf } from './runtime-views.ts'
import type { Parts } from './runtime-wiring.ts'

/** Runs in a conversation, as `Witan.run` does. */
export type RunIn = (conversation: string, request: unknown) => Promise<AcceptedRun>

interface Room {
  readonly parts: Parts
  readonly principal: Principal
  readonly ready: Promise<void>
}

/** The desk of one principal; every method waits until the runtime is ready. */
export function agentDesk(room: Room, run: RunIn): AgentDesk {
  const { parts, principal, ready } = room
  const desk = parts.deskOf(principal.database)
  return {
    async list(options = {}) {
      await ready
      await parts.registry.ensure(desk.database)
      const rows = [...parts.registry.rows(desk.database).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(rows.map(toStored), options, (agent) => agent.id)
    },
    get: (id) => ready.then(async () => toStored(await getAgent(desk, id))),
    async save(agent, options = {}) {
      await ready
      const [saved] = await saveAgents(desk, [agent], options)
      return saved as NonNullable<typeof saved>
    },
    saveAll: (agents) => ready.then(() => saveAgents(desk, agents)),
    delete: (id, options = {}) => ready.then(() => deleteAgent(desk, id, options)),
    check: (agents) => ready.then(() => checkAgents(desk, agents)),
    graph: (id) => ready.then(() => graphOf(desk, id)),
    subAgents: subAgentDesk(room, run),
    tools: toolDesk(room),
  }
}

function subAgentDesk({ parts, principal, ready }: Room, run: RunIn): SubAgentDesk {
  const desk = parts.deskOf(principal.database)
  return {
    list: (parent, options = {}) =>
      ready.then(async () => pageOf(await listSubAgents(desk, parent), options, ({ edge }) => edge.agent)),
    async create(parent, { agent, edge, ifRevision = null }) {
      await ready
      const child = readAgent(agent)
      return createSubAgent(desk, parent, { child, edge: readEdge(edge, child.id), ifRevision })
    },
    async assign(parent, id, { edge, ifRevision = null } = {}) {
      await ready
      return assignSubAgent(desk, parent, { edge: readEdge(edge, id), ifRevision })
    },
    unassign: (parent, id, options = {}) => ready.then(() => unassignSubAgent(desk, parent, { ...options, id })),
    open: (parent, id, request) => ready.then(() => openDirectRun({ parts, principal }, { parent, id, request })),
    async run(parent, id, request) {
      await ready
      const { conversationId, body } = await openDirectRun({ parts, principal }, { parent, id, request })
      return run(conversationId, body)
    },
  }
}

function toolDesk({ parts, principal, ready }: Room): ToolDesk {
  const desk = parts.deskOf(principal.database)
  return {
    assign: (id, tool, options = {}) => ready.then(() => assignTool(desk, id, { ...options, tool })),
    unassign: (id, tool, options = {}) => ready.then(() => unassignTool(desk, id, { ...options, tool })),
  }
}

/** An edge as somebody wrote it; where it names its agent, that must be this one. */
function readEdge(edge: unknown, id: string): SubAgentEdge {
  const given = edge ?? {}
  const named = (given as { readonly agent?: unknown }).agent
  if (named !== undefined && named !== id) {
    throw new WitanError('ID_INVALID', `The edge names another agent than \`${id.slice(0, 80)}\`.`, {
      path: 'agent',
      hint: 'Leave `agent` out of the edge, or make both the same.',
    })
  }
  return parseBody(subAgentEdgeSchema, typeof given === 'object' ? { ...given, agent: id } : given)
}
