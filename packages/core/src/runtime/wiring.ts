/** The parts of a runtime, made from its options and joined. */
import type { DatabaseId } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import type { CheckContext } from '../agent/check/check.ts'
import { type Agent, withWrapped } from '../agent/define.ts'
import type { DeskContext } from '../agent/desk/desk.ts'
import type { AgentRecords } from '../agent/records.ts'
import { nearest } from '../agent/nearest.ts'
import { reachOf, Registry } from '../agent/registry.ts'
import { type Ceilings, ceilingsOf } from '../budget/ceilings.ts'
import { withFaultPoints } from '../conversation/append-points.ts'
import { WarmConversations } from '../conversation/warm.ts'
import { agentTools } from '../edge/agent-tool.ts'
import { backgroundTools } from '../edge/background.ts'
import { subAgentTools } from '../edge/sub-agent.ts'
import { LiveHub } from '../event/live.ts'
import type { Hearing } from '../event/relay.ts'
import { createAwake } from '../identity/awake.ts'
import { channelOf } from '../identity/channel.ts'
import { type Clock, systemClock } from '../identity/clock.ts'
import { type Ids, randomIds, randomNumber } from '../identity/ids.ts'
import { openaiCompatible } from '../model/adapters/openai-compatible.ts'
import { isModel, type Model, type ModelPrice } from '../model/model.ts'
import { withPrice } from '../model/price.ts'
import { withRetries } from '../model/retry.ts'
import type { CommandContext } from '../command/accept.ts'
import { expireDue } from '../command/answer.ts'
import type { Environment, PinnedAgent } from '../job/environment.ts'
import { createExpiry, type Expiry } from '../command/expiry.ts'
import { Worker, type WorkNote } from '../worker/worker.ts'
import { taskReach } from './reach.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Store } from '../store/store.ts'
import type { TaskReach } from '../task/reach.ts'
import { RunTracker } from '../task/tracker.ts'
import type { FunctionTool } from '../tool/define.ts'
import type { FindAgent } from '../tool/delegation.ts'
import { actionTools } from '../tool/kinds/action.ts'
import { approved } from '../tool/kinds/approval.ts'
import { functionTools } from '../tool/kinds/function.ts'
import { questionTools } from '../tool/kinds/question.ts'
import { queryTools } from '../tool/kinds/query.ts'
import { createPostgresSource } from '../tool/kinds/postgres-source.ts'
import { createSqliteSource } from '../tool/kinds/sqlite-source.ts'
import { userTools } from '../tool/kinds/user.ts'
import type { QuerySource } from '../tool/source.ts'
import type { Caller, Tool, Toolset, ToolSource } from '../tool/tool.ts'

/** A named way to models: `local` makes `local/qwen3` a model. */
export type Connection =
  | {
      readonly kind: 'openai-compatible'
      readonly baseUrl: string
      readonly apiKey?: string
      readonly headers?: Readonly<Record<string, string>>
      /** By the model's name on this connection. */
      readonly prices?: Readonly<Record<string, ModelPrice>>
    }
  | ((model: string) => Model)

/** A database that queries read. */
export type Source =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | QuerySource

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
  /**
   * So many jobs (runs and tasks) at once, at least 1, default 200: at that many this process claims no more and leaves the tasks
   * that it makes to others, or to itself when it has room. Runs that it accepts it always runs.
   */
  readonly maxJobs?: number
  /** False where this process only looks and speaks: what it takes in is left to others, and nothing is worked on here. Default true. */
  readonly takesWork?: boolean
  readonly clock?: Clock
  readonly ids?: Ids
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number
  /** Problems inside that no caller hears of; default: standard error. */
  readonly report?: (error: unknown) => void
  /** Told of every job that this process begins with and leaves: for a screen, nothing depends on it. */
  readonly working?: (note: WorkNote) => void
}

/** The joined parts. */
export interface Parts extends CommandContext {
  readonly worker: Worker
  readonly registry: Registry
  readonly hub: LiveHub
  readonly check: CheckContext
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly agents: readonly (Agent | object)[]
  deskOf(database: DatabaseId): DeskContext
  /** Set from the opening of the store to its end. */
  readonly hearing: { current: Hearing | null }
  readonly expiry: Expiry
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
  'maxJobs',
  'takesWork',
  'clock',
  'ids',
  'random',
  'report',
  'working',
] satisfies (keyof RuntimeOptions)[]

/** An option that is misspelt, or what is no agent, model or store, would else be found out much later. */
function refuseUnknown(given: RuntimeOptions): void {
  for (const name of Object.keys(given)) {
    if (optionNames.includes(name)) continue
    const near = nearest(name, optionNames)
    const hint = near === null ? `Known: ${optionNames.join(', ')}.` : `Did you mean \`${near}\`?`
    throw new WitanError('UNKNOWN_KEY', `\`${name}\` is no option of createRuntime.`, { path: name, hint })
  }
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('CONFIG_INVALID', `\`${path}\` is not ${what}.`, { path, hint })
  const { maxJobs = 1, agents = [], models = {}, store } = given
  if (!Number.isInteger(maxJobs) || maxJobs < 1)
    throw wrong('maxJobs', 'a number of jobs', 'Give a whole number from 1, or leave it out for 200.')
  if (!Array.isArray(agents)) throw wrong('agents', 'a list', 'Write `agents: [one, two]`.')
  const hole = agents.findIndex((agent) => typeof agent !== 'object' || agent === null)
  if (hole >= 0) throw wrong(`agents.${hole}`, 'an agent', 'Give what `defineAgent` made, or an agent as data.')
  const [none] = Object.entries(models).find(([, model]) => !isModel(model)) ?? []
  if (none !== undefined) throw wrong(`models.${none}`, 'a model', 'Give an object with `id` and `stream`.')
  if (store !== undefined && typeof store.append !== 'function')
    throw wrong('store', 'a store', 'Give `sqliteStore({ file })` or `memoryStore()`.')
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
  const sources = sourcesOf(options)
  const models = modelDirectory(options, clock)
  const find: FindAgent = ({ database, revisions }, id) =>
    pinnedAgent(registry, { database, id, revisions })?.data ?? null
  const reach = taskReach(() => ({ env, store, warm, tracker }))
  const env: Environment = {
    hasRoom: () => worker.room.left() > 0,
    launch: (jobs, log) => {
      for (const job of jobs) worker.run(job, log)
    },
    clock,
    ids,
    hub,
    owner: ids.owner(),
    leaseMs: options.leaseMs ?? 15_000,
    ceilings: ceilingsOf(options.limits),
    model: models.find,
    toolset: toolsetOf(toolSourcesOf({ tools, sources, find, reach })),
    pin: (database, id) => registry.rows(database).get(id) ?? null,
    reach: (database, root) => reachOf(registry, database, root),
    pinned: (database, id, revisions) => pinnedAgent(registry, { database, id, revisions }),
    storeNow: () => store.now(),
    expireAt: (at) => expiry.at(at),
    report: options.report ?? ((error) => console.error(error)),
  }
  const check: CheckContext = {
    tools: new Set(tools.keys()),
    sources: new Set(sources.keys()),
    querySources: sources,
    hasModel: (name) => models.find(name) !== null,
    hasPrice: (name) => models.find(name)?.price !== undefined,
    modelNames: models.names,
    maxDepth: env.ceilings.maxDepth,
  }
  const warm = new WarmConversations({
    store,
    append: withFaultPoints((append) => store.append(append)),
    stored: (channel, entries) => hub.entries(channel, entries),
    ensureRevision: (database, id, revision) => registry.ensureRevision(database, id, revision),
    lookup: (database) => (id, revision) => registry.revision(database, id, revision),
    capacity: 256,
  })
  const tracker = new RunTracker(createAwake())
  const worker = new Worker({
    env,
    maxJobs: options.maxJobs ?? 200,
    takesWork: options.takesWork ?? true,
    store,
    warm,
    tracker,
    prepare: (database) => registry.ensure(database),
    note: options.working ?? (() => {}),
    async sweep() {
      await expiry.look()
      await sweepConversations()
      await hearing.current?.look()
    },
  })
  const hearing: Parts['hearing'] = { current: null }
  const commands: CommandContext = { env, store, warm, tracker }
  const expiry = createExpiry({ clock, now: () => store.now(), report: env.report }, () =>
    expireDue(commands, (database) => registry.ensure(database)),
  )
  const sweepConversations = sweeper({ store, warm, hub })
  const records = tellingRecords(store)
  const deskOf = (database: DatabaseId): DeskContext => ({ database, registry, records, check })
  return { ...commands, worker, registry, hub, check, sources, agents, deskOf, expiry, hearing }
}

function sourcesOf({ sources = {} }: RuntimeOptions): ReadonlyMap<string, QuerySource> {
  return new Map(Object.entries(sources).map(([name, source]) => [name, querySource(source)]))
}

/** The store as the registry writes it: other processes are told that agents have changed. */
function tellingRecords(store: Store): AgentRecords {
  return {
    listAgents: (database) => store.listAgents(database),
    listAgentIds: (database) => store.listAgentIds(database),
    getAgentRevision: (...at) => store.getAgentRevision(...at),
    lastAgentRevision: (...at) => store.lastAgentRevision(...at),
    async changeAgents(database, changes) {
      const changed = await store.changeAgents(database, changes)
      if (changed) store.say(database, '', 'agents')
      return changed
    },
  }
}

/** Where tools come from. What an agent may want approved goes through a gate. */
function toolSourcesOf(from: {
  readonly tools: ReadonlyMap<string, FunctionTool>
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly find: FindAgent
  readonly reach: TaskReach
}): readonly ToolSource[] {
  const { tools, sources, find, reach } = from
  const own = [functionTools(tools), queryTools(sources), actionTools, subAgentTools(find), agentTools(find)]
  return [...own.map(approved), backgroundTools(reach), questionTools, userTools]
}

function querySource(source: Source): QuerySource {
  if ('run' in source) return source
  return source.kind === 'postgres' ? createPostgresSource(source) : createSqliteSource(source)
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
      hub.gone(channelOf(database, id))
    }
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
  const retried = (model: Model) => {
    const patient = withRetries(model, { ...options.retry, sleep, random: options.random ?? randomNumber })
    return model.price === undefined ? patient : withPrice(patient, model.price)
  }
  const live = new Map(Object.entries(options.models ?? {}))
  for (const agent of options.agents ?? []) {
    const model = 'data' in agent ? (agent as Agent).model : null
    if (model === null || model === undefined) continue
    const known = live.get(model.id)
    if (known !== undefined && known !== model && (known.isUnique || model.isUnique)) throw sameModel(model.id)
    if (known === undefined) live.set(model.id, model)
  }
  for (const [name, model] of live) made.set(name, retried(model))
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

function sameModel(id: string): WitanError {
  return new WitanError('NAME_TAKEN', `Two models are named \`${id}\`, and agents find theirs by that name.`, {
    path: 'agents',
    hint: 'Give each an `id` of its own, as in `scriptedModel(rules, { id: "demo/clerk" })`, or all agents the same object.',
  })
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
  const { baseUrl, apiKey, headers, prices = {} } = connection
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined
  return openaiCompatible({
    id,
    baseUrl,
    model,
    ...(price === undefined ? {} : { price }),
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
