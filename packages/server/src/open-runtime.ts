/** From a configuration to a runtime that is ready. */
import {
  aiSdkModel,
  createRuntime,
  memoryStore,
  postgresStore,
  type Runtime,
  type RuntimeOptions,
  type Store,
  sqliteStore,
} from '@witan/core'
import { apiKeyOf, type Config, isPostgres, sourceUrlOf, storeFile } from './config.ts'
import type { Log } from './log.ts'

/** Opens the store, wires the runtime and waits until it is ready. Throws what the store or an agent refuses; nothing is left open then. */
export async function openRuntime(
  config: Config,
  log: Log,
  more: Pick<RuntimeOptions, 'working' | 'takesWork'> = {},
): Promise<Runtime> {
  const runtime = createRuntime({ ...runtimeOptions(config, log), ...more })
  try {
    await runtime.ready
    return runtime
  } catch (error) {
    await runtime.close().catch(() => undefined)
    throw error
  }
}

/** What a configuration means to a runtime. */
export function runtimeOptions(config: Config, log: Log): RuntimeOptions {
  const connections = Object.entries(config.connections).map(([name, connection]) => {
    const apiKey = apiKeyOf(connection, config.env)
    const { kind, baseUrl, prices } = connection
    const known = { ...(apiKey === null ? {} : { apiKey }), ...(prices === undefined ? {} : { prices }) }
    return [name, { kind, baseUrl, ...known }] as const
  })
  const { maxDepth, maxModelCalls } = config.limits
  return {
    store: storeOf(config),
    connections: Object.fromEntries(connections),
    models: modelsOf(config),
    sources: sourcesOf(config),
    tools: config.tools,
    agents: config.agents,
    limits: {
      ...(maxDepth === undefined ? {} : { maxDepth }),
      ...(maxModelCalls === undefined ? {} : { maxModelCalls }),
    },
    ...(config.leaseMs === null ? {} : { leaseMs: config.leaseMs }),
    report: (error) => log('error', 'something broke inside', { error }),
  }
}

/** The store of a configuration, not opened yet. */
export function storeOf(config: Pick<Config, 'store'>): Store {
  const { url, synchronous, schema, poolSize } = config.store
  if (isPostgres(url)) {
    const given = { ...(schema === undefined ? {} : { schema }), ...(poolSize === undefined ? {} : { poolSize }) }
    return postgresStore({ url, ...given })
  }
  const file = storeFile(config)
  return file === null ? memoryStore() : sqliteStore({ file, ...(synchronous === undefined ? {} : { synchronous }) })
}

function sourcesOf({ sources, env }: Config): NonNullable<RuntimeOptions['sources']> {
  const entries = Object.entries(sources).map(([name, source]) => {
    if (source.kind === 'sqlite') return [name, source] as const
    return [name, { kind: source.kind, url: sourceUrlOf(name, source.urlEnv, env) }] as const
  })
  return Object.fromEntries(entries)
}

/** A live model as it is, or an AI SDK model in our clothes. */
function modelsOf(config: Config): NonNullable<RuntimeOptions['models']> {
  const entries = Object.entries(config.models).map(([name, model]) => {
    return [name, 'specificationVersion' in model ? aiSdkModel(model, { id: name }) : model] as const
  })
  return Object.fromEntries(entries)
}
