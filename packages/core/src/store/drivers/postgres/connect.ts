/** Opens connections: the configuration of each, the host that it goes to, and whether what it leads to keeps sessions. */
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg'
import { WitanError } from '@witan/protocol'
import { lookAtPeer, sharesProcesses } from './session-settings.ts'
import type { ConnectionSettings } from './settings.ts'
import type { Route, Way } from './url.ts'

/** The used part of the package `pg`, which is imported only when a store opens. */
export interface Pg {
  readonly Pool: new (config: PoolConfig) => Pool
  readonly Client: new (config: ClientConfig) => Client
  readonly types: Parameters<typeof useParsers>[0]
}

const int8 = 20

/** Parses integers as numbers. No count, time or seq of a store exceeds 2^53; a larger one must not be rounded silently. */
function parseInt8(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new RangeError('A number in the store is too large to be one of ours.')
}

let defaults: { getTypeParser(oid: number, format?: string): (text: string) => unknown } | null = null

/** The parsers of `pg`, set when it is imported. */
export function useParsers(types: NonNullable<typeof defaults>): void {
  defaults = types
}

function typeParser(oid: number, format?: string): (text: string) => unknown {
  return oid === int8 ? parseInt8 : (defaults?.getTypeParser(oid, format) ?? ((text) => text))
}

/** The configuration of every connection but its host. */
export function clientConfig({ timeouts: { connectMs } }: ConnectionSettings): ClientConfig {
  return {
    application_name: 'witan',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: typeParser },
  } as ClientConfig
}

/** The clients of a pool: each goes to the host that is the current one when it is made. */
export function clientsOf(pg: Pick<Pg, 'Client'>, route: Route): new () => Client {
  return function RoutedClient(config: ClientConfig) {
    return new pg.Client({ ...config, connectionString: route.current() })
  } as unknown as new () => Client
}

/** Connects to the first host of the address that `greet` accepts, beginning at the current one. Throws what each said. */
export async function connect(
  pg: Pick<Pg, 'Client'>,
  { way: { address, route }, config }: { readonly way: Way; readonly config: ClientConfig },
  greet: (client: Client) => Promise<unknown>,
): Promise<Client> {
  const failures: unknown[] = []
  while (failures.length < address.hosts.length) {
    const host = route.current()
    const client = new pg.Client({ ...config, connectionString: host })
    client.on('error', () => {}) // pending queries reject by themselves
    try {
      await client.connect()
      await greet(client)
      return client
    } catch (error) {
      failures.push(error)
      route.failed(host)
      client.end().catch(() => {})
    }
  }
  throw failures[0]
}

/**
 * A connection whose session lasts as long as it does. Throws `STORE_UNREACHABLE` if a pooler gives each transaction another process
 * of the server. Nothing is set on it.
 */
export async function connectSession(pg: Pick<Pg, 'Client'>, settings: ConnectionSettings): Promise<Client> {
  const way = settings.listening
  const config = { ...clientConfig(settings), query_timeout: 60_000 }
  const leads = { isPooled: false }
  const client = await connect(pg, { way, config }, async (one) => Object.assign(leads, await lookAtPeer(one)))
  try {
    if (leads.isPooled && (await isShared(pg, client, { way, config }))) throw sharedProcesses(settings)
    return client
  } catch (error) {
    await client.end()
    throw error
  }
}

async function isShared(pg: Pick<Pg, 'Client'>, first: Client, how: Parameters<typeof connect>[1]): Promise<boolean> {
  const second = await connect(pg, how, lookAtPeer)
  try {
    return await sharesProcesses(first, second)
  } finally {
    await second.end()
  }
}

function sharedProcesses({ listening: { address }, isShared }: ConnectionSettings): WitanError {
  const detail = `Between this process and PostgreSQL at \`${address.shown}\` is a pooler that gives each transaction another session (transaction mode).`
  const where = isShared ? '`store.listenUrl` must be' : 'Set `store.listenUrl` to'
  const hint = `${where} an address that leads to the server itself, or set \`pool_mode = session\` in the pooler.`
  return new WitanError('STORE_UNREACHABLE', detail, { hint, details: { address: address.shown } })
}
