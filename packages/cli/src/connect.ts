/** Reaches the agents: a server that was named, the one that holds the configured store, or an application in this process. */
import type { Client } from '@witan/client'
import { createClient } from '@witan/client'
import type { Config } from '@witan/server'
import { createApp, createAuth, createLog, findServer, loadConfig, openRuntime, storeFile } from '@witan/server'
import type { Given } from './command.ts'
import { StartError, UsageError } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** A way to the agents, always through the client, so that a command never knows which of the three it is. */
export interface Connection {
  readonly client: Client
  /** The server's address; null where there is none and the application is in this process. */
  readonly url: string | null
  /** Whether what is stored is still there when this process has ended. */
  readonly lasts: boolean
  close(): Promise<void>
}

/** Connects. Throws `StartError` where the configuration or the store does not allow it. */
export async function connect(given: Given, terminal: Terminal): Promise<Connection> {
  const url = given.text('url')
  const token = given.text('token') ?? terminal.environment.WITAN_TOKEN
  if (url !== undefined) return toServer(url, token || null)
  if (given.has('token')) throw new UsageError('--token is for a server, and none is named.', 'Add --url URL.')
  const config = await readConfig(given, terminal)
  const file = storeFile(config)
  const running = file === null ? null : await findServer(file)
  return running === null ? await inProcess(config) : toServer(running.url, running.token)
}

/** Loads the configuration that the options, the environment or the folder name. */
export async function readConfig(given: Given, terminal: Terminal): Promise<Config> {
  const file = given.text('config')
  const { environment: env, folder: cwd } = terminal
  try {
    return await loadConfig({ cwd, env, ...(file === undefined ? {} : { file }) })
  } catch (error) {
    throw new StartError(error)
  }
}

/** The configuration without the server's notes, unless somebody asked for them. */
export function quiet(config: Config): Config {
  return config.env.WITAN_LOG_LEVEL ? config : { ...config, logLevel: 'warn' }
}

function toServer(url: string, token: string | null): Connection {
  const client = createClient({ url, ...(token === null ? {} : { token }) })
  return { client, url, lasts: true, close: () => Promise.resolve(client.close()) }
}

/** Nobody else reaches this application, hence no token; its address is only a name. */
async function inProcess(config: Config): Promise<Connection> {
  const log = createLog(quiet(config).logLevel)
  const runtime = await openRuntime(config, log).catch((error: unknown) => {
    throw new StartError(error)
  })
  const stop = new AbortController()
  const app = createApp({
    runtime,
    log,
    auth: createAuth('none', () => 80),
    hosts: { port: () => 80, allowed: [] },
    stop: { streams: stop.signal, waits: stop.signal },
    studio: new URL('about:blank'),
  })
  const client = createClient({
    url: 'http://localhost',
    fetch: async (input, init) => await app.fetch(new Request(input, init)),
  })
  return {
    client,
    url: null,
    lasts: storeFile(config) !== null,
    close: async () => {
      client.close()
      stop.abort()
      await runtime.close()
    },
  }
}
