/** What a log knows to be stored, and whether it still is. */
import type { Entry } from '@witan/protocol/entries'
import type { Followed } from '../store/append-terms.ts'
import { WentBackError } from './went-back.ts'

/** The history of what is stored, as logs look at it. */
export interface LogHistory {
  /** `Store.history`. */
  current(): number
  /** Whether this entry is stored. */
  has(conversation: string, entry: Entry): Promise<boolean>
  /** What is stored went back behind what a log knew. */
  wentBack(): void
}

/** The history of a store that never goes back. */
export const oneHistory: LogHistory = { current: () => 0, has: async () => true, wentBack() {} }

/** The log of what is known. */
interface Knowing {
  readonly state: { readonly id: string }
  readonly isBroken: boolean
  invalidate(reason: unknown): void
}

/** What a log knows. It looks once in each new history for the last entry that it knows: a log only grows, so all before it is there too. */
export class KnownHistory {
  readonly #log: Knowing
  readonly #history: LogHistory
  /** The last entry that is known to be stored, and the history in which it was. */
  follows: Followed

  constructor(log: Knowing, history: LogHistory) {
    this.#log = log
    this.#history = history
    this.follows = { history: this.now, entry: null }
  }

  /** The history that the store works with now. */
  get now(): number {
    return this.#history.current()
  }

  /** Whether nothing began since the last look. */
  get isConfirmed(): boolean {
    return this.follows.history === this.now
  }

  /** An entry is stored, the last of some, or nothing new; `since` is the history before it was stored or read. */
  know(entry: Entry | undefined, since: number): void {
    const known = this.follows
    if (entry !== undefined && entry.seq >= (known.entry?.seq ?? 0)) this.follows = { history: since, entry }
    else if (known.history < since) this.follows = { ...known, history: since }
  }

  /** What was known is not stored any more: the log is loaded again. */
  wentBack(): WentBackError {
    this.#log.invalidate('went-back')
    this.#history.wentBack()
    return new WentBackError()
  }

  /** Looks whether what is known is stored. If not, the log is broken from here on, and this is false. */
  async confirm(): Promise<boolean> {
    const log = this.#log
    while (!log.isBroken && !this.isConfirmed) {
      const { now, follows } = this
      const isThere = follows.entry === null || (await this.#history.has(log.state.id, follows.entry))
      if (follows !== this.follows || now !== this.now) continue
      if (isThere) this.follows = { ...follows, history: now }
      else this.wentBack()
    }
    return !log.isBroken
  }

  /** What `read` reads in one history that has what is known; null if the log is broken. */
  async readSame(read: () => Promise<readonly Entry[]>): Promise<readonly Entry[] | null> {
    while (await this.confirm()) {
      const { now } = this
      const entries = await read()
      if (now !== this.now) continue
      if (this.#log.isBroken) return null
      this.know(entries.at(-1), now)
      return entries
    }
    return null
  }
}
