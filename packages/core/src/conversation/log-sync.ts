/** Keeps one fold and its stored log together: what lands, and what others stored meanwhile. */
import type { Entry } from '@witan/protocol/entries'
import type { Append, AppendResult } from '../store/store.ts'
import { type AgentLookup, fold } from './fold.ts'
import { Frontier } from './frontier.ts'
import type { ConversationState } from './state.ts'

/** What a log is made of. */
export interface LogContext {
  append(append: Append): Promise<AppendResult>
  /** Told of what was stored here, before anybody goes on. */
  stored(channel: string, entries: readonly Entry[]): void
  /** Stored entries after a seq, in order; every revision that they name can then be looked up. */
  read(after: number): Promise<readonly Entry[]>
  readonly agents: AgentLookup
}

/** An append that is not folded to its end yet; of its entries, those that are folded only when they are known to be stored. */
interface UnderWay {
  readonly entries: readonly Entry[]
  unfolded: readonly Entry[]
}

/** The fold that is kept; nothing is folded any more once it is broken. */
export interface SyncedFold {
  readonly state: ConversationState
  isBroken(): boolean
  /** What was folded can be trusted no more. */
  spoil(reason: unknown): void
  /** Entries of others were folded. */
  folded(): void
}

/** The stored side of one warm conversation. Appends are told in the order they were made: the store promises it. */
export class LogSync {
  readonly #of: LogContext & SyncedFold
  /** Appends that are not folded yet, in order: nearly always one, which an array holds at less cost than a set. */
  readonly #underWay: UnderWay[] = []
  readonly #frontier: Frontier
  #reading: Promise<void> | null = null

  constructor(of: LogContext & SyncedFold) {
    this.#of = of
    this.#frontier = new Frontier(of.state.seq)
  }

  /** Folds an entry. */
  take(entry: Entry): void {
    fold(this.#of.state, entry, this.#of.agents)
  }

  /** Stores an append and then folds `fresh`, those of its entries that were not before. Resolves when everything before it is folded too. */
  async append(append: Append, fresh: readonly Entry[]): Promise<AppendResult> {
    const of = this.#of
    const underWay: UnderWay = { entries: append.entries, unfolded: fresh }
    this.#underWay.push(underWay)
    try {
      const result = await of.append(append)
      if (result.ok) {
        of.stored(of.state.channel, append.entries)
        this.#frontier.landed(result)
      }
      if (of.isBroken()) return result
      if (this.#frontier.isWhole) of.state.seq = this.#frontier.after
      else await this.#fill()
      if (result.ok) for (const entry of underWay.unfolded) this.take(entry)
      return result
    } catch (error) {
      of.spoil(error)
      throw error
    } finally {
      drop(underWay, this.#underWay)
    }
  }

  /** Folds what others have stored up to now. */
  async catchUp(): Promise<void> {
    await this.#reading
    await this.#readOn()
  }

  async #fill(): Promise<void> {
    while (!this.#frontier.isWhole && !this.#of.isBroken()) {
      const { after } = this.#frontier
      await this.catchUp()
      if (!this.#of.isBroken() && !this.#frontier.isWhole && this.#frontier.after === after)
        throw new Error(`entries behind ${after} of the log are not there`)
    }
  }

  #readOn(): Promise<void> {
    this.#reading ??= this.#read(this.#frontier.after).finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(after: number): Promise<void> {
    const entries = await this.#of.read(after)
    if (this.#of.isBroken()) return
    const fresh = entries.filter((entry) => isUnfolded(entry, this.#underWay) ?? this.#frontier.isNew(entry))
    for (const entry of fresh) this.take(entry)
    this.#frontier.covered(after, entries.at(-1)?.seq ?? after)
    this.#of.state.seq = this.#frontier.after
    if (fresh.length > 0) this.#of.folded()
  }
}

function drop(one: UnderWay, from: UnderWay[]): void {
  const at = from.indexOf(one)
  if (at >= 0 && at === from.length - 1) from.pop()
  else if (at >= 0) from.splice(at, 1)
}

/**
 * What is ours and under way was folded when it was recorded; or it is now, in its place among those of others, and not once more
 * when its append is told. Null for what is not ours.
 */
function isUnfolded(entry: Entry, underWay: Iterable<UnderWay>): boolean | null {
  const isSame = (one: Entry) => one.job === entry.job && one.appendNo === entry.appendNo
  for (const one of underWay) {
    if (!one.entries.some(isSame)) continue
    const left = one.unfolded.filter((each) => !isSame(each))
    const wasLeft = left.length < one.unfolded.length
    one.unfolded = left
    return wasLeft
  }
  return null
}
