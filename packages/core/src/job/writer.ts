/** Stores what a job records, in order. A commit is awaited only before something becomes visible outside. */
import type { CallPlace, Entry, EntryContent, Writable } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import { errorText } from '../parameter/scrub.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type {
  Append,
  AppendResult,
  ContentUse,
  InterruptionRow,
  JobChange,
  JobRow,
  Settlement,
} from '../store/store.ts'

/** The entries and job changes with which a job parks or ends. */
export type Last = Required<Pick<Append, 'entries' | 'jobs'>> & Pick<Append, 'ifLastSeq'>

const mayRepeat: ReadonlySet<string> = new Set(['woken', 'moved', 'active', 'inactive'])

/** Callbacks for the result of an append. */
export interface WriterEvents {
  /** Nothing more can be written in this epoch. */
  refused(reason: unknown): void
  /** The job's own row has changed. */
  changed(job: JobRow): void
  /** Other jobs of the append are stored. */
  made(jobs: readonly JobRow[]): void
}

/** Writes the entries of one job in one epoch. */
export class Writer {
  readonly outbox: Outbox
  /** The pending commit of a result that must not repeat. No model call begins before it is durable [D4]. */
  settling: Promise<void> | null = null
  readonly #log: ConversationLog
  readonly #job: { readonly id: string; readonly epoch: number; readonly principal: string }
  readonly #events: WriterEvents
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(
    log: ConversationLog,
    job: { readonly id: string; readonly epoch: number; readonly again?: boolean; readonly principal: string },
    events: WriterEvents,
  ) {
    this.#log = log
    this.#job = { id: job.id, epoch: job.epoch, principal: job.principal }
    this.#events = events
    this.outbox = new Outbox(job)
  }

  /** Stores what was recorded. Resolves when it and all earlier commits are durable. Never rejects: a refusal stops the job. */
  commit(): Promise<void> {
    if (this.outbox.isEmpty) return this.#lastWrite
    this.#lastWrite = this.#log.write(this.#member(this.outbox.take())).then(
      (result) => {
        if (!result.ok) this.#events.refused(result.reason)
        else this.#notify(result.jobs)
      },
      (error: unknown) => this.#events.refused(error),
    )
    return this.#lastWrite
  }

  /**
   * Stores what was recorded together with `last`, and folds `last` only once it is stored. If refused as `woken`, `moved`, `active`
   * or `inactive`, nothing is stored, and what was recorded is stored with the next commit.
   */
  async propose(last: Last): Promise<AppendResult> {
    const recorded = this.outbox.take()
    const entries = [...recorded.entries, ...last.entries]
    // An append may hold one change per job: `rest` makes `progress` unnecessary.
    const jobs = [...recorded.jobs.filter(({ id }) => id !== this.#job.id), ...last.jobs]
    const append = this.#member({ ...recorded, entries, jobs })
    if (last.ifLastSeq !== undefined) append.ifLastSeq = last.ifLastSeq
    const result = await this.#log.propose(append, last.entries)
    if (result.ok) {
      this.#notify(result.jobs)
      return result
    }
    this.outbox.putBack(recorded)
    if (!mayRepeat.has(result.reason)) this.#events.refused(result.reason)
    return result
  }

  #notify(jobs: readonly JobRow[]): void {
    if (jobs.length === 0) return
    const own = jobs.find(({ id }) => id === this.#job.id)
    if (own !== undefined) this.#events.changed(own)
    const others = jobs.filter((job) => job !== own)
    if (others.length > 0) this.#events.made(others)
  }

  #member({ entries, open, settle, jobs, contents }: Recorded): Writable<Append> {
    const { database, id } = this.#log.state
    const fence = { job: this.#job.id, epoch: this.#job.epoch }
    const usedBy = this.#job.principal
    const member: Writable<Append> = { database, conversation: id, fence, entries, open, settle, jobs, usedBy }
    if (contents !== null) member.contents = contents
    return member
  }
}

/** The recorded part of an append. `contents` is null without any. */
export type Recorded = Required<Pick<Append, 'entries' | 'open' | 'settle' | 'jobs'>> & {
  readonly contents: readonly ContentUse[] | null
}

/** What is stored beside an entry, in the same append. */
export interface OwnRows {
  readonly open?: InterruptionRow
  readonly settle?: Settlement
  readonly job?: JobChange
  readonly contents?: readonly ContentUse[]
}

/** Append numbers kept for the entries that begin a job: messages and its start. */
const acceptedEntries = 8
/** Append numbers per epoch, so that those of two epochs never collide. */
const perEpoch = 2 ** 24

/** Makes and collects the entries of one job in one epoch. `again`: an earlier outbox of this epoch was in use before. */
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

  /** Makes an entry without collecting it. `(job, appendNo)` is unique, also across takeovers. */
  make(at: number, place: CallPlace, content: EntryContent): Entry {
    this.#count += 1
    const { id, epoch } = this.#job
    return makeEntry(withShortError(content), { place, job: id, epoch, appendNo: this.#count, at })
  }

  /** The next entry gets this number, as in the log that a replay follows. */
  numberFrom(number: number): void {
    this.#count = number - 1
  }

  add(entry: Entry): void {
    this.#recorded.entries.push(entry)
  }

  addRows(rows: OwnRows): void {
    const { open, settle, jobs, contents } = this.#recorded
    if (rows.open !== undefined) open.push(rows.open)
    if (rows.settle !== undefined) settle.push(rows.settle)
    if (rows.job !== undefined) jobs.push(rows.job)
    if (rows.contents !== undefined) this.#recorded.contents = [...(contents ?? []), ...rows.contents]
  }

  /** Returns what was collected and empties the outbox. */
  take(): Recorded {
    const taken = this.#recorded
    this.#recorded = nothing()
    return taken
  }

  /** Puts what could not be stored back in front. */
  putBack({ entries, open, settle, jobs, contents }: Recorded): void {
    const later = this.#recorded
    this.#recorded = {
      entries: [...entries, ...later.entries],
      open: [...open, ...later.open],
      settle: [...settle, ...later.settle],
      jobs: [...jobs, ...later.jobs],
      contents: contents === null ? later.contents : [...contents, ...(later.contents ?? [])],
    }
  }
}

/** No error of a job is stored with more text than this: names and values of outsiders may stand in it. */
function withShortError(content: EntryContent): EntryContent {
  if (content.type !== 'error') return content
  const detail = errorText(content.body.detail)
  return detail === content.body.detail ? content : ({ ...content, body: { ...content.body, detail } } as EntryContent)
}

interface Collected {
  readonly entries: Entry[]
  readonly open: InterruptionRow[]
  readonly settle: Settlement[]
  readonly jobs: JobChange[]
  contents: readonly ContentUse[] | null
}

function nothing(): Collected {
  return { entries: [], open: [], settle: [], jobs: [], contents: null }
}
