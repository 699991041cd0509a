/** What a job has recorded and not handed to the store yet, in order. */
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import type { Append, InterruptionRow, Settlement } from '../store/store.ts'

/** The recorded part of an append. */
export type Recorded = Required<Pick<Append, 'entries' | 'open' | 'settle'>>

/** The message and the start that stand before a job's own entries. */
const acceptedEntries = 2
/** Append numbers of a later epoch never meet those of an earlier one. */
const perEpoch = 2 ** 24

/** Makes entries of one job in one epoch and collects them. */
export class Outbox {
  readonly #job: { readonly id: string; readonly epoch: number }
  #count: number
  #entries: Entry[] = []
  #open: InterruptionRow[] = []
  #settle: Settlement[] = []

  constructor(job: { readonly id: string; readonly epoch: number }) {
    this.#job = job
    this.#count = acceptedEntries + (job.epoch - 1) * perEpoch
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Makes an entry without keeping it. `(job, appendNo)` is unique, also over takeovers. */
  make(at: number, place: CallPlace, content: EntryContent): Entry {
    this.#count += 1
    const { id, epoch } = this.#job
    const { type, kind, body } = content
    return { type, kind, body, seq: 0, at, place, job: id, epoch, appendNo: this.#count } as Entry
  }

  add(entry: Entry): void {
    this.#entries.push(entry)
  }

  addRows(rows: { open?: InterruptionRow; settle?: Settlement }): void {
    if (rows.open !== undefined) this.#open.push(rows.open)
    if (rows.settle !== undefined) this.#settle.push(rows.settle)
  }

  /** Gives everything out and is empty then. */
  take(): Recorded {
    const taken = { entries: this.#entries, open: this.#open, settle: this.#settle }
    this.#entries = []
    this.#open = []
    this.#settle = []
    return taken
  }

  /** Puts back, in front, what could not be stored. */
  putBack(taken: Recorded): void {
    this.#entries = [...taken.entries, ...this.#entries]
    this.#open = [...taken.open, ...this.#open]
    this.#settle = [...taken.settle, ...this.#settle]
  }
}
