/** The parts of a runtime, made from its options and joined. */
import type { DatabaseId } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import type { CheckContext } from './agent/check/check.ts'
import { type Agent, withWrapped } from './agent/define.ts'
import type { DeskContext } from './agent/desk.ts'
import { nearest } from './agent/nearest.ts'
import { reachOf, Registry } from './agent/registry.ts'
import { type Ceilings, ceilingsOf } from './budget/ceilings.ts'
import { WarmConversations } from './conversation/warm.ts'
import { agentTools } from './edge/agent-tool.ts'
import { subAgentTools } from './edge/sub-agent.ts'
import { LiveHub } from './event/live.ts'
import { type Clock, systemClock } from './identity/clock.ts'
import { type Ids, randomIds, randomNumber } from './identity/ids.ts'
import { openaiCompatible } from './model/adapters/openai-compatible.ts'
import type { Model } from './model/model.ts'
import { withRetries } from './model/retry.ts'
import type { CommandContext } from './run/accept.ts'
import type { Environment, PinnedAgent } from './run/environment.ts'
import { Worker } from './run/worker.ts'
import { memoryStore } from './store/drivers/memory.ts'
import type { Append, AppendResult, Store } from './store/store.ts'
import { RunTracker } from './task/tracker.ts'
import type { FunctionTool } from './tool/define.ts'
import type { FindAgent } from './tool/delegation.ts'
import { actionTools } from './tool/kinds/action.ts'
import { functionTools } from './tool/kinds/function.ts'
import { queryTools } from './tool/kinds/query.ts'
import { createSqliteSource } from './tool/kinds/sqlite-source.ts'
import type { QuerySource } from './tool/source.ts'
import type { Caller, Tool, Toolset, ToolSource } from './tool/tool.ts'

/** A named way to models: `local` makes `local/qwen3` a model. */
export type Connection =
  | {
      readonly kind: 'openai-compatible'
      readonly baseUrl: string
      readonly apiKey?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | ((model: string) => Model)

/** A database that queries read. */
export type Source = { readonly kind: 'sqlite'; readonly file: string } | QuerySource

/** What a runtime is made of. Everything is optional: without a store it keeps everything in memory. */
export interface RuntimeOptions {
  readonly store?: Store
  readonly connections?: Readonly<Record<string, Connection>>
  /** Live models by the name agents use. */
  readonly models?: Readonly<Record<string, Model>>
  readonly sources?: Readonly<Record<string, Source>>
  readonly tools?: readonly FunctionTool[]
  /** Agents as code, or as data; stored when the runtime starts [F10]. */
  readonly agents?: readonly (Agent | object)[]
  /** Ceilings: an agent only lowers them. Defaults: depth 8, 500 model calls. */
  readonly limits?: Partial<Ceilings>
  /** How model calls are tried again; 1 try switches it off. */
  readonly retry?: { readonly tries?: number; readonly baseMs?: number }
  /** How long a job is leased; default 15 s. */
  readonly leaseMs?: number
  readonly clock?: Clock
  readonly ids?: Ids
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number
  /** Problems inside that no caller hears of; default: standard error. */
  readonly report?: (error: unknown) => void
}

/** The joined parts. */
export interface Parts extends CommandContext {
  readonly registry: Registry
  readonly hub: LiveHub
  readonly check: CheckContext
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly agents: readonly (Agent | object)[]
  deskOf(database: DatabaseId): DeskContext
}

const optionNames: readonly string[] = [
  'store',
  'connections',
  'models',
  'sources',
  'tools',
  'agents',
  'limits',
  'retry',
  'leaseMs',
  'clock',
  'ids',
  'random',
  'report',
] satisfies (keyof RuntimeOptions)[]

/** An option that is misspelt, or a store that is none, would else be found out much later. */
function refuseUnknown(given: RuntimeOptions): void {
  for (const name of Object.keys(given)) {
    if (optionNames.includes(name)) continue
    const near = nearest(name, optionNames)
    const hint = near === null ? `Known: ${optionNames.join(', ')}.` : `Did you mean \`${near}\`?`
    throw new WitanError('UNKNOWN_KEY', `\`${name}\` is no option of createRuntime.`, { path: name, hint })
  }
  if (given.store === undefined || typeof given.store.append === 'function') return
  const hint = 'Give `sqliteStore({ file })` or `memoryStore()`.'
  throw new WitanError('CONFIG_INVALID', '`store` is not a store.', { path: 'store', hint })
}

/** Makes and joins the parts; nothing is opened yet. Wrapped agents are given like any other. */
export function wire(given: RuntimeOptions): Parts {
  refuseUnknown(given)
  const agents = withWrapped(given.agents ?? [])
  const options = { ...given, agents }
  const clock = options.clock ?? systemClock
  const store = options.store ?? memoryStore({ now: clock.now })
  const ids = options.ids ?? randomIds()
  const hub = new LiveHub()
  const registry = new Registry(store)
  const tools = collectTools(options)
  const sources = new Map(
    Object.entries(options.sources ?? {}).map(([name, source]) => [
      name,
      'run' in source ? source : createSqliteSource({ file: source.file }),
    ]),
  )
  const models = modelDirectory(options, clock)
  const find: FindAgent = ({ database, revisions }, id) =>
    pinnedAgent(registry, { database, id, revisions })?.data ?? null
  const env: Environment = {
    clock,
    ids,
    hub,
    owner: ids.owner(),
    leaseMs: options.leaseMs ?? 15_000,
    ceilings: ceilingsOf(options.limits),
    model: models.find,
    toolset: toolsetOf([functionTools(tools), queryTools(sources), actionTools, subAgentTools(find), agentTools(find)]),
    pin: (database, id) => registry.rows(database).get(id) ?? null,
    reach: (database, root) => reachOf(registry, database, root),
    pinned: (database, id, revisions) => pinnedAgent(registry, { database, id, revisions }),
    report: options.report ?? ((error) => console.error(error)),
  }
  const check: CheckContext = {
    tools: new Set(tools.keys()),
    sources: new Set(sources.keys()),
    querySources: sources,
    hasModel: (name) => models.find(name) !== null,
    modelNames: models.names,
  }
  const warm = new WarmConversations({
    store,
    append: tellingAppend(store, hub),
    ensureRevision: (database, id, revision) => registry.ensureRevision(database, id, revision),
    lookup: (database) => (id, revision) => registry.revision(database, id, revision),
    capacity: 256,
  })
  const tracker = new RunTracker()
  const worker = new Worker({
    env,
    store,
    warm,
    tracker,
    prepare: (database) => registry.ensure(database),
    sweep: sweeper({ store, warm, hub }),
  })
  const deskOf = (database: DatabaseId): DeskContext => ({ database, registry, records: store, check })
  return { env, store, warm, worker, tracker, registry, hub, check, sources, agents, deskOf }
}

/** An agent that is still there and enabled, in the revision that a run keeps. */
function pinnedAgent(
  registry: Registry,
  of: { readonly database: string; readonly id: string; readonly revisions: Readonly<Record<string, number>> },
): PinnedAgent | null {
  const { database, id } = of
  const row = registry.rows(database).get(id)
  if (row === undefined || row.data.disabled) return null
  const revision = of.revisions[id] ?? row.revision
  return revision === row.revision ? row : { revision, data: registry.revision(database, id, revision) }
}

const sweptAtOnce = 100

/** Removes conversations whose time is over; their readers are told, and nobody here remembers them [Rb35]. */
function sweeper({ store, warm, hub }: Pick<Parts, 'store' | 'warm' | 'hub'>): () => Promise<void> {
  return async () => {
    for (const { database, id } of await store.sweepConversations(sweptAtOnce)) {
      warm.drop(database, id)
      hub.gone(`${database}\n${id}`)
    }
  }
}

/** Stores an append and tells the readers of its conversation. */
function tellingAppend(store: Store, hub: LiveHub): (append: Append) => Promise<AppendResult> {
  return async (append) => {
    const result = await store.append(append)
    if (result.ok) hub.entries(`${append.database}\n${append.conversation}`, append.entries)
    return result
  }
}

function collectTools(options: RuntimeOptions): ReadonlyMap<string, FunctionTool> {
  const tools = new Map<string, FunctionTool>()
  const live = (options.agents ?? []).flatMap((agent) =>
    'data' in agent && 'tools' in agent ? (agent as Agent).tools : [],
  )
  for (const tool of [...(options.tools ?? []), ...live]) {
    if (tools.has(tool.name) && tools.get(tool.name) !== tool) {
      throw new WitanError('NAME_TAKEN', `Two tools are named \`${tool.name}\`.`, {
        path: 'tools',
        hint: 'Agents name tools; give each its own name.',
      })
    }
    tools.set(tool.name, tool)
  }
  return tools
}

/** Finds models: live ones by name, others as `connection/model`, made once. Retries are added here. */
function modelDirectory(
  options: RuntimeOptions,
  clock: Clock,
): { find(name: string): Model | null; readonly names: readonly string[] } {
  const connections = new Map(Object.entries(options.connections ?? {}))
  const made = new Map<string, Model>()
  const sleep = sleeper(clock)
  const retried = (model: Model) =>
    withRetries(model, { ...options.retry, sleep, random: options.random ?? randomNumber })
  for (const [name, model] of Object.entries(options.models ?? {})) made.set(name, retried(model))
  for (const agent of options.agents ?? []) {
    const model = 'data' in agent ? (agent as Agent).model : null
    if (model !== null && model !== undefined && !made.has(model.id)) made.set(model.id, retried(model))
  }
  const names = [...made.keys(), ...[...connections.keys()].map((name) => `${name}/…`)]
  const find = (name: string): Model | null => {
    const known = made.get(name)
    if (known !== undefined) return known
    const slash = name.indexOf('/')
    const connection = slash < 1 ? undefined : connections.get(name.slice(0, slash))
    if (connection === undefined || slash === name.length - 1) return null
    const model = retried(connect(connection, name, name.slice(slash + 1)))
    made.set(name, model)
    return model
  }
  return { find, names }
}

/** Waits by the runtime's clock; an abort ends the wait. */
function sleeper(clock: Clock): (ms: number, signal: AbortSignal) => Promise<void> {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        cancel()
        reject(signal.reason)
      }
      const cancel = clock.after(ms, () => {
        signal.removeEventListener('abort', abort)
        resolve()
      })
      signal.addEventListener('abort', abort, { once: true })
    })
}

function connect(connection: Connection, id: string, model: string): Model {
  if (typeof connection === 'function') return connection(model)
  const { baseUrl, apiKey, headers } = connection
  return openaiCompatible({
    id,
    baseUrl,
    model,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
  })
}

function toolsetOf(sources: readonly ToolSource[]): (caller: Caller) => Toolset {
  return (caller) => {
    const tools = new Map<string, Tool>()
    for (const source of sources) for (const tool of source(caller)) tools.set(tool.name, tool)
    return tools
  }
}
