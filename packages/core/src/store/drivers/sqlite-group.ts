/** Group commit: writes of one turn of the event loop share a transaction, and thus one disk sync. */
import { isWitanError, WitanError } from '@witan/protocol'
import { faultPoint } from '../../identity/fault-point.ts'
import { pagesOfLog, type SqliteConnection } from './sqlite-connection.ts'
import { unavailable } from './sqlite-error.ts'

interface Member {
  readonly work: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Callbacks of a group. */
interface GroupTerms {
  /** Whether no other write can join the group. Then it does not wait for the end of the turn. */
  alone(): boolean
  /** Called when a transaction begins. */
  begin(): void
  /** Called before its commit. */
  end(): void
  /** Called when it was rolled back, or may have been. */
  undo(): void
}

/** In characters. Writing this much makes a commit and a checkpoint take 10 ms or more each, so each of them gets a turn of its own. */
const longText = 500_000

/** Runs the work of its members in order, each atomically. */
export class CommitGroup {
  readonly #connection: SqliteConnection
  readonly #terms: GroupTerms
  #members: Member[] = []
  #length = 0
  #closed = false

  constructor(connection: SqliteConnection, terms: GroupTerms) {
    this.#connection = connection
    this.#terms = terms
  }

  /**
   * Resolves with the result of `work` once it is durable. A `WitanError` that `work` throws before it writes rejects only its own
   * member. Any other error rolls back the group, and every member is rejected with `STORE_UNAVAILABLE`. `length`: about how many
   * characters it writes, if they may be many.
   */
  write<Value>(work: () => Value, length = 0): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new WitanError('STORE_UNAVAILABLE', 'The store is closed.'))
      this.#members.push({ work, resolve, reject })
      this.#length += length
      if (this.#members.length > 1) return
      if (length < longText && this.#terms.alone()) process.nextTick(() => this.flush())
      else setImmediate(() => this.flush())
    })
  }

  /** Commits the waiting members. */
  flush(): void {
    const members = this.#members
    if (members.length === 0) return
    const isLong = this.#length >= longText
    this.#members = []
    this.#length = 0
    let settle: (() => void)[]
    try {
      if (isLong) this.#checkpointLater()
      settle = this.#commit(members)
    } catch (error) {
      const failure = unavailable(error)
      settle = members.map((member) => () => member.reject(failure))
    }
    for (const one of settle) one()
  }

  #commit(members: readonly Member[]): (() => void)[] {
    const { db, run } = this.#connection
    this.#terms.begin()
    if (db.isTransaction) db.exec('rollback') // an earlier rollback failed
    try {
      run('begin immediate')
      const settle = members.map(attempt)
      this.#terms.end()
      faultPoint('committing')
      run('commit')
      return settle
    } catch (error) {
      this.#terms.undo()
      if (db.isTransaction) db.exec('rollback')
      throw error
    }
  }

  /** What a commit of the driver would do at once. A checkpoint that fails is made up for by a later one. */
  #checkpointLater(): void {
    const { db } = this.#connection
    db.exec('pragma wal_autocheckpoint = 0')
    setImmediate(() => {
      if (!db.isOpen || db.isTransaction) return
      db.exec(`pragma wal_autocheckpoint = ${pagesOfLog}`)
      try {
        db.exec('pragma wal_checkpoint(passive)')
      } catch {}
    })
  }

  /** Commits the waiting members and accepts no more. */
  close(): void {
    this.flush()
    this.#closed = true
  }
}

function attempt({ work, resolve, reject }: Member): () => void {
  try {
    const value = work() as never
    return () => resolve(value)
  } catch (error) {
    if (isWitanError(error)) return () => reject(error)
    throw error
  }
}
