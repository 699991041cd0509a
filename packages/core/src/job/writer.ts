/** Stores what a job records, in order. A commit is awaited only before something becomes visible outside. */
import type { CallPlace, Entry, EntryContent, Writable } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import type { Recorded, BatchWriter } from '../conversation/batches.ts'
import { errorText } from '../parameter/scrub.ts'
import type { ConversationLog, Proposal } from '../conversation/log.ts'
import type { Append, AppendResult, JobRow } from '../store/store.ts'

/** The entries and job changes with which a job parks or ends. `ifAlone`: refused as `moved` if another process wrote what is not folded here. */
export type Proposed = Required<Pick<Append, 'entries' | 'jobs'>> & { readonly ifAlone?: true }

const mayRepeat: ReadonlySet<string> = new Set(['woken', 'moved', 'active', 'inactive'])

/** Callbacks for the result of an append. */
interface WriterEvents {
  /** Nothing more can be written in this epoch. */
  refused(reason: unknown): void
  /** The job's own row has changed. */
  changed(job: JobRow): void
  /** Other jobs of the append are stored. */
  made(jobs: readonly JobRow[]): void
}

/** A job in one epoch, and the principal that it works for. `again`: an earlier writer of this epoch was in use before. */
interface WriterIdentity {
  readonly id: string
  readonly epoch: number
  readonly again?: boolean
  readonly principal: string
  readonly owner: string
}

/** Append numbers kept for the entries that begin a job: messages and its start. */
export const acceptedEntries = 8
/** Append numbers per epoch, so that those of two epochs never collide. */
export const perEpoch = 2 ** 24

/** Makes the entries of one job in one epoch. `(job, appendNo)` is unique, also across takeovers. */
class EntryMaker {
  readonly #job: WriterIdentity
  #count: number

  constructor(job: WriterIdentity) {
    this.#job = job
    this.#count = acceptedEntries + (job.epoch - 1) * perEpoch + (job.again === true ? perEpoch / 2 : 0)
  }

  /** Makes an entry without recording it. */
  make(at: number, place: CallPlace, content: EntryContent): Entry {
    this.#count += 1
    const { id, epoch } = this.#job
    return makeEntry(withShortError(content), { place, job: id, epoch, appendNo: this.#count, at })
  }

  /** The next entry gets this number, as in the log that a replay follows. */
  numberFrom(number: number): void {
    this.#count = number - 1
  }
}

/** Writes the entries of one job in one epoch. */
export class Writer implements BatchWriter {
  /** The pending commit of a result that must not repeat. No model call begins before it is durable [D4]. */
  settling: Promise<void> | null = null
  /** Whether everything that it recorded is on its way to the store. */
  isFlushed = true
  readonly entries: EntryMaker
  readonly #log: ConversationLog
  readonly #job: WriterIdentity
  readonly #events: WriterEvents
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(log: ConversationLog, job: WriterIdentity, events: WriterEvents) {
    this.#log = log
    this.#job = job
    this.#events = events
    this.entries = new EntryMaker(job)
  }

  /** Folds an entry at once; the next commit of any job of the conversation stores it. */
  record(entry: Entry): void {
    this.isFlushed = false
    this.#log.record(this, entry)
  }

  /** Stores what was recorded. Resolves when it and all earlier commits are durable. Never rejects: a refusal stops the job. */
  commit(): Promise<void> {
    if (!this.isFlushed) this.#log.flush()
    return this.#lastWrite
  }

  /** Stores one batch of what this job recorded. Called by the log, in the order of all batches. */
  store(recorded: Recorded): void {
    this.isFlushed = true
    this.#lastWrite = this.#log.sync.append(appendOf(this.#log, this.#job, recorded), []).then(
      (result) => {
        if (!result.ok) this.#events.refused(result.reason)
        else notify(this.#events, this.#job, result.jobs)
      },
      (error: unknown) => this.#events.refused(error),
    )
  }

  /**
   * Stores what was recorded together with `last`, and folds `last` only once it is stored. If refused as `woken`, `moved`, `active`
   * or `inactive`, nothing is stored, and what was recorded is stored with the next commit.
   */
  async propose(last: Proposed): Promise<AppendResult> {
    let isEmpty = true
    const result = await this.#log.propose((tail) => {
      isEmpty = tail === null
      this.isFlushed = true
      return proposalOf(this.#log, this.#job, { recorded: tail ?? nothing, last })
    }, this)
    if (!result.ok && !isEmpty) this.isFlushed = false
    if (result.ok) notify(this.#events, this.#job, result.jobs)
    else if (!mayRepeat.has(result.reason)) this.#events.refused(result.reason)
    return result
  }
}

function proposalOf(
  log: ConversationLog,
  job: WriterIdentity,
  { recorded, last }: { readonly recorded: Recorded; readonly last: Proposed },
): Proposal {
  const entries = [...recorded.entries, ...last.entries]
  // An append may hold one change per job: `rest` makes `progress` unnecessary.
  const jobs = [...recorded.jobs.filter(({ id }) => id !== job.id), ...last.jobs]
  const append = appendOf(log, job, { ...recorded, entries, jobs })
  if (last.ifAlone === true) append.ifLastSeq = log.sync.expectedSeq
  return { append, fresh: last.entries }
}

function notify(events: WriterEvents, { id }: WriterIdentity, jobs: readonly JobRow[]): void {
  if (jobs.length === 0) return
  const own = jobs.find((job) => job.id === id)
  if (own !== undefined) events.changed(own)
  const others = jobs.filter((job) => job !== own)
  if (others.length > 0) events.made(others)
}

function appendOf(log: ConversationLog, job: WriterIdentity, recorded: Recorded): Writable<Append> {
  const { database, id } = log.state
  const { entries, open, settle, jobs, contents } = recorded
  const fence = { job: job.id, epoch: job.epoch, owner: job.owner }
  const usedBy = job.principal
  const member: Writable<Append> = { database, conversation: id, fence, entries, open, settle, jobs, usedBy }
  if (contents !== null) member.contents = contents
  return member
}

const nothing: Recorded = { entries: [], open: [], settle: [], jobs: [], contents: null }

/** No error of a job is stored with more text than this: names and values of outsiders may stand in it. */
function withShortError(content: EntryContent): EntryContent {
  if (content.type !== 'error') return content
  const detail = errorText(content.body.detail)
  return detail === content.body.detail ? content : ({ ...content, body: { ...content.body, detail } } as EntryContent)
}
