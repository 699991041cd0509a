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
} from '../agent/desk/assign.ts'
import { checkAgents, deleteAgent, getAgent, graphOf, readAgent, saveAgents, toStored } from '../agent/desk/desk.ts'
import { idOfNamed } from '../agent/registry.ts'
import type { Principal } from '../identity/principal.ts'
import { parseBody } from './body.ts'
import type { AcceptedRun, AgentDesk, SubAgentDesk, ToolDesk } from './contract.ts'
import { openDirectRun } from './direct.ts'
import { pageOf } from './views.ts'
import type { Parts } from './wiring.ts'

/** Runs in a conversation, as `Witan.run` does. */
export type RunIn = (conversation: string, request: unknown) => Promise<AcceptedRun>

interface Room {
  readonly parts: Parts
  readonly principal: Principal
  readonly ready: () => Promise<void>
}

/** The desk of one principal; every method waits until the runtime is ready. */
export function agentDesk(room: Room, run: RunIn): AgentDesk {
  const { parts, principal, ready } = room
  const desk = parts.deskOf(principal.database)
  const named = namesOf(room)
  return {
    async list(options = {}) {
      await ready()
      await parts.registry.ensure(desk.database)
      const rows = [...parts.registry.rows(desk.database).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(rows.map(toStored), options, (agent) => agent.id)
    },
    get: async (id) => toStored(await getAgent(desk, await named(id))),
    async save(agent, options = {}) {
      await ready()
      const [saved] = await saveAgents(desk, [agent], options)
      return saved as NonNullable<typeof saved>
    },
    saveAll: (agents) => ready().then(() => saveAgents(desk, agents)),
    delete: async (id, options = {}) => deleteAgent(desk, await named(id), options),
    check: (agents) => ready().then(() => checkAgents(desk, agents)),
    graph: async (id) => graphOf(desk, await named(id)),
    subAgents: subAgentDesk(room, run),
    tools: toolDesk(room),
  }
}

/** An agent is found by its id or its display name [C28]. */
function namesOf({ parts, principal, ready }: Room): (word: string) => Promise<string> {
  const { registry } = parts
  return async (word) => {
    await ready()
    return idOfNamed(registry, principal.database, word)
  }
}

function subAgentDesk(room: Room, run: RunIn): SubAgentDesk {
  const { parts, principal } = room
  const desk = parts.deskOf(principal.database)
  const named = namesOf(room)
  const open: SubAgentDesk['open'] = async (parent, id, request) =>
    openDirectRun({ parts, principal }, { parent: await named(parent), id: await named(id), request })
  return {
    list: async (parent, options = {}) =>
      pageOf(await listSubAgents(desk, await named(parent)), options, ({ edge }) => edge.agent),
    async create(parent, { agent, edge, ifRevision = null }) {
      const id = await named(parent)
      const child = readAgent(agent)
      return createSubAgent(desk, id, { child, edge: readEdge(edge, child.id), ifRevision })
    },
    async assign(parent, word, { edge, ifRevision = null } = {}) {
      const id = await named(word)
      return assignSubAgent(desk, await named(parent), { edge: readEdge(edge, id), ifRevision })
    },
    unassign: async (parent, id, options = {}) =>
      unassignSubAgent(desk, await named(parent), { ...options, id: await named(id) }),
    open,
    async run(parent, id, request) {
      const { conversationId, body } = await open(parent, id, request)
      return run(conversationId, body)
    },
  }
}

function toolDesk(room: Room): ToolDesk {
  const { parts, principal } = room
  const desk = parts.deskOf(principal.database)
  const named = namesOf(room)
  return {
    assign: async (id, tool, options = {}) => assignTool(desk, await named(id), { ...options, tool }),
    unassign: async (id, tool, options = {}) => unassignTool(desk, await named(id), { ...options, tool }),
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
