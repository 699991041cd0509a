/** Reaches the agents: a server that was named, the one that holds the configured store, or an application in this process. */
import type { Client } from '@witan/client'
import { createClient } from '@witan/client'
import type { Config } from '@witan/server'
import { createApp, createAuth, createLog, findServer, openRuntime, storeFile } from '@witan/server'
import type { Given } from './command.ts'
import type { ExitCode } from './exit.ts'
import { exitCodes, StartError, UsageError } from './exit.ts'
import { quiet, readConfig } from './loading.ts'
import type { Terminal } from './terminal.ts'
import { canRedraw } from './terminal.ts'

/** A way to the agents, always through the client, so that a command never knows which of the three it is. */
export interface Connection {
  readonly client: Client
  /** The server's address; null where there is none and the application is in this process. */
  readonly url: string | null
  /** Whether what is stored is still there when this process has ended. */
  readonly lasts: boolean
  /** The options that lead here again, with a space before each; never a token. */
  readonly options: string
  close(): Promise<void>
}

/** Connects. Throws `StartError` where the configuration or the store does not allow it. */
export async function connect(given: Given, terminal: Terminal): Promise<Connection> {
  const url = given.text('url')
  const token = given.text('token') ?? terminal.environment.WITAN_TOKEN
  if (url !== undefined) return { ...toServer(url, token || null), options: ` --url ${url}` }
  if (given.has('token')) throw new UsageError('--token is for a server, and none is named.', 'Add --url URL.')
  const config = await readConfig(given, terminal)
  const file = storeFile(config)
  const running = file === null ? null : await findServer(file)
  const connection = running === null ? await inProcess(config, terminal) : toServer(running.url, running.token)
  const named = given.text('config')
  return named === undefined ? connection : { ...connection, options: ` --config ${named}` }
}

/** Connects, does the work, and closes whatever comes of it. */
export async function withClient<Result>(
  given: Given,
  terminal: Terminal,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(given, terminal)
  try {
    return await work(connection.client)
  } finally {
    await connection.close()
  }
}

/** Work that either is done or throws, as a command. */
export async function connected(
  given: Given,
  terminal: Terminal,
  work: (client: Client, given: Given, terminal: Terminal) => Promise<void>,
): Promise<ExitCode> {
  await withClient(given, terminal, (client) => work(client, given, terminal))
  return exitCodes.done
}

function toServer(url: string, token: string | null): Connection {
  const client = createClient({ url, ...(token === null ? {} : { token }) })
  return { client, url, lasts: true, options: '', close: () => Promise.resolve(client.close()) }
}

/** Nobody else reaches this application, hence no token; its address is only a name. */
async function inProcess(config: Config, terminal: Terminal): Promise<Connection> {
  const notes = heldNotes(terminal)
  const log = createLog(quiet(config).logLevel, notes.write)
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
    fetch: async (input, init) => {
      const request = new Request(input, init)
      return untilAborted(await app.fetch(request), request.signal)
    },
  })
  return {
    client,
    url: null,
    lasts: storeFile(config) !== null,
    options: '',
    close: async () => {
      client.close()
      stop.abort()
      await runtime.close()
      notes.tell()
    },
  }
}

/** A note in the middle of a tree that is redrawn would break it: on a terminal it is told at the end. */
function heldNotes(terminal: Terminal): { write(line: string): void; tell(): void } {
  const held: string[] = []
  const live = terminal.errors.isTTY === true && canRedraw(terminal)
  return {
    write: (line) => (live ? held.push(line) : terminal.errors.write(line)),
    tell: () => {
      for (const line of held) terminal.errors.write(line)
    },
  }
}

/** Over a network an abort ends the reading of a body too; without one somebody has to do it. */
function untilAborted(response: Response, signal: AbortSignal): Response {
  if (response.body === null) return response
  return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response)
}
