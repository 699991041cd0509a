/** The agents of one principal's database: complete agents, their single sub-agents and tools, and direct runs. */
import { type SubAgentEdge, WitanError } from '@witan/protocol'
import { subAgentEdgeSchema } from '@witan/protocol/schemas'
import {
  assignSubAgent,
  assignTool,
  createSubAgent,
  listSubAgents,
  unassignSubAgent,
  unassignTool,
} from '../agent/admin/assign.ts'
import { graphOf } from '../agent/admin/graph.ts'
import { checkTogether, deleteAgent, getAgent, toStored } from '../agent/admin/admin.ts'
import { readAgent } from '../agent/admin/read.ts'
import { saveAgents, saveTogether } from '../agent/admin/save.ts'
import { idOfNamed } from '../agent/registry.ts'
import { parseBody } from './body.ts'
import type { AcceptedRun, AgentAdmin, SubAgentAdmin, ToolAdmin } from './contract.ts'
import { openDirectRun } from './direct.ts'
import { pageOf } from './views.ts'
import type { Scope } from './scope.ts'

/** Starts a run in a conversation, as `Witan.run` does. */
export type RunIn = (conversation: string, request: unknown) => Promise<AcceptedRun>

/** The admin of one principal; every method waits until the runtime is ready. */
export function agentAdmin(scope: Scope, run: RunIn): AgentAdmin {
  const { parts, database, ready } = scope
  const admin = parts.adminOf(database)
  const named = namesOf(scope)
  return {
    async list(options = {}) {
      await ready()
      await parts.registry.ensure(admin.database)
      const rows = [...parts.registry.current(admin.database).agents.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(
        rows.map((row) => toStored(admin, row)),
        options,
        (agent) => agent.id,
      )
    },
    get: async (id) => toStored(admin, await getAgent(admin, await named(id))),
    async save(agent, options = {}) {
      await ready()
      const [saved] = await saveAgents(admin, [agent], options)
      return saved as NonNullable<typeof saved>
    },
    saveAll: (agents) => ready().then(() => saveAgents(admin, agents)),
    saveTogether: (definitions) => ready().then(() => saveTogether(admin, definitions)),
    delete: async (id, options = {}) => deleteAgent(admin, await named(id), options),
    check: (agents, protocols) => ready().then(() => checkTogether(admin, { agents, protocols })),
    graph: async (id) => graphOf(admin, await named(id)),
    subAgents: subAgentAdmin(scope, run),
    tools: toolAdmin(scope),
  }
}

/** Resolves an agent's id or display name to its id [C28]. */
function namesOf({ parts, database, ready }: Scope): (word: string) => Promise<string> {
  const { registry } = parts
  return async (word) => {
    await ready()
    return idOfNamed(registry, database, word)
  }
}

function subAgentAdmin(scope: Scope, run: RunIn): SubAgentAdmin {
  const { parts, database } = scope
  const admin = parts.adminOf(database)
  const named = namesOf(scope)
  const open: SubAgentAdmin['open'] = async (parent, id, request) =>
    openDirectRun(scope, { parent: await named(parent), id: await named(id), request })
  return {
    list: async (parent, options = {}) =>
      pageOf(await listSubAgents(admin, await named(parent)), options, ({ edge }) => edge.agent),
    async create(parent, { agent, edge, ifRevision = null }) {
      const id = await named(parent)
      const child = readAgent(agent)
      return createSubAgent(admin, id, { child, edge: readEdge(edge, child.id), ifRevision })
    },
    async assign(parent, word, { edge, ifRevision = null } = {}) {
      const id = await named(word)
      return assignSubAgent(admin, await named(parent), { edge: readEdge(edge, id), ifRevision })
    },
    unassign: async (parent, id, options = {}) =>
      unassignSubAgent(admin, await named(parent), { ...options, id: await named(id) }),
    open,
    async run(parent, id, request) {
      const { conversationId, body } = await open(parent, id, request)
      return run(conversationId, body)
    },
  }
}

function toolAdmin(scope: Scope): ToolAdmin {
  const { parts, database } = scope
  const admin = parts.adminOf(database)
  const named = namesOf(scope)
  return {
    assign: async (id, tool, options = {}) => assignTool(admin, await named(id), { ...options, tool }),
    unassign: async (id, tool, options = {}) => unassignTool(admin, await named(id), { ...options, tool }),
  }
}

/** An edge as written. If it names its agent, that must be `id`. */
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
