/** Usage of the embedded store, inside its transactions: what appends note, and the sums that it is added to. */
import type { Entry } from '@witan/protocol/entries'
import { usageSql } from '../sql/usage.ts'
import { countsAsUsage, UsageCount, type UsageOwner } from '../usage-count.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { addUsage, ArrivingUsage } from './sqlite-usage-arriving.ts'

/** Entries of an append, and for whom they count. */
interface Noted extends UsageOwner {
  readonly database: string
  readonly entries: readonly Entry[]
}

/** Usage by database. */
type Counts = Map<string, UsageCount>

/** Whose usage the marks in the file speak of. */
interface Marks {
  /** Nothing that later conversations have used is in the sums. */
  readonly last: number
  /** The conversations up to there that are marked. What others have used is in the sums. */
  readonly marked: Set<number>
}

/** How many appends that used something may wait, and for how many commits. */
const [mostAppends, mostCommits] = [512, 4096]

/**
 * Usage that is not in the sums yet. It waits in memory and is added up together, at a fraction of what each append would cost by itself. An
 * append writes nothing for it in a conversation that is new since the last addition, and marks an older one. So `countLogs`
 * finds what a process that was killed has left, in the logs of these conversations alone.
 */
export class WaitingUsage {
  /** Usage of earlier transactions, and what the present one noted. */
  #kept: Counts = new Map()
  #fresh: Noted[] = []
  /** Whether the present transaction has added up what was kept. */
  #isAdded = false
  #waited = { appends: 0, commits: 0 }
  #marks: Marks | null = null
  readonly arriving = new ArrivingUsage()

  /** Begins a transaction. The one before was committed, unless it was undone. */
  begin(): void {
    this.arriving.begin()
    if (this.#isAdded) this.#kept = new Map()
    count(this.#kept, this.#fresh)
    this.#fresh = []
    this.#isAdded = false
    this.#waited.commits += 1
  }

  /** Forgets what a transaction that was rolled back has done. */
  undo(): void {
    this.#fresh = []
    this.#isAdded = false
    this.#marks = null
    this.arriving.undo()
  }

  get isEmpty(): boolean {
    return this.arriving.isEmpty && (this.#isAdded || this.#kept.size === 0) && this.#fresh.length === 0
  }

  /** Notes the usage in entries that were appended after the seq `before`. */
  note(
    { all, run }: SqliteConnection,
    entries: readonly Entry[],
    of: UsageOwner & { readonly database: string; readonly number: number; readonly before: number },
  ): void {
    if (!entries.some(countsAsUsage)) return
    const { database, conversation, user, number, before } = of
    this.#fresh.push({ database, conversation, user, entries })
    this.#waited.appends += 1
    this.#marks ??= marksOf(all(usageSql.readMarks).map(({ conversation: marked }) => marked as number))
    const { last, marked } = this.#marks
    if (number > last || marked.has(number)) return
    marked.add(number)
    run(usageSql.mark, number, before)
  }

  /** Ends a transaction, before its commit: too much that waits is added up. */
  end(connection: SqliteConnection): void {
    if (this.#waited.appends >= mostAppends || this.#waited.commits >= mostCommits) this.addUp(connection)
  }

  /** Adds up all that waits. From now on the sums have the usage of all entries. */
  addUp(connection: SqliteConnection): void {
    this.arriving.addAll(connection)
    const fresh = count(new Map(), this.#fresh)
    for (const counts of this.#isAdded ? [fresh] : [this.#kept, fresh])
      for (const [database, usage] of counts) for (const row of usage.rows()) addUsage(connection, database, row)
    for (const sql of usageSql.markAll) connection.run(sql)
    this.#fresh = []
    this.#isAdded = true
    this.#waited = { appends: 0, commits: 0 }
    this.#marks = null
  }
}

/** Adds what was noted. */
function count(counts: Counts, noted: readonly Noted[]): Counts {
  for (const one of noted) {
    const usage = counts.get(one.database) ?? new UsageCount()
    counts.set(one.database, usage)
    for (const entry of one.entries) usage.add(entry, one)
  }
  return counts
}

function marksOf(conversations: readonly number[]): Marks {
  return { last: conversations.at(-1) ?? 0, marked: new Set(conversations) }
}
