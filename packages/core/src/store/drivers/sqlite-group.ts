/** Group commit: writes of one turn of the event loop share a transaction, and thus one disk sync. */
import { isWitanError, WitanError } from '@witan/protocol'
import { faultPoint } from '../../identity/fault-point.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { pagesOfLog } from './sqlite-file.ts'
import { unavailable } from './sqlite-error.ts'

interface Member {
  readonly work: () => unknown
  /** About how many characters it writes. */
  readonly length: number
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

/** In characters. A commit and a checkpoint of this much or more get a turn each. */
const longText = 500_000
/** In characters. With this much a commit and its checkpoint take about 10 ms each: what waits then is for the next one. */
const mostText = 4_000_000

/** Runs the work of its members in order, each atomically. */
export class CommitGroup {
  readonly #connection: SqliteConnection
  readonly #terms: GroupTerms
  #members: Member[] = []
  /** Whether a turn is planned in which members are committed. */
  #isPlanned = false
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
      this.#members.push({ work, length, resolve, reject })
      if (!this.#isPlanned) this.#plan(length < longText && this.#terms.alone())
    })
  }

  #plan(isAtOnce: boolean): void {
    this.#isPlanned = true
    const next = isAtOnce ? process.nextTick : setImmediate
    next(() => {
      this.#isPlanned = false
      this.#flush()
    })
  }

  /** Commits the members that wait, or as many of the first as one turn has time for. */
  #flush(): void {
    const members = nextOf(this.#members)
    if (members.length === 0) return
    this.#members = this.#members.slice(members.length)
    const isLong = lengthOf(members) >= longText
    let settle: (() => void)[]
    try {
      if (isLong) this.#checkpointLater()
      settle = this.#commit(members)
    } catch (error) {
      const failure = unavailable(error)
      settle = members.map((member) => () => member.reject(failure))
    }
    for (const one of settle) one()
    if (this.#members.length > 0 && !this.#isPlanned) this.#plan(false)
  }

  #commit(members: readonly Member[]): (() => void)[] {
    const { db, run, place } = this.#connection
    place.look()
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

  /**
   * What a commit of the driver would do at once. A checkpoint that fails is made up for by a later one. Members that came meanwhile are
   * committed in the turn behind it.
   */
  #checkpointLater(): void {
    const { db } = this.#connection
    db.exec('pragma wal_autocheckpoint = 0')
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      if (this.#members.length > 0) this.#plan(false)
      if (!db.isOpen || db.isTransaction) return
      db.exec(`pragma wal_autocheckpoint = ${pagesOfLog}`)
      try {
        db.exec('pragma wal_checkpoint(passive)')
      } catch {}
    })
  }

  /** Commits the waiting members and accepts no more. */
  close(): void {
    while (this.#members.length > 0) this.#flush()
    this.#closed = true
  }
}

/** The members of the next commit: the first one, and as many behind it as one turn has time for. */
function nextOf(members: readonly Member[]): readonly Member[] {
  let length = 0
  for (const [at, member] of members.entries()) {
    length += member.length
    if (at > 0 && length > mostText) return members.slice(0, at)
  }
  return members
}

function lengthOf(members: readonly Member[]): number {
  return members.reduce((sum, { length }) => sum + length, 0)
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
