/** What the methods of the store work with: the open connections, the server's clock, and how often something is tried again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isWitanError, WitanError } from '@witan/protocol'
import { createServerClock, type ServerClock, steady } from './clock.ts'
import type { PostgresConnection, TransactionOptions } from './connection.ts'
import type { Place, Query, Row } from './statements.ts'
import { troubleOf, unavailable } from './error.ts'

/** How long a server may be away, and how often two may meet, before somebody is told. */
export interface Patience {
  /** In ms, from the first failure of a piece of work. */
  readonly unavailableAfterMs: number
}

/** So often work is done again because somebody else was in the way. */
const maxConflicts = 12

/** From `open` to `close`; outside of that everything is rejected with `STORE_UNAVAILABLE`. */
export class PostgresSession {
  readonly clock: ServerClock = createServerClock()
  readonly #patience: Patience
  #connection: PostgresConnection | null = null
  #isClosed = false

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** Begins to work on these connections. */
  begin(connection: PostgresConnection): void {
    this.#connection = connection
    this.#isClosed = false
  }

  /** The open connections. Throws `STORE_UNAVAILABLE` where there are none. */
  get connection(): PostgresConnection {
    if (this.#connection !== null) return this.#connection
    throw new WitanError('STORE_UNAVAILABLE', 'The store is not open.', { hint: 'Call `open()` first.' })
  }

  /** Reads, in one transaction and one round trip; a lost connection is no reason to fail. */
  read(database: string, ...queries: Query[]): Promise<readonly (readonly Row[])[]> {
    return this.work(() => this.connection.run({ database }, queries))
  }

  /** Does a fixed piece of work in one transaction and one round trip; it may happen twice when a connection is lost. */
  write(place: Place, queries: readonly Query[], options: TransactionOptions = {}) {
    return this.work(() => this.connection.run(place, queries, { pool: 'write', ...options }))
  }

  /**
   * Does `attempt` until it succeeds. `mayBeDone` is set where an earlier one lost its connection, so that nobody knows what came of
   * it. Throws `STORE_UNAVAILABLE` once the server was away for too long, and at once for what will not pass.
   */
  async work<Result>(attempt: (mayBeDone: boolean) => Promise<Result>): Promise<Result> {
    let failingSince: number | null = null
    let mayBeDone = false
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(mayBeDone)
      } catch (error) {
        if (isWitanError(error)) throw error
        const trouble = troubleOf(error)
        failingSince ??= steady()
        const isLate = steady() - failingSince > this.#patience.unavailableAfterMs
        const isHopeless = trouble === 'fatal' || (trouble === 'conflict' && tries >= maxConflicts)
        if (isHopeless || isLate || this.#isClosed) throw unavailable(error)
        if (trouble === 'lost') mayBeDone = true
      }
      await sleep(pauseMs(tries))
    }
  }

  /** Closes the connections; what is under way is waited for. */
  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    this.#isClosed = true
    await connection?.close()
  }
}

/** Does the last step of a transaction; `forget` is called where it fails and certainly did not happen. */
export async function conclude<Result>(step: Promise<Result>, forget: () => void): Promise<Result> {
  try {
    return await step
  } catch (error) {
    if (troubleOf(error) !== 'lost') forget()
    throw error
  }
}

/** From 5 ms to half a second, doubling; two processes that met do not meet again in step. */
function pauseMs(tries: number): number {
  return Math.min(500, 5 * 2 ** (tries - 1)) * (1 + (process.pid % 7) / 10)
}
