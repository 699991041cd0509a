/** What the methods of the embedded store work with: the open connection, reads at once, writes through the group. */
import { WitanError } from '@witan/protocol'
import { openConnection, type SqliteConnection, type SqliteSettings } from './sqlite-connection.ts'
import { unavailable } from './sqlite-error.ts'
import type { Heads } from './sqlite-append.ts'
import { CommitGroup } from './sqlite-group.ts'

interface Opened {
  readonly connection: SqliteConnection
  readonly group: CommitGroup
  readonly heads: Heads
}

/** From `open` to `close`; outside of that everything is rejected with `STORE_UNAVAILABLE`. */
export class SqliteSession {
  readonly now: () => number
  /** Jobs that somebody works on, as far as is known; only how a group waits depends on it. */
  readonly atWork = new Set<string>()
  readonly #settings: SqliteSettings
  #opened: Opened | null = null
  #opening: Promise<void> | null = null

  constructor(settings: SqliteSettings) {
    this.now = settings.now
    this.#settings = settings
  }

  /** Opens once, however often it is called. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #open(): Promise<void> {
    const connection = await openConnection(this.#settings)
    this.atWork.clear()
    const heads: Heads = new Map()
    const group = new CommitGroup(connection, { alone: () => this.atWork.size < 2, begin: () => heads.clear() })
    this.#opened = { connection, group, heads }
  }

  #use(): Opened {
    if (this.#opened !== null) return this.#opened
    throw new WitanError('STORE_UNAVAILABLE', 'The store is not open.', { hint: 'Call `open()` first.' })
  }

  /** Reads what is committed. */
  async read<Value>(work: (connection: SqliteConnection) => Value): Promise<Value> {
    const { connection } = this.#use()
    try {
      return work(connection)
    } catch (error) {
      throw unavailable(error)
    }
  }

  /**
   * Does `work` with the other writes of this turn in one transaction; resolves when it is durable. An append may trust `heads`, which
   * earlier appends of the transaction have left; whatever else is written ends that trust.
   */
  async write<Value>(work: (connection: SqliteConnection, heads: Heads) => Value, isAppend = false): Promise<Value> {
    const { connection, group, heads } = this.#use()
    return group.write(() => {
      if (!isAppend) heads.clear()
      return work(connection, heads)
    })
  }

  /** Commits what is waiting and closes the file. */
  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    this.#opened?.group.close()
    this.#opened?.connection.close()
    this.#opened = null
    this.#opening = null
  }
}
