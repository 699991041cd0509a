/** Connections of a PostgreSQL query source: few, opened on demand, and only for read-only transactions [D16]. */
import type { Client, Pool, PoolClient } from 'pg'

/** Where to connect, and the limits of one query. */
export interface PostgresSettings {
  readonly url: string
  readonly timeoutMs: number
  readonly maxRows: number
  readonly maxBytes: number
  readonly connectTimeoutMs: number
}

/** A connection inside a read-only transaction. */
export interface Session {
  readonly client: PoolClient
  readonly settings: PostgresSettings
  /** The process id on the server, used to stop it. */
  processId: number
  /** Bytes received since this was last reset to 0. */
  received: number
  /** True if a query returned more than may be read into memory, and the connection was closed. */
  isFlooded: boolean
  /** True while a statement is prepared, which no rollback takes back: the connection is closed, and with it the statement. */
  isSoiled: boolean
}

/** Cells as the server writes them, by column. */
export interface ServerRows {
  readonly rows: readonly (readonly (string | null)[])[]
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
}

/** The server's error for a statement; `cause` is the driver's error. */
export class StatementError extends Error {
  readonly statement: string
  /** The server's SQLSTATE, or the system's error code for a lost connection. */
  readonly code: string | undefined
  constructor(statement: string, cause: unknown) {
    super('A statement failed.', { cause })
    this.statement = statement
    this.code = (cause as { code?: string } | undefined)?.code
  }
}

/** The maximum number of connections, and therefore of concurrent queries. */
export const MAX_CONNECTIONS = 4
const IDLE_MS = 30_000
const MAX_RECEIVED_BYTES = 16 * 1024 * 1024
const END_LIMIT_MS = 2_000

/** The settings that limits and value parsing rely on, for one transaction; and the conditions that must hold. */
const SETTINGS = `select pg_catalog.pg_backend_pid(), pg_catalog.current_setting('transaction_read_only'),
  pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('idle_in_transaction_session_timeout', $2, true),
  pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('DateStyle', 'ISO', true),
  pg_catalog.set_config('bytea_output', 'hex', true), pg_catalog.set_config('extra_float_digits', '1', true)`

const sessions = new WeakMap<Client, Session>()

/** Imports the driver lazily and creates an empty pool. */
export async function openPool(settings: PostgresSettings): Promise<Pool> {
  const { Pool } = await import('pg')
  const pool = new Pool({
    connectionString: settings.url,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    keepAlive: true,
    fallback_application_name: 'witan',
  })
  pool.on('error', () => undefined) // an idle connection was lost: the pool has dropped it
  return pool
}

/** A connection in a new read-only transaction. A connection that was lost while idle is replaced; a new one must work. */
export async function beginSession(pool: Pool, settings: PostgresSettings): Promise<Session> {
  for (;;) {
    const client = await pool.connect()
    const known = sessions.get(client)
    try {
      return await within(client, settings.connectTimeoutMs, async () => {
        const session = known ?? (await pin(client, settings))
        await beginReading(session)
        return session
      })
    } catch (error) {
      client.release(true)
      if (known === undefined) throw error
    }
  }
}

/** Closes a connection whose server does not respond, so that nothing waits for it for ever. */
async function within<T>(client: Client, limitMs: number, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => client.connection.stream.destroy(), limitMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Sets that transactions are read-only by default from here on, if the connection leads to the process that it says. A pooler says
 * another: the next client of that process would find the setting, and each transaction of ours is begun as read-only anyway.
 */
const PIN = `select pg_catalog.set_config('default_transaction_read_only', 'on', false) where pg_catalog.pg_backend_pid() = $1`

/** The first statement of a connection. */
async function pin(client: PoolClient, settings: PostgresSettings): Promise<Session> {
  const session: Session = { client, settings, processId: 0, received: 0, isFlooded: false, isSoiled: false }
  client.on('error', () => undefined) // the statement under way fails too, and tells
  client.connection.stream.on('data', (bytes: Uint8Array) => {
    session.received += bytes.length
    if (session.received <= MAX_RECEIVED_BYTES) return
    session.isFlooded = true
    client.connection.stream.destroy()
  })
  const { processID } = client as PoolClient & { readonly processID: number | null }
  await send(session, PIN, [processID ?? 0])
  sessions.set(client, session)
  return session
}

async function beginReading(session: Session): Promise<void> {
  const { timeoutMs } = session.settings
  await send(session, 'begin transaction read only')
  const { rows } = await send(session, SETTINGS, [String(timeoutMs), String(2 * timeoutMs)])
  const [processId, readOnly] = rows[0] ?? []
  if (readOnly !== 'on') throw new Error('The transaction is not read-only.')
  session.processId = Number(processId)
}

/** Sends one statement by the extended protocol, which refuses a second statement. Returns the cells as text. */
export async function send(session: Session, text: string, values: readonly unknown[] = []): Promise<ServerRows> {
  session.received = 0
  const asText = { getTypeParser: () => (value: string) => value }
  try {
    return await session.client.query<(string | null)[]>({
      ...{ text, values: [...values], rowMode: 'array', types: asText },
      ...{ queryMode: 'extended' }, // which the types do not know
    })
  } catch (error) {
    throw new StatementError(text, error)
  }
}

/** Rolls back the transaction and returns the connection to the pool. */
export async function releaseSession(session: Session): Promise<void> {
  const { client } = session
  if (session.isSoiled) return client.release(true)
  try {
    await within(client, END_LIMIT_MS, () => send(session, 'rollback'))
    client.release()
  } catch {
    client.release(true)
  }
}

/** Closes a connection whose statement still runs, and ends that statement through another connection. Never rejects. */
export async function cut({ client, processId, settings }: Session): Promise<void> {
  client.release(true)
  const { Client } = await import('pg')
  const canceller = new Client({
    ...{ connectionString: settings.url, connectionTimeoutMillis: END_LIMIT_MS, query_timeout: END_LIMIT_MS },
  })
  canceller.on('error', () => undefined)
  try {
    await canceller.connect()
    await canceller.query('select pg_catalog.pg_terminate_backend($1)', [processId])
  } catch {
    // Otherwise the statement's own time limit ends it.
  } finally {
    await canceller.end().catch(() => undefined)
  }
}
