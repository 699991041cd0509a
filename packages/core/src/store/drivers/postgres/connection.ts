/** Connections to the server: one transaction at a time, its statements sent together, and every wait limited. */
import type { Socket } from 'node:net'
import type { ClientBase, Pool, PoolClient, PoolConfig, QueryConfig } from 'pg'
import { WitanError } from '@witan/protocol'
import { writeSql } from '../../sql/postgres/append.ts'
import { steady } from '../../../identity/clock.ts'
import { isTurnSpent, nextTurn } from '../../../identity/turn.ts'
import { clientConfig, clientsOf, type Pg } from './connect.ts'
import { isSilence, schemaTooNew, sqlState, troubleOf } from './error.ts'
import { lookAtPeer, setUpSession } from './session-settings.ts'
import type { ConnectionSettings } from './settings.ts'
import {
  createStatements,
  tooOldState,
  type TransactionScope,
  type Statement,
  type Row,
  type Statements,
} from './statements.ts'
import type { Route } from './url.ts'

/** An open transaction. */
export interface Transaction {
  /** The server's time when it began, known after the first reply. */
  now(): number
  /** The history that it works with, known after the first reply. */
  history(): number
  /** Sends all statements together and returns the rows of each, in order. */
  send(queries: readonly Statement[]): Promise<readonly (readonly Row[])[]>
  /** Sends these and the commit together. If it throws without an SQLSTATE, it is unknown whether the commit happened. */
  commit(queries: readonly Statement[]): Promise<readonly (readonly Row[])[]>
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** Reads a consistent snapshot and writes nothing. */
  readonly snapshot?: boolean
  /** Replaces `replyMs` for work that may take long. */
  readonly replyMs?: number
  /** The pool: reads and writes have separate connections, so that reads never delay writes. */
  readonly pool?: 'read' | 'write'
  /**
   * An earlier attempt may have been committed, and its rows may be read now. The transaction then ends with a write, so that its
   * commit waits for disk and standby. After that the earlier commit is as durable.
   */
  readonly confirms?: boolean
  /** Gets the bytes that a `copy … to stdout` sends, a message at a time. They are there for the length of the call. */
  readonly copied?: (bytes: Uint8Array) => void
  /** Also for a program that is too old for the schema: it gives up what it holds. */
  readonly isForAnyVersion?: boolean
}

/** The process of each connection on the server. A pooler gives its clients other numbers. */
const pids = new WeakMap<ClientBase, number>()

/** Connections whose last commit did not wait for the standby until the end. */
const unconfirmed = new WeakSet<PoolClient>()

/** The open pools of a store. */
export class PostgresConnection {
  readonly #settings: ConnectionSettings
  readonly #statements: Statements
  readonly #makePool: (kind: 'read' | 'write') => Pool
  readonly #pools: { read: Pool; write: Pool }

  constructor(settings: ConnectionSettings, pg: Pick<Pg, 'Pool' | 'Client'>) {
    const write = Math.max(1, Math.ceil(settings.poolSize / 2))
    const sizes = { write, read: Math.max(1, settings.poolSize - write) }
    this.#settings = settings
    this.#statements = createStatements(settings)
    this.#makePool = (kind) => {
      const pool = new pg.Pool({ ...poolConfig(settings, sizes[kind]), Client: clientsOf(pg, settings.way.route) })
      pool.on('error', () => {}) // an idle connection was lost: the pool opens another
      pool.on('connect', (client) => {
        shareTurns((client as unknown as { connection: ClientConnection }).connection.stream)
        client.on('error', () => {}) // pending queries reject by themselves
        client.on('notice', ({ routine }) => {
          if (routine === 'SyncRepWaitForLSN') unconfirmed.add(client)
        })
      })
      return pool
    }
    this.#pools = { write: this.#makePool('write'), read: this.#makePool('read') }
  }

  /** A transaction whose statements are all known: one round trip. */
  async run(place: TransactionScope, queries: readonly Statement[], options: TransactionOptions = {}) {
    return this.#use(options, async (client) => {
      const first = this.#statements.begin(place, options)
      const last = this.#statements.all(confirmationOf(options))
      const parts = [...first, ...this.#statements.all(queries), ...last, 'commit']
      const results = await this.#send(client, parts, options)
      return results.slice(first.length, first.length + queries.length).map(({ rows }) => rows)
    })
  }

  /** A transaction that reads before it writes. Rolled back unless `work` commits. */
  async transaction<Result>(
    place: TransactionScope,
    work: (transaction: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.#use({ pool: 'write', ...options }, async (client) => {
      let state: 'new' | 'open' | 'over' = 'new'
      let now = 0
      let history = 0
      const send = async (queries: readonly Statement[], end: readonly string[]) => {
        const first = state === 'new' ? this.#statements.begin(place, options) : []
        state = end.length === 0 ? 'open' : 'over'
        const results = await this.#send(client, [...first, ...this.#statements.all(queries), ...end], options)
        if (first.length > 0) {
          now = clockOf(results)
          history = this.#settings.histories.of(originOf(results))
        }
        return results.slice(first.length, results.length - end.length).map(({ rows }) => rows)
      }
      const transaction: Transaction = {
        now: () => now,
        history: () => history,
        send: (queries) => send(queries, []),
        async commit(queries) {
          const all = [...queries, ...confirmationOf(options)]
          if (options.replyMs === undefined) return send(all, ['commit'])
          const done = all.length === 0 ? [] : await send(all, [])
          await send([], ['commit'])
          return done
        },
      }
      try {
        const result = await work(transaction)
        if (options.confirms === true && (state as string) !== 'over') await transaction.commit([])
        return result
      } finally {
        if ((state as string) === 'open') await this.#send(client, ['rollback'], options).catch(() => {})
      }
    })
  }

  /** A statement outside any transaction and role, such as a notification. */
  async single(query: Statement, options: UseOptions = {}): Promise<readonly Row[]> {
    const parts = this.#statements.all([query])
    return this.#use(options, async (client) => (await this.#send(client, parts, {}))[0]?.rows ?? [])
  }

  async #use<Result>(options: UseOptions, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const { pool: kind = 'read', isSpared = false } = options
    const pool = this.#pools[kind]
    const client = await take(pool, this.#settings.way.route)
    let isLost = false
    try {
      return await work(client)
    } catch (error) {
      isLost = troubleOf(error) === 'lost'
      if (isSilence(error) && this.#pools[kind] === pool) this.#pools[kind] = this.#makePool(kind)
      if (isSilence(error) && !isSpared) this.#cancel(client)
      throw error
    } finally {
      client.release(isLost || !isIdle(client))
      if (this.#pools[kind] !== pool) endWhenIdle(pool)
    }
  }

  /**
   * Cancels on the server a query that is no longer awaited. Otherwise a commit whose standby is away would keep its session and locks
   * until the standby is back. The connection itself is closed. If the network is down, the cancel is lost too.
   */
  #cancel(client: PoolClient): void {
    const pid = pids.get(client)
    if (pid === undefined) return
    const cancel: Statement = ['select pg_cancel_backend($1)', pid]
    this.single(cancel, { isSpared: true }).catch(() => {})
  }

  /** Sends all at once and throws the first error. Gives up on a silent server after `replyMs`. */
  async #send(client: PoolClient, parts: readonly (string | QueryConfig)[], options: TransactionOptions) {
    const { replyMs, copied } = options
    const last = parts.length - 1
    // Only statements may take longer: what waits for a standby is a commit, and its locks stay with it.
    const query_timeout = (parts[0] === 'commit' ? undefined : replyMs) ?? this.#settings.timeouts.replyMs
    const askedAt = steady()
    const { connection } = client as unknown as { connection: ClientConnection }
    const { stream } = connection
    const take = ({ chunk }: { readonly chunk: Uint8Array }) => copied?.(chunk)
    if (copied !== undefined) connection.on('copyData', take)
    stream.cork() // in one packet, if possible
    const replies = parts.map((part, index) => {
      const config: QueryConfig = typeof part === 'string' ? { text: part } : part
      const timed = index === last ? { ...config, query_timeout } : config
      return client.query(timed) as Promise<Result>
    })
    stream.uncork()
    if (this.#settings.isShared) notePid(client, replies[1])
    const settled = await Promise.allSettled(replies)
    connection.off('copyData', take)
    if (isRefused(parts, settled)) throw tooOld(this.#settings)
    const failed = settled.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown)
    if (failed.length > 0) throw failed.find(isSilence) ?? failed[0]
    const results = settled.map((one) => (one as PromiseFulfilledResult<Result>).value)
    if (parts[last] === 'commit' && results[last]?.command !== 'COMMIT') {
      throw new WitanError('STORE_UNAVAILABLE', 'PostgreSQL rolled a transaction back without an error.')
    }
    // An administrator or a time-out ended the wait for the standby: the commit is durable here, perhaps nowhere else.
    if (unconfirmed.delete(client)) throw new Error('The standby did not confirm the commit')
    if (String(parts[0]).startsWith('begin')) {
      this.#settings.observe(clockOf(results), askedAt)
      this.#settings.histories.observe(originOf(results))
    }
    return results
  }

  /** Waits for pending work and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#pools.read.end(), this.#pools.write.end()])
  }
}

/**
 * Replaces the pool after one connection fell silent, because each of the others would cost a time-out to find out. Waiters of the
 * old pool are still served.
 */
function endWhenIdle(pool: Pool): void {
  if (pool.waitingCount === 0 && !pool.ending) pool.end().catch(() => {})
}

/** `isSpared`: a query that takes too long is not cancelled on the server. */
interface UseOptions extends Pick<TransactionOptions, 'pool'> {
  readonly isSpared?: boolean
}

/** The write that confirms earlier commits; empty if none is in doubt. */
function confirmationOf({ confirms = false }: TransactionOptions): readonly Statement[] {
  return confirms ? [[writeSql.confirm]] : []
}

/** Replies are read a little in each turn: the driver makes rows of all that has come, and two megabytes of short rows would hold a turn. */
function shareTurns(stream: ClientConnection['stream']): void {
  stream.on('data', () => {
    if (!isTurnSpent() || stream.isPaused()) return
    stream.pause()
    void nextTurn().then(() => stream.resume())
  })
}

/** The part of the driver's connection that is used. */
interface ClientConnection {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'on' | 'pause' | 'resume' | 'isPaused'>
  on(event: 'copyData', take: (message: { readonly chunk: Uint8Array }) => void): void
  off(event: 'copyData', take: (message: { readonly chunk: Uint8Array }) => void): void
}

interface Result {
  readonly rows: readonly Row[]
  readonly command: string
}

/** The schema demands a later version: its transaction began with an error. */
function isRefused(
  parts: readonly (string | QueryConfig)[],
  settled: readonly PromiseSettledResult<Result>[],
): boolean {
  const entered = settled[1]
  return (
    String(parts[0]).startsWith('begin') && entered?.status === 'rejected' && sqlState(entered.reason) === tooOldState
  )
}

function tooOld({ schema, version }: ConnectionSettings): WitanError {
  return schemaTooNew({ schema, has: 'been taken over by a newer version', known: version })
}

/** On a shared connection the first reply of a transaction says whose turn it is. */
function notePid(client: PoolClient, reply: Promise<Result> | undefined): void {
  reply?.then(
    ({ rows }) => typeof rows[0]?.pid === 'number' && pids.set(client, rows[0].pid),
    () => {},
  )
}

/** A free connection, or a new one. If that fails, the next one goes to the next host. */
async function take(pool: Pool, route: Route): Promise<PoolClient> {
  const host = route.current()
  try {
    return await pool.connect()
  } catch (error) {
    if (!isFull(error)) route.failed(host)
    throw error
  }
}

/** All connections of the pool were in use for too long. */
function isFull(error: unknown): boolean {
  return (error as { message?: unknown } | null)?.message === 'timeout exceeded when trying to connect'
}

/** The row of the second statement of every transaction. */
function clockOf(results: readonly Result[]): number {
  return results[1]?.rows[0]?.now as number
}

/** Empty while a dump is being restored. */
function originOf(results: readonly Result[]): string {
  return (results[1]?.rows[0]?.origin as string | null) ?? ''
}

function isIdle(client: PoolClient): boolean {
  const { getTransactionStatus } = client as unknown as { getTransactionStatus(): string | null }
  return getTransactionStatus.call(client) === 'I'
}

/** The configuration of a pool. */
function poolConfig(settings: ConnectionSettings, max: number): PoolConfig {
  return {
    ...clientConfig(settings),
    pipeline: true,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    max,
    onConnect: (client) => greet(client, settings),
  } as PoolConfig
}

/** Sets what holds for the connection. On one that is shared each transaction sets it anew. */
async function greet(client: ClientBase, { isShared, timeouts }: ConnectionSettings): Promise<void> {
  if (isShared) await lookAtPeer(client)
  else pids.set(client, (await setUpSession(client, timeouts)).pid)
}
