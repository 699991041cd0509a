/** Starts a server from a configuration, and stops it in order. */
import { setMaxListeners } from 'node:events'
import { createSafeFetch } from '@witan/core/tooling'
import { studioFolder } from '@witan/studio'
import { createApp } from './app.ts'
import { checkBinding } from './auth.ts'
import { checkKeyStore } from './auth-config.ts'
import { type Config, storeFile } from './config.ts'
import { federationOf } from './federation-config.ts'
import { isEveryAddress, isLoopback, nameOf } from './host.ts'
import { listen } from './listen.ts'
import { createLog } from './log.ts'
import { openAuth } from './open-auth.ts'
import { openRuntime } from './open-runtime.ts'
import { announce } from './server-file.ts'
import { isDoneWithin, stopsWithinMs } from './within.ts'

/** A running server. `token` is null in mode `none`; `pageUrl` is what a browser opens first. */
export interface WitanServer {
  readonly url: string
  readonly pageUrl: string
  readonly token: string | null
  readonly port: number
  /**
   * Streams end at once, requests have five seconds, then runs stop where they are, are handed on, and the store closes. False where
   * all that took more than nine seconds: the runs go on when their leases lapse. A second call waits for the first.
   */
  close(): Promise<boolean>
}

const GRACE_MS = 5_000
const WAIT_MS = 4_000

/** What a start may bring along. */
export interface StartOptions {
  /** The token of mode `local`, such as that of the start before; without it the server makes a new one. */
  readonly token?: string | undefined
}

/** Opens the runtime, then listens. Throws `CONFIG_INVALID`, `STORE_LOCKED`, `SCHEMA_TOO_NEW` or what an agent is refused for; nothing is left open then. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<WitanServer> {
  const { host } = config.server
  checkBinding(host, config.auth.mode)
  checkKeyStore(config.auth.mode, config.store)
  const log = createLog(config.logLevel)
  const runtime = await openRuntime(config, log)
  try {
    let port = config.server.port
    let publicUrl = ''
    const { allowedHosts, allowedOrigins } = config.server
    const allowed = [...allowedHosts]
    const federation = federationOf(config, () => publicUrl)
    const out = createSafeFetch({ resolve: config.federation.resolve })
    const fetchJson = async (url: string): Promise<unknown> => (await out.json(url)).value
    const hosts = { port: () => port, allowed, origins: allowedOrigins, domains: federation.domains }
    const auth = await openAuth(config, { runtime, port: () => port, token: options.token, log })
    const stop = createStop()
    const app = createApp({ runtime, auth, hosts, log, stop, federation, fetchJson, studio: studioFolder })
    const listening = await listen(app, { host, port, log })
    port = listening.port
    const name = `${nameOf(host)}:${port}`
    if (!isLoopback(host) && !isEveryAddress(host)) allowed.push(name)
    const url = `http://${name}`
    publicUrl = config.server.publicUrl ?? url
    if (config.server.publicUrl !== undefined) allowed.push(new URL(publicUrl).host)
    const file = storeFile(config)
    const unannounce = file === null ? async () => undefined : await announce(file, { url, token: auth.token })
    log('info', 'listening', { url })
    if (isEveryAddress(host) && allowedHosts.length === 0) {
      const next = 'list the names of this server in server.allowedHosts'
      log('warn', 'requests from other machines are refused, since no name of this server is known', { next })
    }
    const close = once(async () => {
      const from = performance.now()
      await unannounce()
      stop.begin()
      await listening.close(GRACE_MS)
      stop.end()
      await auth.close()
      return isDoneWithin(runtime.close(), stopsWithinMs - (performance.now() - from))
    })
    return {
      url,
      pageUrl: auth.token === null ? `${url}/` : `${url}/?token=${auth.token}`,
      token: auth.token,
      port,
      close,
    }
  } catch (error) {
    await runtime.close()
    throw error
  }
}

interface Stop {
  readonly streams: AbortSignal
  readonly waits: AbortSignal
  begin(): void
  end(): void
}

/** Streams first, then, a little before connections are cut, the requests that still wait. */
function createStop(): Stop {
  const streams = new AbortController()
  const waits = new AbortController()
  for (const { signal } of [streams, waits]) setMaxListeners(0, signal)
  let timer: NodeJS.Timeout | undefined
  return {
    streams: streams.signal,
    waits: waits.signal,
    begin() {
      streams.abort()
      timer = setTimeout(() => waits.abort(), WAIT_MS)
    },
    end() {
      clearTimeout(timer)
      waits.abort()
    },
  }
}

function once<Result>(act: () => Promise<Result>): () => Promise<Result> {
  let acting: Promise<Result> | null = null
  return () => {
    acting ??= act()
    return acting
  }
}
