/** Connections to the server: a transaction at a time, its statements sent together, and no wait without an end. */
import type { Pool, PoolClient, PoolConfig, QueryConfig } from 'pg'
import { WitanError } from '@witan/protocol'
import { steady } from './clock.ts'
import { isSilence, troubleOf } from './error.ts'
import type { ConnectionSettings } from './settings.ts'
import { createStatements, type Place, type Query, type Row, type Statements } from './statements.ts'

/** An open transaction. */
export interface Transaction {
  /** The server's clock when it began, known once something was sent. */
  now(): number
  /** Sends all of them together; the rows of each, in order. */
  send(queries: readonly Query[]): Promise<readonly (readonly Row[])[]>
  /** Sends these and the commit together. Where it throws without an SQLSTATE, nobody knows whether it happened. */
  commit(queries: readonly Query[]): Promise<readonly (readonly Row[])[]>
}

/** How a transaction differs from the usual. */
export interface TransactionOptions {
  /** Sees everything as it stood at one moment, and writes nothing. */
  readonly snapshot?: boolean
  /** For work that may take long, instead of `replyMs`. */
  readonly replyMs?: number
  /** Which connections: reads never keep writes waiting. */
  readonly pool?: 'read' | 'write'
}

/** The open pools of a store. */
export class PostgresConnection {
  readonly #settings: ConnectionSettings
  readonly #statements: Statements
  readonly #makePool: (kind: 'read' | 'write') => Pool
  readonly #pools: { read: Pool; write: Pool }

  constructor(settings: ConnectionSettings, pg: { readonly Pool: new (config: PoolConfig) => Pool }) {
    const write = Math.max(1, Math.ceil(settings.poolSize / 2))
    const sizes = { write, read: Math.max(1, settings.poolSize - write) }
    this.#settings = settings
    this.#statements = createStatements(settings)
    this.#makePool = (kind) => {
      const pool = new pg.Pool({ ...poolConfig(settings), max: sizes[kind] })
      pool.on('error', () => {}) // an idle connection was lost: the pool makes another one
      pool.on('connect', (client) => client.on('error', () => {})) // what was under way is told of it itself
      return pool
    }
    this.#pools = { write: this.#makePool('write'), read: this.#makePool('read') }
  }

  /** A transaction of which all statements are known: one round trip. */
  async run(place: Place, queries: readonly Query[], options: TransactionOptions = {}) {
    return this.#use(options, async (client) => {
      const first = this.#statements.begin(place, options)
      const results = await this.#send(client, [...first, ...this.#statements.all(queries), 'commit'], options)
      return results.slice(first.length, -1).map(({ rows }) => rows)
    })
  }

  /** A transaction that looks before it writes. Undone unless `work` commits. */
  async transaction<Result>(
    place: Place,
    work: (transaction: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.#use({ pool: 'write', ...options }, async (client) => {
      let state: 'new' | 'open' | 'over' = 'new'
      let now = 0
      const send = async (queries: readonly Query[], end: readonly string[]) => {
        const first = state === 'new' ? this.#statements.begin(place, options) : []
        state = end.length === 0 ? 'open' : 'over'
        const results = await this.#send(client, [...first, ...this.#statements.all(queries), ...end], options)
        if (first.length > 0) now = clockOf(results)
        return results.slice(first.length, results.length - end.length).map(({ rows }) => rows)
      }
      const transaction: Transaction = {
        now: () => now,
        send: (queries) => send(queries, []),
        commit: (queries) => send(queries, ['commit']),
      }
      try {
        return await work(transaction)
      } finally {
        if ((state as string) === 'open') await this.#send(client, ['rollback'], options).catch(() => {})
      }
    })
  }

  /** A statement outside of any transaction and role, such as a notice. */
  async single(query: Query): Promise<readonly Row[]> {
    return this.#use({}, async (client) => (await this.#send(client, this.#statements.all([query]), {}))[0]?.rows ?? [])
  }

  async #use<Result>(options: TransactionOptions, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const { pool: kind = 'read' } = options
    const pool = this.#pools[kind]
    const client = await pool.connect()
    let isLost = false
    try {
      return await work(client)
    } catch (error) {
      isLost = troubleOf(error) === 'lost'
      if (isSilence(error) && this.#pools[kind] === pool) this.#pools[kind] = this.#makePool(kind)
      throw error
    } finally {
      client.release(isLost || !isIdle(client))
      if (this.#pools[kind] !== pool) endWhenIdle(pool)
    }
  }

  /** Sends all at once and throws the first error; a silent server is left after `replyMs`. */
  async #send(client: PoolClient, parts: readonly (string | QueryConfig)[], { replyMs }: TransactionOptions) {
    const last = parts.length - 1
    const query_timeout = replyMs ?? this.#settings.timeouts.replyMs
    const askedAt = steady()
    const { stream } = (client as unknown as { connection: { stream: Corkable } }).connection
    stream.cork() // in one piece, as far as it goes
    const replies = parts.map((part, index) => {
      const config: QueryConfig = typeof part === 'string' ? { text: part } : part
      const timed = index === last ? { ...config, query_timeout } : config
      return client.query(timed) as Promise<Result>
    })
    stream.uncork()
    const settled = await Promise.allSettled(replies)
    const failed = settled.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown)
    if (failed.length > 0) throw failed.find(isSilence) ?? failed[0]
    const results = settled.map((one) => (one as PromiseFulfilledResult<Result>).value)
    if (parts[last] === 'commit' && results[last]?.command !== 'COMMIT') {
      throw new WitanError('STORE_UNAVAILABLE', 'PostgreSQL rolled a transaction back without an error.')
    }
    if (String(parts[0]).startsWith('begin')) this.#settings.heard(clockOf(results), askedAt)
    return results
  }

  /** Waits for what is under way and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#pools.read.end(), this.#pools.write.end()])
  }
}

/**
 * Where one connection fell silent the others may have too, and each would cost its time to find out: a new pool takes the place
 * of theirs. Whoever waits for the old one is still served.
 */
function endWhenIdle(pool: Pool): void {
  if (pool.waitingCount === 0 && !pool.ending) pool.end().catch(() => {})
}

interface Corkable {
  cork(): void
  uncork(): void
}

interface Result {
  readonly rows: readonly Row[]
  readonly command: string
}

/** What the second statement of every transaction tells. */
function clockOf(results: readonly Result[]): number {
  return results[1]?.rows[0]?.now as number
}

function isIdle(client: PoolClient): boolean {
  const { getTransactionStatus } = client as unknown as { getTransactionStatus(): string | null }
  return getTransactionStatus.call(client) === 'I'
}

const int8 = 20

/** Whole numbers as numbers: no count, time or seq of ours is beyond 2^53, and one that is must not be rounded in silence. */
function parseInt8(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw new RangeError('A number in the store is too large to be one of ours.')
}

/** How every connection is made. */
export function poolConfig({ url, timeouts }: ConnectionSettings): PoolConfig & { pipeline: boolean } {
  const { connectMs, lockMs, silentMs, replyMs } = timeouts
  return {
    connectionString: url,
    application_name: 'witan',
    pipeline: true,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    allowExitOnIdle: true,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: silentMs,
    statement_timeout: Math.max(replyMs, 60_000),
    options: '-c jit=off', // every statement of ours is short: compiling one takes longer
    types: { getTypeParser: typeParser },
  } as PoolConfig & { pipeline: boolean }
}

let defaults: { getTypeParser(oid: number, format?: string): (text: string) => unknown } | null = null

/** `pg` has the usual parsers; handed over when it is loaded. */
export function useParsers(types: NonNullable<typeof defaults>): void {
  defaults = types
}

function typeParser(oid: number, format?: string): (text: string) => unknown {
  return oid === int8 ? parseInt8 : (defaults?.getTypeParser(oid, format) ?? ((text) => text))
}
