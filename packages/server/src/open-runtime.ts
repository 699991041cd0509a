/** Opens a runtime from a configuration. */
import {
  ModelCallError,
  aiSdkModel,
  createRuntime,
  memoryStore,
  postgresStore,
  routedStore,
  type Runtime,
  type RuntimeOptions,
  type Store,
  sqliteStore,
} from '@witan/core'
import { WitanError } from '@witan/protocol'
import { createReaders } from '@witan/readers'
import { apiKeyOf, clusterUrlOf, type Config, isPostgres, sourceUrlOf, storeFile } from './config.ts'
import { domainsOfConfig } from './federation-config.ts'
import { telemetryOptions } from './telemetry-config.ts'
import type { Log } from './log.ts'

/** Opens the store, creates the runtime and waits until it is ready. If the store or an agent fails, throws that error and leaves nothing open. */
export async function openRuntime(
  config: Config,
  log: Log,
  more: Pick<RuntimeOptions, 'working' | 'takesWork'> = {},
): Promise<Runtime> {
  const working: RuntimeOptions['working'] = (note) => {
    logWork(log, note)
    more.working?.(note)
  }
  const runtime = createRuntime({ ...runtimeOptions(config, log), ...more, working })
  try {
    await runtime.ready
    return runtime
  } catch (error) {
    await runtime.close().catch(() => undefined)
    throw error
  }
}

type WorkNote = Parameters<NonNullable<RuntimeOptions['working']>>[0]

/** A line for each run and task that this process begins and leaves. One that failed is a warning, with its code and no text. */
function logWork(log: Log, note: WorkNote): void {
  const { state, kind, agent, attempt, code } = note
  const fields = { ...placeIn(note), agent, ...(attempt > 1 ? { attempt } : {}), ...(code === null ? {} : { code }) }
  log(state === 'failed' ? 'warn' : 'debug', `${kind} ${state}`, fields)
}

function placeIn({ database, conversation, run, id }: Pick<WorkNote, 'database' | 'conversation' | 'run' | 'id'>) {
  return { database, conversationId: conversation, runId: run, callId: id }
}

/** The runtime options of a configuration. */
export function runtimeOptions(config: Config, log: Log): RuntimeOptions {
  const connections = Object.entries(config.connections).map(([name, connection]) => {
    const apiKey = apiKeyOf(connection, config.env)
    const { kind, baseUrl, prices, maxOutputTokens, providerOptions, minIntervalMs, maxConcurrent, takes } = connection
    const known = {
      ...(apiKey === null ? {} : { apiKey }),
      ...(prices === undefined ? {} : { prices }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
      ...(minIntervalMs === undefined ? {} : { minIntervalMs }),
      ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
      ...(takes === undefined ? {} : { takes }),
    }
    return [name, { kind, baseUrl, ...known }] as const
  })
  return {
    store: storeOf(config),
    connections: Object.fromEntries(connections),
    models: modelsOf(config),
    ...(config.prices === undefined ? {} : { prices: config.prices === false ? null : config.prices }),
    sources: sourcesOf(config),
    tools: config.tools,
    hooks: config.hooks,
    agents: config.agents,
    protocols: config.protocols,
    knowledge: config.knowledge,
    readers: createReaders({ modules: config.readers }),
    mcpServers: config.mcp.settings,
    mcpLock: config.mcp.lock,
    mcpLog: (line) => log('info', line),
    domains: domainsOfConfig(config.server),
    federation: federationOptions(config),
    limits: Object.fromEntries(Object.entries(config.limits).filter(([, limit]) => limit !== undefined)),
    telemetry: telemetryOptions(config.telemetry, config.env),
    ...(config.leaseMs === null ? {} : { leaseMs: config.leaseMs }),
    listening: (problem) => {
      if (problem === null) return log('info', 'notifications of other processes arrive again')
      log('warn', problem.message, { hint: problem.hint })
    },
    report: (error, where) => {
      const place = where === undefined ? {} : placeIn({ ...where, id: where.call })
      // What a model's server did is no fault of ours: its words say all, and a stack would say nothing.
      if (error instanceof ModelCallError) return log('error', error.message, place)
      log('error', 'something broke inside', { ...place, error })
    },
  }
}

function federationOptions({
  federation: { maxHops, resolve, trust, issuers, budgets, bearerEnv },
  auth: { mode },
}: Config): RuntimeOptions['federation'] & {} {
  // In these modes no other machine reaches the server: who saves an agent is who runs it.
  const isOwn = mode === 'local' || mode === 'none'
  return { maxHops, resolve, trust, issuers, budgets, bearerEnv: bearerEnv ?? (isOwn ? '*' : {}) }
}

type ServerOptions = Parameters<typeof postgresStore>[0]

/** The name of the server at `store.url`. */
const mainCluster = 'main'

/** Where a store on PostgreSQL is, by cluster: `main` at `store.url`, and those of `store.clusters`. For `postgresStore` and whoever looks at its servers. */
export function serversOf({ store, env }: Pick<Config, 'store' | 'env'>): Readonly<Record<string, ServerOptions>> {
  const { url, schema, poolSize, listenUrl, clusters = {} } = store
  const shared = { ...(schema === undefined ? {} : { schema }), ...(poolSize === undefined ? {} : { poolSize }) }
  const more = Object.entries(clusters).map(([name, { urlEnv }]): [string, ServerOptions] => [
    name,
    { url: clusterUrlOf(name, urlEnv, env), ...shared },
  ])
  const main = { url, ...shared, ...(listenUrl === undefined ? {} : { listenUrl }) }
  return { ...Object.fromEntries(more), [mainCluster]: main }
}

/** The store of a configuration, not opened yet. Throws `CONFIG_INVALID` for clusters without PostgreSQL, or a home that is none of them. */
export function storeOf(config: Pick<Config, 'store' | 'env'>): Store {
  const { url, synchronous, maxResting, maxRestingMs, clusters, homes = {} } = config.store
  const isRouted = clusters !== undefined || Object.keys(homes).length > 0
  if (isRouted && (!isPostgres(url) || Object.hasOwn(clusters ?? {}, mainCluster))) throw notRouted()
  if (isPostgres(url) && isRouted) {
    const servers = Object.entries(serversOf(config)).map(([name, options]) => [name, postgresStore(options)] as const)
    return routedStore({ clusters: Object.fromEntries(servers), homes, others: mainCluster })
  }
  if (isPostgres(url)) return postgresStore(serversOf(config)[mainCluster] as ServerOptions)
  const file = storeFile(config)
  if (file !== null) return sqliteStore({ file, ...(synchronous === undefined ? {} : { synchronous }) })
  return memoryStore({
    ...(maxResting === undefined ? {} : { maxResting }),
    ...(maxRestingMs === undefined ? {} : { maxRestingMs }),
  })
}

function notRouted(): WitanError {
  const detail = 'Clusters of a store are servers of PostgreSQL beside the one at `store.url`, which is called `main`.'
  const hint = 'Set `store.url` to `postgres://…`, and give each of `store.clusters` another name.'
  return new WitanError('CONFIG_INVALID', detail, { path: 'store.clusters', hint })
}

function sourcesOf({ sources, env }: Config): NonNullable<RuntimeOptions['sources']> {
  const entries = Object.entries(sources).map(([name, source]) => {
    if (source.kind === 'sqlite') return [name, source] as const
    return [name, { kind: source.kind, url: sourceUrlOf(name, source.urlEnv, env) }] as const
  })
  return Object.fromEntries(entries)
}

/** A model of ours unchanged, or an adapter around an AI SDK model. */
function modelsOf(config: Config): NonNullable<RuntimeOptions['models']> {
  const entries = Object.entries(config.models).map(([name, model]) => {
    return [name, 'specificationVersion' in model ? aiSdkModel(model, { id: name }) : model] as const
  })
  return Object.fromEntries(entries)
}
