/** What the first model call of an agent would get: its system message, its tools and where its parameters come from. Nothing is stored or asked. */
import { type AgentData, type MatrixRow, WitanError } from '@witan/protocol'
import { stepsOf } from '@witan/protocol/edges'
import { isChecked } from '@witan/protocol/schemas'
import { previewRequestSchema } from '@witan/protocol/tools'
import type { AgentTool, Preview, ServerTool } from '@witan/protocol/tools'
import { getAgent, inspectTogether } from '../agent/admin/admin.ts'
import { type AgentPath, pathsFrom, reachable } from '../agent/check/graph.ts'
import { workflowKindOf } from '../agent/workflow/next.ts'
import type { Registry } from '../agent/registry.ts'
import type { AgentCall } from '../conversation/state.ts'
import { runWithPauses } from '../identity/pausable.ts'
import { nextTurn } from '../identity/turn.ts'
import { notFound } from '../identity/not-found.ts'
import type { PinnedAgent } from '../job/environment.ts'
import { isShown } from '../parameter/visibility.ts'
import { toolsOf } from '../run/caller.ts'
import { prepareModelCall } from '../run/prepare-model-call.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import { parseBody } from './body.ts'
import { callAt } from './below.ts'
import { withDrafts } from './drafts.ts'
import { type FirstCall, firstCall, listKnown } from './first-call.ts'
import { neededBy, startingValues } from './new-conversation.ts'
import { type Page, type PageOptions, pageOf } from './page.ts'
import { allTools, noticesIn, offeredTools, serverTool } from './tool-lines.ts'
import type { Scope } from './scope.ts'

type Request = ReturnType<typeof previewRequestSchema.parse>

/**
 * The preview of an agent. Throws `NOT_FOUND` for an agent that is neither stored nor a draft, and what the start of a conversation throws
 * for parameters and people that it would not take. What a draft lacks is among the findings.
 */
export async function previewAgent(scope: Scope, id: string, body: unknown): Promise<Preview> {
  const { parts, database, principal } = scope
  const request = requestIn(body)
  const admin = parts.adminOf(database, principal)
  await parts.registry.ensure(database)
  const drafts = draftsOf(id, request)
  const stored = drafts.own === null ? await getAgent(admin, id) : null
  const rootId = rootOf(request.below) ?? id
  const others = [stored?.data, rootId === id ? undefined : storedAgent(scope, rootId, drafts.all)]
  const kept = others.filter((one) => one !== undefined)
  const { report, agents } = await inspectTogether(admin, { agents: [...drafts.all, ...kept] })
  const { errors, matrix } = report
  // What nobody's definition causes, such as a protocol that nobody speaks, is no finding of an agent.
  const findings = { errors, warnings: report.warnings.filter(({ agent }) => agent !== '') }
  const changed = [...agents.values()].filter((agent) => !kept.some((one) => one.id === agent.id))
  const registry = changed.length === 0 ? parts.registry : await withDrafts(parts.registry, database, changed)
  const own = registry.current(database).agents.get(id)
  const isRead = own !== undefined && (drafts.own === null || agents.has(id))
  if (!isRead) return { ...nothing(), revision: null, ...findings }
  const revision = drafts.own === null ? own.revision : null
  if (own.data.workflow !== null) return { ...nothing(), revision, ...findings, steps: stepsIn(own.data) }
  const path = await pathTo(scope, { id, below: request.below, registry })
  await nextTurn() // the tools of one agent may take a whole turn
  const at = place(scope, { path, request, registry })
  const parameters = parametersOf(
    at.call,
    matrix.filter((row) => row.path === path.path),
  )
  return { revision, ...(await requestAt(at)), parameters, ...findings }
}

/** The tools of an agent in a conversation that gives it no values. */
export async function agentTools(scope: Scope, id: string): Promise<readonly AgentTool[]> {
  const { parts, database, principal } = scope
  const root: PinnedAgent = await getAgent(parts.adminOf(database, principal), id)
  const { call, job } = firstCall(scope, { root, parameters: {} })
  listKnown(call, job)
  return root.data.workflow === null ? allTools(toolsOf(call, job)) : []
}

/** The function tools of the runtime by name, with the agents of the database that have each. */
export async function serverTools(scope: Scope, options: PageOptions): Promise<Page<ServerTool>> {
  const { parts, database } = scope
  await parts.registry.ensure(database)
  const agents = [...parts.registry.current(database).agents.values()]
  const users = new Map<string, string[]>()
  for (const { id, data } of agents) for (const name of data.tools) users.set(name, [...(users.get(name) ?? []), id])
  const tools = [...parts.tools.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const item = (tool: FunctionTool) => serverTool(tool, users.get(tool.name)?.sort() ?? [])
  return pageOf(tools, options, { item, id: ({ name }) => name })
}

const nothing = (): Omit<Preview, 'revision' | 'errors' | 'warnings'> => ({
  system: null,
  tools: [],
  toolChoice: null,
  parameters: [],
  notices: [],
  tokens: null,
})

/** A request. Its drafts stay as they came: they may be long, and are read in pieces. */
function requestIn(body: unknown): Request {
  if (isChecked(previewRequestSchema, body)) return body
  const { draft = null, drafts = [], ...rest } = (body ?? {}) as Partial<Request>
  if (!Array.isArray(drafts) || drafts.length > 1000)
    throw new WitanError('BODY_INVALID', '`drafts` must be a list of at most 1,000 agents.', { path: 'drafts' })
  return { ...parseBody(previewRequestSchema, rest), draft, drafts }
}

/** The drafts of a request, that of the agent itself first. */
function draftsOf(id: string, { draft, drafts }: Request): { readonly own: object | null; readonly all: unknown[] } {
  if (draft === null) return { own: null, all: drafts }
  if (typeof draft !== 'object' || Array.isArray(draft))
    throw new WitanError('BODY_INVALID', '`draft` must be an agent.', { path: 'draft', hint: 'Send its definition.' })
  const own: object = { id, ...draft }
  if ((own as { id?: unknown }).id === id) return { own, all: [own, ...drafts] }
  const hint = 'Leave `id` out of the draft, or make both the same.'
  throw new WitanError('ID_INVALID', `The draft is of another agent than the path, \`${id}\`.`, {
    path: 'draft.id',
    hint,
  })
}

function rootOf(below: string | null): string | null {
  return below === null ? null : (below.split('/')[0] ?? null)
}

/** The stored definition of the root of a path; undefined if a draft stands for it. Throws `NOT_FOUND`. */
function storedAgent({ parts, database }: Scope, id: string, drafts: readonly unknown[]): AgentData | undefined {
  if (drafts.some((one) => (one as { id?: unknown } | null)?.id === id)) return undefined
  const row = parts.registry.current(database).agents.get(id)
  if (row === undefined) throw notFound('agent', id, { path: 'below', hint: 'Begin the path with an agent.' })
  return row.data
}

/** The path from the root of the conversation to the agent: `below` with it or without it. Throws `NOT_FOUND`. */
async function pathTo(
  { database }: Scope,
  { id, below, registry }: { readonly id: string; readonly below: string | null; readonly registry: Registry },
): Promise<AgentPath> {
  const agents = new Map([...registry.current(database).agents].map(([one, row]) => [one, row.data]))
  const root = agents.get(rootOf(below) ?? id)
  const wanted = below ?? id
  const paths = root === undefined ? [] : await runWithPauses(pathsFrom(root, agents))
  const ends = paths.filter(({ agent }) => agent.id === id)
  const found = ends.find(({ path }) => path === wanted) ?? ends.find(({ path }) => path === `${wanted}/${id}`)
  if (found !== undefined) return found
  const known = ends.slice(0, 5).map(({ path }) => `\`${path}\``)
  const hint =
    known.length === 0
      ? `No edge below \`${root?.id ?? wanted.slice(0, 80)}\` leads to it.`
      : `Known: ${known.join(', ')}.`
  throw notFound('path', wanted, { path: 'below', hint })
}

interface Place extends FirstCall {
  readonly lacking: readonly string[]
}

/** The call at the end of a path, in a new conversation with the values of the request. */
function place(
  scope: Scope,
  { path, request, registry }: { readonly path: AgentPath; readonly request: Request; readonly registry: Registry },
): Place {
  let root = path
  while (root.parent !== null) root = root.parent
  const current = registry.current(scope.database).agents
  const below = () => reachable(root.agent, new Map([...current].map(([id, row]) => [id, row.data])))
  const users = request.users.length === 0 ? null : request.users
  const { given, parameters } = startingValues(scope, { ...request, users }, { root: root.agent, below })
  const { toolMode } = request
  const pinned = current.get(root.agent.id) as PinnedAgent
  const first = firstCall(scope, {
    root: pinned,
    parameters,
    registry,
    toolMode: path.parent === null ? toolMode : null,
  })
  const call = callAt(first, path, toolMode)
  const lacking = neededBy(root.agent).flatMap(({ name }) => (given.has(name) ? [] : [name]))
  return { ...first, call, lacking }
}

/** The request of the next model call, made by the code that makes it in a run. */
async function requestAt({ call, job, recorded, lacking }: Place) {
  const before = recorded.length
  listKnown(call, job)
  const request = prepareModelCall(call, job)?.request ?? null
  await nextTurn()
  const { system } = toolsOf(call, job)
  const tools = offeredTools(toolsOf(call, job))
  const notices = noticesIn(recorded.slice(before))
  const { failure } = job.lifecycle
  if (failure !== null) notices.push({ code: failure.code, detail: failure.detail, tool: null })
  const missing = lacking.map((name) => ({
    code: 'PARAM_MISSING',
    detail: `A conversation cannot start without \`${name}\`.`,
    tool: null,
  }))
  const length = system.content.length + JSON.stringify(request?.tools ?? tools).length
  return {
    system: system.content,
    tools,
    toolChoice: request?.toolChoice ?? null,
    notices: [...missing, ...notices],
    tokens: Math.ceil(length / 4),
  }
}

/** Where each parameter of a call comes from with these values. */
function parametersOf({ agent, parameters: bound }: AgentCall, rows: readonly MatrixRow[]): Preview['parameters'] {
  return agent.parameters.map((parameter) => {
    const { name, sendToModel } = parameter
    const row = rows.find((one) => one.parameter === name)
    const value = bound.get(name)
    if (value !== undefined)
      return { name, shown: isShown(parameter, bound), boundFrom: value.from, mayGenerate: false }
    const mayGenerate = row?.mayGenerate === true
    return { name, shown: sendToModel, boundFrom: mayGenerate ? 'model' : 'missing', mayGenerate }
  })
}

/** The steps of a workflow in their order; of a loop those of its first round. */
function stepsIn({ workflow }: AgentData): NonNullable<Preview['steps']> {
  if (workflow === null) return []
  const round = workflowKindOf(workflow).endsByExit === true ? 1 : null
  return stepsOf(workflow).map(({ agent }, index) => ({ step: index + 1, agent, round }))
}
