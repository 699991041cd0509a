/** Starts the server of `witan dev` and `witan serve`, and says where the one listens that is in its way. */
import { isWitanError, WitanError } from '@witan/protocol'
import type { Config, StartOptions, WitanServer } from '@witan/server'
import { findServer, startServer, storeFile } from '@witan/server'
import { readPort } from './arguments.ts'
import type { Given, Option } from './command.ts'
import { StartError } from './exit.ts'
import { isWitan, urlOf } from './listening.ts'
import type { Terminal } from './terminal.ts'

/** Where to listen. */
export const portOption: Readonly<Record<string, Option>> = {
  port: { value: 'PORT', help: 'Listen on that port instead of server.port; 0 takes a free one.' },
}

/** The terminal with `--port` as its WITAN_PORT: every reading of the configuration, also after a change, then has that port. */
export function withGivenPort(given: Given, terminal: Terminal): Terminal {
  const port = readPort(given)
  if (port === undefined) return terminal
  return { ...terminal, environment: { ...terminal.environment, WITAN_PORT: String(port) } }
}

/** A running server. Throws `StartError`. */
export async function start(config: Config, options: StartOptions = {}): Promise<WitanServer> {
  try {
    return await startServer(config, options)
  } catch (error) {
    throw new StartError(await explained(error, config))
  }
}

function explained(error: unknown, config: Config): Promise<unknown> | unknown {
  if (!isWitanError(error)) return error
  if (error.code === 'STORE_LOCKED') return lockedStore(error, config)
  const cause = error.cause as { readonly code?: unknown } | undefined
  return cause?.code === 'EADDRINUSE' ? takenPort(error, config) : error
}

/** What holds the store may be a server, or a command that works in its own process. */
async function lockedStore(error: WitanError, config: Config): Promise<WitanError> {
  const file = storeFile(config)
  const running = file === null ? null : await findServer(file)
  if (running === null) return error
  return new WitanError('STORE_LOCKED', `${error.message} It serves at ${running.url}.`, {
    cause: error,
    hint: `Open ${running.url}, or stop that process first. A second server needs a store of its own (store.url or WITAN_STORE_URL) and --port 0.`,
  })
}

async function takenPort(error: WitanError, config: Config): Promise<WitanError> {
  const url = urlOf(config.server)
  const isOurs = await isWitan(url)
  const what = isOurs ? `A Witan server listens at ${url} already.` : 'Another program has it.'
  const first = isOurs ? `Open ${url}, or stop that server` : 'Stop that program'
  return new WitanError(error.code, `${error.message} ${what}`, {
    cause: error,
    hint: `${first}, or start this one on another port: --port 0 takes a free one.`,
  })
}
