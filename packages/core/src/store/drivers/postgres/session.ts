/** The session of an open store: its connections, the server's clock, and retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isWitanError, WitanError } from '@witan/protocol'
import { steady } from '../../../identity/clock.ts'
import { DeadlineMissed, inTime } from '../../../identity/request-deadline.ts'
import { createServerClock, type ServerClock } from './clock.ts'
import type { PostgresConnection, Transaction, TransactionOptions } from './connection.ts'
import type { Statement, Row } from './statements.ts'
import { troubleOf, unavailable } from './error.ts'

/** Limits of retries: how long a server may be unreachable, and how many conflicts there may be. */
interface Patience {
  /** In ms, from the first failure of a piece of work. */
  readonly unavailableAfterMs: number
  /** How long a round trip may take: so much of the first failure counts. */
  readonly replyMs: number
}

/** How one piece of work differs from others. */
interface WorkOptions {
  readonly patienceMs?: number
  /** Its statements may take long, although nothing is wrong. */
  readonly mayBeLong?: boolean
}

/** How often work is retried after a conflict. */
const maxConflicts = 12

/** A session from `open` to `close`. Before and after, everything is rejected with `STORE_UNAVAILABLE`. */
export class PostgresSession {
  readonly clock: ServerClock = createServerClock()
  readonly #patience: Patience
  #connection: PostgresConnection | null = null
  #isClosed = false

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** Starts using these connections. */
  begin(connection: PostgresConnection): void {
    this.#connection = connection
    this.#isClosed = false
  }

  /** The open connections. Throws `STORE_UNAVAILABLE` if there are none. */
  get connection(): PostgresConnection {
    if (this.#connection !== null) return this.#connection
    throw new WitanError('STORE_UNAVAILABLE', 'The store is not open.', { hint: 'Call `open()` first.' })
  }

  /** Reads in one transaction and one round trip. Retries after a lost connection. */
  read(database: string, ...queries: Statement[]): Promise<readonly (readonly Row[])[]> {
    return this.work(() => this.connection.run({ database }, queries))
  }

  /** Runs fixed statements table-wide, in the worker role. They may run twice if a connection is lost. */
  writeAsWorker(query: Statement, options: Pick<TransactionOptions, 'isForAnyVersion'> = {}) {
    return this.work(() => this.connection.run('worker', [query], { pool: 'write', ...options }))
  }

  /**
   * Writes in one transaction, after reading if necessary. An earlier attempt whose commit got no reply may have been stored. Rows
   * found then count once a later commit has made them durable.
   */
  transaction<Result>(
    database: string,
    work: (transaction: Transaction, mayBeDone: boolean) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    const attempt = (mayBeDone: boolean) =>
      this.connection.transaction({ database }, (transaction) => work(transaction, mayBeDone), {
        ...options,
        confirms: mayBeDone,
      })
    return this.work(attempt, { mayBeLong: options.replyMs !== undefined })
  }

  /**
   * Repeats `attempt` until it succeeds. `mayBeDone` is set if an earlier attempt lost its connection, so that its result is unknown.
   * Throws `STORE_UNAVAILABLE` once the server was unreachable for `patienceMs`, a repeat at least, and at once for permanent errors.
   * The attempt that fails first counts, up to one round trip. A request waits until its deadline at most; while a first attempt `mayBeLong` that
   * does not end it.
   */
  async work<Result>(
    attempt: (mayBeDone: boolean) => Promise<Result>,
    { patienceMs = this.#patience.unavailableAfterMs, mayBeLong = false }: WorkOptions = {},
  ): Promise<Result> {
    let failingSince: number | null = null
    let mayBeDone = false
    for (let tries = 1; ; tries += 1) {
      const from = steady()
      try {
        return await (mayBeLong && tries === 1 ? attempt(mayBeDone) : inTime(() => attempt(mayBeDone)))
      } catch (error) {
        if (isWitanError(error)) throw error
        if (error instanceof DeadlineMissed) throw unavailable(error)
        const trouble = troubleOf(error)
        failingSince ??= Math.max(from, steady() - this.#patience.replyMs)
        const isLate = tries > 1 && steady() - failingSince > patienceMs
        const isHopeless = trouble === 'fatal' || (trouble === 'conflict' && tries >= maxConflicts)
        if (isHopeless || isLate || this.#isClosed) throw unavailable(error)
        if (trouble === 'lost') mayBeDone = true
      }
      await sleep(pauseMs(tries))
    }
  }

  /** Waits for pending work and closes the connections. */
  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    this.#isClosed = true
    await connection?.close()
  }
}

/** Runs the last step of a transaction. Calls `forget` if it failed and certainly did not happen. */
export async function conclude<Result>(step: Promise<Result>, forget: () => void): Promise<Result> {
  try {
    return await step
  } catch (error) {
    if (troubleOf(error) !== 'lost') forget()
    throw error
  }
}

/** A pause from 5 ms to half a second, doubling, with jitter so that two processes do not conflict again. */
function pauseMs(tries: number): number {
  return Math.min(500, 5 * 2 ** (tries - 1)) * (1 + (process.pid % 7) / 10)
}
