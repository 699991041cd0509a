/** What a job has recorded and not handed to the store yet, in order. */
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import type { Append, InterruptionRow, JobChange, Settlement } from '../store/store.ts'

/** The recorded part of an append. */
export type Recorded = Required<Pick<Append, 'entries' | 'open' | 'settle' | 'jobs'>>

/** What may stand before a job's own entries in its name: messages and its start. */
const acceptedEntries = 8
/** Append numbers of a later epoch never meet those of an earlier one. */
const perEpoch = 2 ** 24

/** Makes entries of one job in one epoch and collects them. `again`: another one was at work in this epoch before. */
export class Outbox {
  readonly #job: { readonly id: string; readonly epoch: number }
  #count: number
  #recorded = nothing()

  constructor(job: { readonly id: string; readonly epoch: number; readonly again?: boolean }) {
    this.#job = job
    this.#count = acceptedEntries + (job.epoch - 1) * perEpoch + (job.again === true ? perEpoch / 2 : 0)
  }

  get isEmpty(): boolean {
    return this.#recorded.entries.length === 0
  }

  /** Makes an entry without keeping it. `(job, appendNo)` is unique, also over takeovers. */
  make(at: number, place: CallPlace, content: EntryContent): Entry {
    this.#count += 1
    const { id, epoch } = this.#job
    const { type, kind, body } = content
    return { type, kind, body, seq: 0, at, place, job: id, epoch, appendNo: this.#count } as Entry
  }

  add(entry: Entry): void {
    this.#recorded.entries.push(entry)
  }

  addRows(rows: { open?: InterruptionRow; settle?: Settlement; job?: JobChange }): void {
    const { open, settle, jobs } = this.#recorded
    if (rows.open !== undefined) open.push(rows.open)
    if (rows.settle !== undefined) settle.push(rows.settle)
    if (rows.job !== undefined) jobs.push(rows.job)
  }

  /** Gives everything out and is empty then. */
  take(): Recorded {
    const taken = this.#recorded
    this.#recorded = nothing()
    return taken
  }

  /** Puts back, in front, what could not be stored. */
  putBack({ entries, open, settle, jobs }: Recorded): void {
    const later = this.#recorded
    this.#recorded = {
      entries: [...entries, ...later.entries],
      open: [...open, ...later.open],
      settle: [...settle, ...later.settle],
      jobs: [...jobs, ...later.jobs],
    }
  }
}

interface Collected {
  readonly entries: Entry[]
  readonly open: InterruptionRow[]
  readonly settle: Settlement[]
  readonly jobs: JobChange[]
}

function nothing(): Collected {
  return { entries: [], open: [], settle: [], jobs: [] }
}
