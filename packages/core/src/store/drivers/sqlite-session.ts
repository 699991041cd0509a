/** The session of an open embedded store: reads run at once, writes go through the group. */
import { WitanError } from '@witan/protocol'
import { openConnection, type SqliteConnection } from './sqlite-connection.ts'
import type { SqliteSettings } from './sqlite-file.ts'
import { unavailable } from './sqlite-error.ts'
import type { WriteCache } from './sqlite-append.ts'
import { CommitGroup } from './sqlite-group.ts'
import { WaitingUsage } from './sqlite-usage-rows.ts'

interface Opened {
  readonly connection: SqliteConnection
  readonly group: CommitGroup
  readonly cache: WriteCache
}

/** A session from `open` to `close`. Before and after, everything is rejected with `STORE_UNAVAILABLE`. */
export class SqliteSession {
  readonly now: () => number
  /** The owned jobs, as far as known; it only affects how long a group waits. */
  readonly atWork = new Set<string>()
  readonly #settings: SqliteSettings
  #opened: Opened | null = null
  #opening: Promise<void> | null = null

  constructor(settings: SqliteSettings) {
    this.now = settings.now
    this.#settings = settings
  }

  /** Opens the file; further calls return the same promise. */
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
    const cache: WriteCache = { heads: new Map(), usage: new WaitingUsage(), drafts: new Set() }
    const group = new CommitGroup(connection, {
      alone: () => this.atWork.size < 2,
      begin: () => cache.usage.begin(),
      end: () => cache.usage.end(connection),
      undo() {
        cache.heads.clear()
        cache.usage.undo()
      },
    })
    this.#opened = { connection, group, cache }
  }

  #use(): Opened {
    const lost = this.#opened?.connection.place.lost ?? null
    if (lost !== null) throw lost
    if (this.#opened !== null) return this.#opened
    throw new WitanError('STORE_UNAVAILABLE', 'The store is not open.', { hint: 'Call `open()` first.' })
  }

  /** Reads committed rows. */
  async read<Value>(work: (connection: SqliteConnection, cache: WriteCache) => Value): Promise<Value> {
    const { connection, cache } = this.#use()
    try {
      return work(connection, cache)
    } catch (error) {
      throw unavailable(error)
    }
  }

  /**
   * Runs `work` in one transaction with the other writes of this turn. Resolves when it is durable. The `heads` that earlier appends
   * left stay if `work` keeps them right; any other write clears them, and so does a rollback. `length`: about how many characters it
   * writes, if they may be many.
   */
  async write<Value>(
    work: (connection: SqliteConnection, cache: WriteCache) => Value,
    keepsHeads = false,
    length = 0,
  ): Promise<Value> {
    const { connection, group, cache } = this.#use()
    return group.write(() => {
      if (!keepsHeads) cache.heads.clear()
      return work(connection, cache)
    }, length)
  }

  /** Commits the waiting writes and closes the file. What it cannot add up then is counted when the file is opened again. */
  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    if (this.#opened !== null) {
      const { connection, group, cache } = this.#opened
      if (!cache.usage.isEmpty) group.write(() => cache.usage.addUp(connection)).catch(() => {})
    }
    this.#opened?.group.close()
    this.#opened?.connection.close()
    this.#opened = null
    this.#opening = null
  }
}
