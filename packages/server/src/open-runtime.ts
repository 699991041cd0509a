/** From a configuration to a runtime that is ready. */
import { aiSdkModel, createRuntime, type Runtime, type RuntimeOptions, sqliteStore } from '@witan/core'
import { apiKeyOf, type Config, storeFile } from './config.ts'
import type { Log } from './log.ts'

/** Opens the store, wires the runtime and waits until it is ready. Throws what the store or an agent refuses; nothing is left open then. */
export async function openRuntime(config: Config, log: Log): Promise<Runtime> {
  const runtime = createRuntime(runtimeOptions(config, log))
  try {
    await runtime.ready
    return runtime
  } catch (error) {
    await runtime.close().catch(() => undefined)
    throw error
  }
}

function runtimeOptions(config: Config, log: Log): RuntimeOptions {
  const connections = Object.entries(config.connections).map(([name, connection]) => {
    const apiKey = apiKeyOf(connection, config.env)
    const { kind, baseUrl } = connection
    return [name, { kind, baseUrl, ...(apiKey === null ? {} : { apiKey }) }] as const
  })
  const { maxDepth, maxModelCalls } = config.limits
  return {
    ...storeOption(config),
    connections: Object.fromEntries(connections),
    models: modelsOf(config),
    sources: config.sources,
    tools: config.tools,
    agents: config.agents,
    limits: {
      ...(maxDepth === undefined ? {} : { maxDepth }),
      ...(maxModelCalls === undefined ? {} : { maxModelCalls }),
    },
    report: (error) => log('error', 'something broke inside', { error }),
  }
}

function storeOption(config: Config): Pick<RuntimeOptions, 'store'> {
  const file = storeFile(config)
  if (file === null) return {}
  const { synchronous } = config.store
  return { store: sqliteStore({ file, ...(synchronous === undefined ? {} : { synchronous }) }) }
}

/** A live model as it is, or an AI SDK model in our clothes. */
function modelsOf(config: Config): NonNullable<RuntimeOptions['models']> {
  const entries = Object.entries(config.models).map(([name, model]) => {
    return [name, 'specificationVersion' in model ? aiSdkModel(model, { id: name }) : model] as const
  })
  return Object.fromEntries(entries)
}
