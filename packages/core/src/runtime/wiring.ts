/** Creates the parts of a runtime from its options and connects them. */
import type { DatabaseId } from '@witan/protocol'
import type { CheckContext } from '../agent/check/check.ts'
import { maySendOf } from '../agent/bearers.ts'
import { type Agent, withWrapped } from '../agent/define-agent.ts'
import type { AdminContext } from '../agent/admin/admin.ts'
import type { CodeDefinitions } from '../agent/admin/save.ts'
import { type AgentRecords, baseOfRowId } from '../agent/records.ts'
import { Registry } from '../agent/registry.ts'
import { ceilingsOf } from '../budget/ceilings.ts'
import type { WarmDocuments } from '../conversation/warm-documents.ts'
import { Guards } from '../guard/checks.ts'
import { defineHooks } from '../hook/define-hooks.ts'
import { askThread } from './pattern-thread.ts'
import { HookRows } from '../hook/rows.ts'
import { LiveHub } from '../event/live.ts'
import type { Listening } from '../event/relay.ts'
import { createAwake } from '../identity/awake.ts'
import { changedBy } from '../identity/changed.ts'
import { channelOf } from '../identity/channel.ts'
import { systemClock } from '../identity/clock.ts'
import { randomIds } from '../identity/ids.ts'
import type { Principal } from '../identity/principal.ts'
import type { CommandContext } from '../command/accept.ts'
import { expireDue } from '../command/answer-interruption.ts'
import type { Environment } from '../job/environment.ts'
import { createExpiry, type Expiry } from '../command/expiry.ts'
import { lookForStranded, type StrandedLook } from '../worker/stranded.ts'
import { Worker } from '../worker/worker.ts'
import { taskControl } from './task-control.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { auditOfDefinitions } from '../store/audit.ts'
import { keyWithAddress } from '../store/keys.ts'
import { contentAccess, contentLoader } from '../store/loaded.ts'
import type { Store } from '../store/store.ts'
import { RunTracker } from '../task/tracker.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { QuerySource } from '../tool/source.ts'
import { keepWarm } from './warm.ts'
import { ModelCallError } from '../model/model.ts'
import { TimeLimit } from '../model/time-limit.ts'
import type { EmbeddingContext } from './embeddings.ts'
import { countedEmbeddings } from './spending.ts'
import { modelDirectory } from './models.ts'
import { createPreparing, type Preparing } from './databases.ts'
import { type DefinitionParts, definitionsOf } from './definitions.ts'
import { domainsOf } from './domains.ts'
import { remotesOf } from './remotes.ts'
import { type RuntimeOptions, refuseUnknown } from './options.ts'
import { telemetryOf } from './telemetry.ts'
import type { DocumentReader } from '../knowledge/document.ts'
import type { Ingests } from '../ingest/ingests.ts'
import { ingestingOf } from './ingesting.ts'
import { lookUp } from '../memory/look-up.ts'
import type { McpAccess } from '../tool/kinds/mcp.ts'
import { mcpAccessOf } from './mcp-access.ts'
import { baseIn } from '../tool/kinds/knowledge-elsewhere.ts'
import { type SearchKnowledge, searchOf } from '../tool/kinds/knowledge-search.ts'
import { collectTools, sourcesOf } from './toolset.ts'

/** The connected parts. */
export interface Parts extends CommandContext {
  readonly worker: Worker
  readonly registry: Registry
  readonly hub: LiveHub
  readonly check: CheckContext
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly agents: readonly (Agent | object)[]
  readonly tools: ReadonlyMap<string, FunctionTool>
  /** The definitions of the code, as written. */
  readonly code: CodeDefinitions
  /** What this principal works with as the administrator of a database. */
  adminOf(database: DatabaseId, principal: Principal): AdminContext
  /** Set from the opening of the store to its close. */
  readonly listening: { current: Listening | null }
  readonly readers: DocumentReader
  /** Takes documents into knowledge bases. */
  readonly ingests: Ingests
  /** Searches knowledge bases. */
  readonly search: SearchKnowledge
  /** Counts what embedding models used outside of runs. */
  readonly spent: EmbeddingContext['spent']
  /** What the engine looks up in a registry: that of the runtime, or one with drafts in it. */
  readonly definitions: (registry: Registry) => DefinitionParts
  readonly expiry: Expiry
  /** The database of each domain, in the order of the options. */
  readonly domains: ReadonlyMap<string, string>
  readonly documents: WarmDocuments
  /** The search for parked jobs that nothing would wake. */
  readonly stranded: StrandedLook
  /** Loads databases, with the definitions of the code in them. */
  readonly preparing: Preparing
  /** What calls the tools of MCP servers. */
  readonly mcp: McpAccess
  /** Null if no traces are exported. */
  readonly telemetry: Telemetry | null
  /** Null if no figures are counted. */
  readonly metrics: Metrics | null
}

/**
 * Creates and connects the parts; nothing is opened yet. Wrapped agents are registered like any other. `change` may replace parts of
 * the environment.
 */
export function wire(given: RuntimeOptions, change: (env: Environment) => Environment = (env) => env): Parts {
  refuseUnknown(given)
  const options = { ...given, agents: withWrapped(given.agents ?? []) }
  const { agents, protocols = [], knowledge = [], clock = systemClock, ids = randomIds() } = options
  const { store = memoryStore({ now: clock.now }), report = printError } = options
  const hub = new LiveHub()
  const registry = new Registry(store)
  const tools = collectTools(options)
  const sources = sourcesOf(options)
  const models = modelDirectory(options, clock)
  const telemetry = telemetryOf(options, { clock, report, store, registry, warm: () => warm })
  const metrics = options.telemetry?.metrics === true ? createMetrics() : null
  const control = taskControl(() => ({ env, store, warm, tracker }))
  const domains = domainsOf(options.domains)
  const maySend = maySendOf(options.federation?.bearerEnv, agents)
  const remotes = remotesOf(options, { store, domains, clock, maySend, newId: () => ids.call(), report })
  const counting = { store, metrics, clock, report, rateLimitOf: models.rateLimitOf }
  const { embeddings, spent } = countedEmbeddings(options, counting)
  const functions = searchFunctions(knowledge)
  const search = searchOf({ records: () => store.knowledge, embed: embeddings.query, sources, functions })
  const mcp = mcpAccessOf(options, { clock, report })
  const memory = { blocks: store, now: (database: string) => store.now(database) }
  const definitions = definitionsOf({ tools, sources, control, search, memory, mcp, remotes, agents, report })
  const env: Environment = change({
    hasCapacity: () => worker.capacity.remaining() > 0,
    launch: (jobs, log) => {
      for (const job of jobs) worker.run(job, log)
    },
    ...{ clock, ids, hub, report },
    owner: ids.owner(),
    leaseMs: options.leaseMs ?? 15_000,
    ceilings: ceilingsOf(options.limits),
    ...{ ...checksOf(options), model: models.find },
    timeLimit: new TimeLimit(clock, options.retry?.totalMs),
    content: contentLoader(store),
    ...contentAccess(store),
    ...definitions(registry),
    remember: (caller, query) => lookUp(store, caller, query),
    abandon: (of) => remotes?.abandon(of),
    storeNow: (database) => store.now(database),
    expireAt: (database, at) => expiry.at(database, at),
    traceparent: telemetry?.traceparent ?? null,
  })
  const about = { tools, querySources: sources, maySend, mcp, maxDepth: env.ceilings.maxDepth }
  const check = checkContext({ ...about, lacksEmbeddingPrice: embeddings.lacksPrice }, models)
  const { warm, documents } = keepWarm({ store, hub, registry, telemetry, metrics, report })
  const tracker = new RunTracker(createAwake())
  const worker = new Worker({
    env,
    maxJobs: options.maxJobs ?? 200,
    takesWork: options.takesWork ?? true,
    store,
    warm,
    tracker,
    prepare: (database) => preparing.prepare(database),
    note: options.working ?? null,
    async sweep() {
      await expiry.settleDue()
      await sweepStore()
      await listening.current?.poll()
    },
  })
  const listening: Parts['listening'] = { current: null }
  const commands: CommandContext = { env, store, warm, tracker }
  const expired = () => expireDue(commands, preparing.prepare)
  const expiry = createExpiry({ clock, now: (database) => store.now(database), report: env.report }, expired)
  const stranded = lookForStranded(store)
  const sweepStore = sweeper({ store, warm, hub, stranded })
  const ingesting = ingestingOf(options, { env, store, registry, embed: embeddings.texts })
  const adminOf = adminsOf(store, { registry, check, modelKind: models.kindOf, domains, report, ...ingesting })
  const code = { agents, protocols, knowledge: knowledge.map(baseIn) }
  const preparing = createPreparing({ code, registry, adminOf, report: env.report })
  const own = { agents, tools, code, adminOf, preparing }
  const rest = { definitions, mcp, expiry, listening, documents, stranded, telemetry, metrics }
  return { ...commands, worker, registry, hub, check, sources, search, spent, domains, ...ingesting, ...own, ...rest }
}

/** The knowledge bases that are functions of this process, by id. */
function searchFunctions(knowledge: NonNullable<RuntimeOptions['knowledge']>) {
  return new Map(knowledge.flatMap((one) => ('search' in one ? [[one.base.id, one] as const] : [])))
}

function printError(error: unknown): void {
  // What a model's server did is no fault of ours: a stack would say nothing.
  console.error(error instanceof ModelCallError ? error.message : error)
}

/** What a check reads besides agents. */
function checkContext(
  about: Pick<CheckContext, 'tools' | 'querySources' | 'maySend' | 'maxDepth' | 'lacksEmbeddingPrice'> &
    Pick<Parts, 'mcp'>,
  models: ReturnType<typeof modelDirectory>,
): CheckContext {
  const { servers, lock } = about.mcp
  return {
    ...about,
    mcp: { settings: servers?.settings ?? new Map(), lock },
    sources: new Set(about.querySources.keys()),
    hasModel: (name) => models.find(name) !== null,
    hasPrice: (name) => models.find(name)?.price !== undefined,
    modelNames: models.names,
    protocols: new Map(),
    bases: new Map(),
  }
}

/** The admins of all databases: what they work with, and what they ask of the store. */
function adminsOf(
  store: Store,
  {
    domains,
    ingests,
    report,
    ...common
  }: Pick<AdminContext, 'registry' | 'check' | 'modelKind'> &
    Pick<Parts, 'domains' | 'ingests'> &
    Pick<Environment, 'report'>,
): Parts['adminOf'] {
  const one = { limit: 1, after: null, agent: null, createdBy: null }
  const kept: Pick<AdminContext, 'records' | 'takesPart' | 'keyWithAddress'> = {
    records: tellingRecords(store, { registry: common.registry, ingests, report }),
    takesPart: async (database, participant) =>
      (await store.listConversations(database, { ...one, participant })).length > 0,
    keyWithAddress: (database, address) => keyWithAddress(store, database, address),
  }
  return (database, principal) => ({
    ...{ database, ...common, ...kept },
    domains: [...domains].filter(([, owner]) => owner === database).map(([domain]) => domain),
    changed: () => changedBy(principal, store.now(database)),
  })
}

/** The store as the registry writes it: notifies other processes that definitions have changed, and lets documents be read again. */
function tellingRecords(
  store: Store,
  { registry, ingests, report }: Pick<Parts, 'registry' | 'ingests'> & Pick<Environment, 'report'>,
): AgentRecords {
  return {
    listAgents: (database) => store.listAgents(database),
    listAgentIds: (database) => store.listAgentIds(database),
    getAgentRevision: (...at) => store.getAgentRevision(...at),
    lastAgentRevision: (...at) => store.lastAgentRevision(...at),
    confirmStored: (database) => store.confirmStored(database),
    async changeAgents(database, changes, changed) {
      const isDone = await store.changeAgents(database, changes, auditOfDefinitions(changed, changes))
      if (isDone) store.notify(database, '', 'agents')
      const bases = isDone ? changes.filter(({ id }) => baseOfRowId(id) !== null) : []
      for (const { id, row } of bases) registry.put(database, id, row) // documents are read as it says
      // The definitions are stored: what fails here is done by the next look.
      if (bases.length > 0) await ingests.changed(database).catch(report)
      return isDone
    },
  }
}

const sweptAtOnce = 100

/** Wakes stranded jobs; removes expired conversations, notifies their readers, and evicts them from memory [Rb35]. */
function sweeper({
  store,
  warm,
  hub,
  stranded,
}: Pick<Parts, 'store' | 'warm' | 'hub' | 'stranded'>): () => Promise<void> {
  return async () => {
    await stranded.look()
    for (const { database, id } of await store.sweepConversations(sweptAtOnce)) {
      warm.drop(database, id)
      hub.gone(channelOf(database, id))
    }
  }
}

/** The hooks of a process, and what checks the guardrails of its agents. */
function checksOf({ hooks = [] }: RuntimeOptions): Pick<Environment, 'hooks' | 'guards'> {
  return { hooks: new HookRows(hooks.map(defineHooks)), guards: new Guards(askThread) }
}
