/** The socket: a Node HTTP server over the application's `fetch`. */
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { WitanError } from '@witan/protocol'
import type { App } from './app-options.ts'
import { problem } from './app.ts'
import type { Log } from './log.ts'
import { createTurnstile } from './turnstile.ts'

/** A listening server; `port` is the real one, also where 0 was asked for. */
export interface Listening {
  readonly port: number
  /** Accepts no more connections and resolves when the last one has closed; after `graceMs` it closes the remaining ones. */
  close(graceMs: number): Promise<void>
}

const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
}
const MAX_CONNECTIONS = 4_096

/** Listens. Throws `CONFIG_INVALID` where the port is taken or not allowed, or the host is not one of this machine. */
export async function listen(
  app: App,
  at: { readonly host: string; readonly port: number; readonly log: Log },
): Promise<Listening> {
  const errorHandler = (error: unknown): Response => badTarget(error, at.log)
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler })
  const server = createServer(timeouts, (request, response) => turnstile.admit(() => void listener(request, response)))
  const turnstile = createTurnstile(server)
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(error, at)))
    server.listen({ host: at.host.replace(/^\[|\]$/g, ''), port: at.port }, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return { port: address.port, close: (graceMs) => close(server, graceMs) }
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

/** A request whose `Host` or target makes no URL; it never reached the application. */
function badTarget(error: unknown, log: Log): Response {
  const reason = error instanceof Error && /host/i.test(error.message) ? 'HOST_NOT_ALLOWED' : 'NOT_FOUND'
  const detail =
    reason === 'NOT_FOUND'
      ? 'The target of the request is not a valid path.'
      : 'The `Host` of the request is not valid.'
  return problem(new WitanError(reason, detail), crypto.randomUUID(), log)
}

function refusal(error: NodeJS.ErrnoException, at: { readonly host: string; readonly port: number }): WitanError {
  const cause = { cause: error, path: 'server.port' }
  if (error.code === 'EADDRINUSE') {
    const hint = 'Stop the program that has it, or set another one: WITAN_PORT, or server.port (0 takes a free one).'
    return new WitanError('CONFIG_INVALID', `Port ${at.port} of ${at.host} is in use.`, { ...cause, hint })
  }
  const hint = 'Set server.host and server.port to an address of this machine.'
  return new WitanError('CONFIG_INVALID', `Cannot listen on ${at.host}, port ${at.port}: ${error.code ?? 'refused'}.`, {
    ...cause,
    hint,
  })
}
