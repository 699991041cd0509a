/** Usage of the embedded store, inside its transactions: what appends note, and the sums that it is added to. */
import type { Entry } from '@witan/protocol/entries'
import { logSql } from '../sql/log.ts'
import { usageSql } from '../sql/usage.ts'
import { rowsOf, type UsageFact, usageFacts, type UsageOwner, type UsageRow, UsageTotals } from '../usage-records.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { valuesOf } from './sqlite-count-logs.ts'

/** A fact, and for whom it counts. */
interface OwnedFact extends UsageOwner {
  readonly database: string
  readonly fact: UsageFact
}

/** Whose usage the marks in the file speak of. */
interface Marks {
  /** Nothing that later conversations have used is in the sums. */
  readonly last: number
  /** The conversations up to there that are marked. What others have used is in the sums. */
  readonly marked: Set<number>
}

/** How many facts wait at most, and for how many commits. */
const [mostFacts, mostCommits] = [1024, 4096]

/**
 * Usage that is not in the sums yet. It waits in memory and is added up together, at a fraction of what each fact would cost by itself. An
 * append writes nothing for it in a conversation that is new since the last addition, and marks an older one. So `countLogs`
 * finds what a process that was killed has left, in the logs of these conversations alone.
 */
export class WaitingUsage {
  /** Facts of earlier transactions, and of the present one. */
  #kept: OwnedFact[] = []
  #fresh: OwnedFact[] = []
  /** Whether the present transaction has added up those that were kept. */
  #isAdded = false
  #commits = 0
  #marks: Marks | null = null

  /** Begins a transaction. The one before was committed, unless it was undone. */
  begin(): void {
    if (this.#isAdded) this.#kept = this.#fresh
    else for (const one of this.#fresh) this.#kept.push(one)
    this.#fresh = []
    this.#isAdded = false
    this.#commits += 1
  }

  /** Forgets what a transaction that was rolled back has done. */
  undo(): void {
    this.#fresh = []
    this.#isAdded = false
    this.#marks = null
  }

  get #waiting(): number {
    return (this.#isAdded ? 0 : this.#kept.length) + this.#fresh.length
  }

  get isEmpty(): boolean {
    return this.#waiting === 0
  }

  /** Notes the usage in entries that were appended after the seq `before`. */
  note(
    { all, run }: SqliteConnection,
    entries: readonly Entry[],
    of: UsageOwner & { readonly database: string; readonly number: number; readonly before: number },
  ): void {
    const facts = usageFacts(entries)
    if (facts.length === 0) return
    const { database, conversation, user, number, before } = of
    for (const fact of facts) this.#fresh.push({ database, conversation, user, fact })
    this.#marks ??= marksOf(all(usageSql.readMarks).map(({ conversation: marked }) => marked as number))
    const { last, marked } = this.#marks
    if (number > last || marked.has(number)) return
    marked.add(number)
    run(usageSql.mark, number, before)
  }

  /** Ends a transaction, before its commit: too much that waits is added up. */
  end(connection: SqliteConnection): void {
    if (this.#waiting >= mostFacts || this.#commits >= mostCommits) this.addUp(connection)
  }

  /** Adds up all that waits. From now on the sums have the usage of all entries. */
  addUp(connection: SqliteConnection): void {
    const totals = new Map<string, UsageTotals>()
    const add = ({ database, conversation, user, fact }: OwnedFact) => {
      const total = totals.get(database) ?? new UsageTotals()
      totals.set(database, total)
      total.add(rowsOf(fact, { conversation, user }))
    }
    if (!this.#isAdded) this.#kept.forEach(add)
    this.#fresh.forEach(add)
    for (const [database, total] of totals) for (const row of total.rows) addUsage(connection, database, row)
    for (const sql of usageSql.markAll) connection.run(sql)
    this.#fresh = []
    this.#isAdded = true
    this.#commits = 0
    this.#marks = null
  }
}

function marksOf(conversations: readonly number[]): Marks {
  return { last: conversations.at(-1) ?? 0, marked: new Set(conversations) }
}

/** Deletes all rows of a conversation, by its number. What it has used stays in the sums of others. */
export function removeConversation(connection: SqliteConnection, usage: WaitingUsage, number: number): void {
  if (!usage.isEmpty) usage.addUp(connection)
  for (const sql of logSql.deleteConversation) connection.run(sql, number)
}

/** Adds to the sums of one key and day. */
export function addUsage({ run }: SqliteConnection, database: string, row: UsageRow): void {
  run(usageSql.addUsage, database, row.by, row.key, row.day, ...valuesOf(row))
}
