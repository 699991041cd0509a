/** The agents of one principal's database: complete agents, their single sub-agents and tools, and direct runs. */
import { type SubAgentEdge, WitanError } from '@witan/protocol'
import type { AgentView } from '@witan/protocol/access'
import { knowledgeUses, knowledgeUseSchema } from '@witan/protocol/knowledge'
import { subAgentEdgeSchema } from '@witan/protocol/schemas'
import {
  assignKnowledge,
  assignSubAgent,
  assignTool,
  createSubAgent,
  listSubAgents,
  unassignKnowledge,
  unassignSubAgent,
  unassignTool,
} from '../agent/admin/assign.ts'
import { graphOf } from '../agent/admin/agent-graph.ts'
import { checkTogether, deleteAgent, getAgent, toStored } from '../agent/admin/admin.ts'
import { readAgent } from '../agent/admin/read.ts'
import { saveAgents, saveTogether } from '../agent/admin/save.ts'
import type { AgentRow } from '../agent/records.ts'
import { frozen } from '../identity/frozen.ts'
import { runWithPauses } from '../identity/pausable.ts'
import { idOfNamed } from '../agent/registry.ts'
import { notFound, nothingHere } from '../identity/not-found.ts'
import { hasRole, readsAll } from '../identity/rights.ts'
import { parseBody } from './body.ts'
import type { AcceptedRun, AgentAdmin, AgentKnowledge, SubAgentAdmin, ToolAdmin } from './contract.ts'
import { openDirectRun } from './direct.ts'
import { savedBase } from './knowledge.ts'
import { isAdmitted } from './reach.ts'
import { pageOf } from './page.ts'
import { agentTools, previewAgent, serverTools } from './preview.ts'
import { listRevisions, readRevision } from './revisions.ts'
import type { Scope } from './scope.ts'
import { tryTool } from './try-tool.ts'

/** Starts a run in a conversation, as `Witan.run` does. */
type RunIn = (conversation: string, request: unknown) => Promise<AcceptedRun>

/** The admin of one principal; every method waits until the runtime is ready. */
export function agentAdmin(scope: Scope, run: RunIn): AgentAdmin {
  const { parts, principal, database } = scope
  const admin = parts.adminOf(database, principal)
  const admitted = admission(scope)
  const [read, change] = [namesOf(scope, 'read'), namesOf(scope, 'admin')]
  return {
    ...agentViews(scope),
    async list(options = {}) {
      await admitted('read')
      await parts.registry.ensure(admin.database)
      const rows = [...parts.registry.current(admin.database).agents.values()].sort(byId)
      return pageOf(rows, options, { item: (row) => toStored(admin, row), id: ({ id }) => id })
    },
    get: async (id) => toStored(admin, await getAgent(admin, await read(id))),
    async save(agent, options = {}) {
      await admitted('admin')
      const [saved] = await saveAgents(admin, [agent], options)
      return saved as NonNullable<typeof saved>
    },
    saveAll: (agents) => admitted('admin').then(() => saveAgents(admin, agents)),
    async saveTogether(definitions) {
      await admitted('admin')
      const { knowledge, ...saved } = await saveTogether(admin, definitions)
      return { ...saved, knowledge: await Promise.all(knowledge.map((one) => savedBase(scope, one))) }
    },
    delete: async (id, options = {}) => deleteAgent(admin, await change(id), options),
    check: (agents, protocols, knowledge) =>
      admitted('admin').then(() => checkTogether(admin, { agents, protocols, knowledge })),
    graph: async (id) => graphOf(admin, await read(id)),
    preview: async (id, request = {}) => previewAgent(scope, await change(id), request),
    revisions: {
      list: async (id, options = {}) => listRevisions(admin, (await getAgent(admin, await read(id))).id, options),
      async get(id, revision) {
        const { id: known } = await getAgent(admin, await read(id))
        return toStored(admin, await readRevision<AgentRow>(admin, known, revision))
      },
    },
    subAgents: subAgentAdmin(scope, run),
    tools: toolAdmin(scope),
    knowledge: agentKnowledge(scope),
  }
}

/** What a principal that may call agents, but not read them whole, sees of them. */
function agentViews(scope: Scope): Pick<AgentAdmin, 'views' | 'view'> {
  const { parts, principal, database, ready } = scope
  const isSeen = (id: string) => readsAll(principal) || (hasRole(principal, 'run') && isAdmitted(scope, id))
  return {
    async views(options = {}) {
      await ready()
      await parts.registry.ensure(database)
      const rows = [...parts.registry.current(database).agents.values()].filter(({ id }) => isSeen(id))
      return pageOf(rows.sort(byId), options, { item: viewOf, id: ({ id }) => id })
    },
    async view(word) {
      await ready()
      const id = await idOfNamed(parts.registry, database, word)
      const row = parts.registry.current(database).agents.get(id)
      if (row === undefined || !isSeen(id)) throw notFound('agent', word)
      return viewOf(row)
    },
  }
}

function viewOf({ data: { id, name, description, parameters } }: AgentRow): AgentView {
  return { id, ...(name === undefined ? {} : { name }), description, parameters: frozen(parameters) }
}

const byId = (one: { readonly id: string }, other: { readonly id: string }) => (one.id < other.id ? -1 : 1)

function agentKnowledge(scope: Scope): AgentKnowledge {
  const admin = scope.parts.adminOf(scope.database, scope.principal)
  const change = namesOf(scope, 'admin')
  return {
    async assign(id, base, { use = {}, ...options } = {}) {
      const known = await change(id)
      const given = parseBody(knowledgeUseSchema, { ...(use as object), id: base })
      const [whole] = knowledgeUses({ knowledgeBases: [given] })
      return assignKnowledge(admin, known, { ...options, use: whole as NonNullable<typeof whole> })
    },
    unassign: async (id, base, options = {}) => unassignKnowledge(admin, await change(id), { ...options, base }),
  }
}

/** Waits until the runtime is ready. Throws `NOT_FOUND` for a principal without the role. */
function admission({ principal, ready }: Scope): (role: 'read' | 'admin') => Promise<void> {
  return async (role) => {
    await ready()
    if (!hasRole(principal, role, 'admin')) throw nothingHere()
  }
}

/** Resolves an agent's id or display name to its id [C28]. To a principal without the role no agent exists. */
function namesOf(
  { parts, principal, database, ready }: Scope,
  role: 'read' | 'admin',
): (word: string) => Promise<string> {
  const { registry } = parts
  return async (word) => {
    await ready()
    if (!hasRole(principal, role, 'admin')) throw notFound('agent', word)
    return idOfNamed(registry, database, word)
  }
}

function subAgentAdmin(scope: Scope, run: RunIn): SubAgentAdmin {
  const { parts, principal, database, ready } = scope
  const admin = parts.adminOf(database, principal)
  const [read, change] = [namesOf(scope, 'read'), namesOf(scope, 'admin')]
  const open: SubAgentAdmin['open'] = async (parent, id, request) =>
    ready().then(() => openDirectRun(scope, { parent, id, request }))
  return {
    list: async (parent, options = {}) =>
      pageOf(await listSubAgents(admin, await read(parent)), options, {
        item: (one) => one,
        id: ({ edge }) => edge.agent,
      }),
    async create(parent, { agent, edge, ifRevision = null }) {
      const id = await change(parent)
      const child = await runWithPauses(readAgent(agent))
      return createSubAgent(admin, id, { child, edge: readEdge(edge, child.id), ifRevision })
    },
    async assign(parent, word, { edge, ifRevision = null } = {}) {
      const id = await change(word)
      return assignSubAgent(admin, await change(parent), { edge: readEdge(edge, id), ifRevision })
    },
    unassign: async (parent, id, options = {}) =>
      unassignSubAgent(admin, await change(parent), { ...options, id: await change(id) }),
    open,
    async run(parent, id, request) {
      const { conversationId, body } = await open(parent, id, request)
      return run(conversationId, body)
    },
  }
}

function toolAdmin(scope: Scope): ToolAdmin {
  const { parts, principal, database } = scope
  const admin = parts.adminOf(database, principal)
  const [read, change] = [namesOf(scope, 'read'), namesOf(scope, 'admin')]
  const admitted = admission(scope)
  return {
    list: async (id) => agentTools(scope, await read(id)),
    async all(options = {}) {
      await admitted('read')
      return serverTools(scope, options)
    },
    try: async (id, tool, options = {}) => tryTool(scope, { ...options, agent: await change(id), tool }),
    assign: async (id, tool, options = {}) => assignTool(admin, await change(id), { ...options, tool }),
    unassign: async (id, tool, options = {}) => unassignTool(admin, await change(id), { ...options, tool }),
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
