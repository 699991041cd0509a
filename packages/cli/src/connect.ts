/** Reaches the agents: a server that was named, the one that holds the configured store, or an application in this process. */
import type { Client } from '@witan/client'
import { createClient } from '@witan/client'
import { nearest } from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import type { Config } from '@witan/server'
import { createApp, createAuth, createLog, findServer, openRuntime, storeFile } from '@witan/server'
import type { Given } from './command.ts'
import type { ExitCode } from './exit.ts'
import { exitCodes, StartError, UsageError } from './exit.ts'
import { quiet, readConfig } from './loading.ts'
import { shellWord } from './shell-word.ts'
import type { Terminal } from './terminal.ts'
import { canRedraw, print, writeData } from './terminal.ts'

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

/** What a command does with its connection. */
interface Purpose {
  /** Whether runs are worked on in this process where no server is spoken to. One that is about to end must not begin with them. */
  readonly works: boolean
}

/** Connects to look and to speak. Throws `StartError` where the configuration or the store does not allow it. */
async function connect(given: Given, terminal: Terminal, { works }: Purpose = { works: false }): Promise<Connection> {
  const found = await serverOrConfig(given, terminal)
  if ('client' in found && given.has('url')) return found
  const connection = 'client' in found ? found : await inProcess(found, terminal, works)
  const named = given.text('config')
  return named === undefined ? connection : { ...connection, options: ` --config ${shellWord(named)}` }
}

/** The server that `--url` names, or that holds the configured store; else the configuration, for who needs no server. */
export async function serverOrConfig(given: Given, terminal: Terminal): Promise<Connection | Config> {
  const url = given.text('url')
  const own = terminal.environment.WITAN_TOKEN || null
  if (url !== undefined) return { ...toServer(url, given.text('token') ?? own), options: ` --url ${shellWord(url)}` }
  const config = await readConfig(given, terminal)
  const file = storeFile(config)
  const running = file === null ? null : await findServer(file)
  if (running !== null) return toServer(running.url, given.text('token') ?? running.token ?? own)
  if (given.has('token')) throw new UsageError('--token is for a server, and none is named.', 'Add --url URL.')
  return config
}

/** Connects for a command that stays until what it asked for is done, does that, and closes whatever comes of it. */
export async function withConnection<Result>(
  given: Given,
  terminal: Terminal,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return doWith(await connect(given, terminal, { works: true }), work)
}

/** The same for a command that only looks and speaks. */
export async function looking<Result>(
  given: Given,
  terminal: Terminal,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  return doWith(await connect(given, terminal), work)
}

/** The same, for work that only needs the client. */
export function withClient<Result>(
  given: Given,
  terminal: Terminal,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return looking(given, terminal, ({ client }) => work(client))
}

/** Without a server, says that another process must continue the run: this one ends now. */
export function sayWhere({ url, options }: Connection, what: string, terminal: Terminal): void {
  if (url === null)
    print(terminal, `${what} in a server of this store; if none runs: witan serve${options}`, terminal.errors)
}

/** Runs the work, then closes the connection. An unknown-agent error gets a hint, such as the most similar name. */
async function doWith<Result>(
  connection: Connection,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(connection)
  } catch (error) {
    throw await withNearest(connection.client, error)
  } finally {
    await connection.close()
  }
}

async function withNearest(client: Client, error: unknown): Promise<unknown> {
  if (!isWitanError(error) || error.code !== 'NOT_FOUND') return error
  const word = /no agent `(.*)`/.exec(error.message)?.[1]
  if (word === undefined) return error
  const known: string[] = []
  try {
    for await (const { id, name } of client.agents.all()) known.push(id, ...(name === undefined ? [] : [name]))
  } catch {
    return error // the list is only for the hint
  }
  if (known.length === 0) {
    const hint =
      'There are no agents at all: name a configuration with --config FILE, or save some with witan agents apply -f FILE.'
    return new WitanError('NOT_FOUND', error.message, { hint })
  }
  const near = nearest(word, known)
  return near === null ? error : new WitanError('NOT_FOUND', error.message, { hint: `Did you mean \`${near}\`?` })
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

/** How long a command waits at its end for a collector that is slow: its traces are lost with the process. */
const tracesWithinMs = 15_000

/** This application has no socket, hence no token; its address is only a name. */
async function inProcess(config: Config, terminal: Terminal, works: boolean): Promise<Connection> {
  const notes = heldNotes(terminal)
  const log = createLog(quiet(config).logLevel, notes.write)
  const runtime = await openRuntime(config, log, { takesWork: works }).catch((error: unknown) => {
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
    lasts: config.store.url !== 'memory:',
    options: '',
    close: async () => {
      client.close()
      stop.abort()
      await runtime.close({ tracesWithinMs })
      notes.tell()
    },
  }
}

/** A note in the middle of a redrawn tree would break it, so a terminal prints it at the end. */
function heldNotes(terminal: Terminal): { write(line: string): void; tell(): void } {
  const held: string[] = []
  const live = terminal.errors.isTTY === true && canRedraw(terminal)
  return {
    write: (line) => (live ? held.push(line) : writeData(terminal.errors, line.trimEnd())),
    tell: () => {
      for (const line of held) writeData(terminal.errors, line.trimEnd())
    },
  }
}

/** Over a network an abort ends the reading of a body too; without one somebody has to do it. */
function untilAborted(response: Response, signal: AbortSignal): Response {
  if (response.body === null) return response
  return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response)
}
