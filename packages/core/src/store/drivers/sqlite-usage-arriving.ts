/** Usage of conversations that arrive from another store: a part in each transaction, so that much of it holds nobody up. */
import { usageSql } from '../sql/usage.ts'
import type { UsagePart } from '../usage-count.ts'
import type { UsageRow } from '../usage-records.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { valuesOf } from './sqlite-count-logs.ts'

/** The usage of a conversation, of which the sums have the parts before `at`. */
interface Arriving {
  readonly database: string
  readonly parts: readonly UsagePart[]
  readonly at: number
}

/** The conversations whose usage is not in the sums yet, by number. A mark says how far each is: `countLogs` finds the rest. */
export class ArrivingUsage {
  #all: ReadonlyMap<number, Arriving> = new Map()
  /** As it was when the present transaction began. */
  #before = this.#all

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Begins a transaction. The one before was committed, unless it was undone. */
  begin(): void {
    this.#before = this.#all
  }

  /** Forgets what a transaction that was rolled back has done. */
  undo(): void {
    this.#all = this.#before
  }

  /** A conversation has arrived, in this transaction, after all other usage was added up. Its parts follow. */
  note({ run }: SqliteConnection, number: number, arrived: Omit<Arriving, 'at'>): void {
    this.#all = new Map(this.#all).set(number, { ...arrived, at: 0 })
    run(usageSql.markAgain, number, 0)
  }

  /** Adds one more part. False if there is none. */
  addPart(connection: SqliteConnection): boolean {
    const [[number, one] = []] = this.#all
    if (number === undefined || one === undefined) return false
    const { rows = [], upTo = 0 } = one.parts[one.at] ?? {}
    for (const row of rows) addUsage(connection, one.database, row)
    connection.run(usageSql.markAgain, number, upTo)
    const rest = new Map(this.#all)
    if (one.at + 1 < one.parts.length) rest.set(number, { ...one, at: one.at + 1 })
    else rest.delete(number)
    this.#all = rest
    return true
  }

  /** Adds all parts at once, for who must find the sums whole in this transaction. */
  addAll(connection: SqliteConnection): void {
    while (!this.isEmpty) this.addPart(connection)
  }
}

/** Adds to the sums of one key and day. */
export function addUsage({ run }: SqliteConnection, database: string, row: UsageRow): void {
  run(usageSql.addUsage, database, row.by, row.key, row.day, ...valuesOf(row))
}
