/** Writes what a job records: folded at once, stored in order, awaited only where something becomes visible outside. */
import type { ConversationLog } from '../conversation/log.ts'
import type { Append, AppendResult, JobRow } from '../store/store.ts'
import { Outbox, type Recorded } from './outbox.ts'

/** What comes to rest with an append. */
export type Last = Required<Pick<Append, 'entries' | 'jobs'>> & Pick<Append, 'ifLastSeq'>

const mayRepeat: ReadonlySet<string> = new Set(['woken', 'moved', 'active', 'inactive'])

/** Who is told of what became of an append. */
export interface WriterEvents {
  /** Nothing can be written in this epoch any more. */
  refused(reason: unknown): void
  /** The job's own row is stored anew. */
  changed(job: JobRow): void
  /** Jobs that were made with it are stored. */
  made(jobs: readonly JobRow[]): void
}

/** The writing side of one job in one epoch. */
export class Writer {
  readonly outbox: Outbox
  /** The result of an effect that must not repeat, on its way to the store: no model call begins before it is durable [D4]. */
  settling: Promise<void> | null = null
  readonly #log: ConversationLog
  readonly #job: { readonly id: string; readonly epoch: number }
  readonly #events: WriterEvents
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(
    log: ConversationLog,
    job: { readonly id: string; readonly epoch: number; readonly again?: boolean },
    events: WriterEvents,
  ) {
    this.#log = log
    this.#job = { id: job.id, epoch: job.epoch }
    this.#events = events
    this.outbox = new Outbox(job)
  }

  /** Hands what was recorded to the store; the promise resolves when it, and all before it, is durable. It never rejects: a refusal stops the job. */
  commit(): Promise<void> {
    if (this.outbox.isEmpty) return this.#lastWrite
    this.#lastWrite = this.#log.write(this.#member(this.outbox.take())).then(
      (result) => {
        if (!result.ok) this.#events.refused(result.reason)
        else this.#tell(result.jobs)
      },
      (error: unknown) => this.#events.refused(error),
    )
    return this.#lastWrite
  }

  /**
   * Stores what was recorded together with `last`, and folds that only when it is stored. Where it is refused as `woken`, `moved`,
   * `active` or `inactive` nothing is stored and nothing is lost: what was recorded goes out with the next commit.
   */
  async propose(last: Last): Promise<AppendResult> {
    const recorded = this.outbox.take()
    const member = this.#member(recorded)
    const entries = [...member.entries, ...last.entries]
    // Of one job there is one change in an append: what comes to rest need not say that it got on.
    const jobs = [...member.jobs.filter(({ id }) => id !== this.#job.id), ...last.jobs]
    const { ifLastSeq } = last
    const append = ifLastSeq === undefined ? { ...member, entries, jobs } : { ...member, entries, jobs, ifLastSeq }
    const result = await this.#log.propose(append, last.entries)
    if (result.ok) {
      this.#tell(result.jobs)
      return result
    }
    this.outbox.putBack(recorded)
    if (!mayRepeat.has(result.reason)) this.#events.refused(result.reason)
    return result
  }

  #tell(jobs: readonly JobRow[]): void {
    if (jobs.length === 0) return
    const own = jobs.find(({ id }) => id === this.#job.id)
    if (own !== undefined) this.#events.changed(own)
    const others = jobs.filter((job) => job !== own)
    if (others.length > 0) this.#events.made(others)
  }

  #member({ entries, open, settle, jobs }: Recorded) {
    const { database, id } = this.#log.state
    const fence = { job: this.#job.id, epoch: this.#job.epoch }
    return { database, conversation: id, fence, entries, open, settle, jobs }
  }
}
