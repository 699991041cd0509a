/** Writes what a job records: folded at once, stored in order, awaited only where something becomes visible outside. */
import type { Entry } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import type { AppendResult, JobChange } from '../store/store.ts'
import { Outbox, type Recorded } from './outbox.ts'

/** The writing side of one job in one epoch. */
export class Writer {
  readonly outbox: Outbox
  /** The result of an effect that must not repeat, on its way to the store: no model call begins before it is durable [D4]. */
  settling: Promise<void> | null = null
  readonly #log: ConversationLog
  readonly #job: { readonly id: string; readonly epoch: number }
  readonly #onRefused: (reason: unknown) => void
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(
    log: ConversationLog,
    job: { readonly id: string; readonly epoch: number },
    onRefused: (reason: unknown) => void,
  ) {
    this.#log = log
    this.#job = { id: job.id, epoch: job.epoch }
    this.#onRefused = onRefused
    this.outbox = new Outbox(job)
  }

  /** Hands what was recorded to the store; the promise resolves when it, and all before it, is durable. It never rejects: a refusal stops the job. */
  async commit(): Promise<void> {
    if (this.outbox.isEmpty) return this.#lastWrite
    const write = this.#log.write(this.#member(this.outbox.take()))
    this.#lastWrite = write.then(
      (result) => {
        if (!result.ok) this.#onRefused(result.reason)
      },
      (error: unknown) => this.#onRefused(error),
    )
    return this.#lastWrite
  }

  /**
   * Stores what was recorded together with `last`, and folds `last` only when it is stored. Where the job was woken meanwhile
   * nothing is stored and nothing is lost: what was recorded goes out with the next commit.
   */
  async propose(last: readonly Entry[], change: JobChange): Promise<AppendResult> {
    const recorded = this.outbox.take()
    const member = this.#member(recorded)
    const result = await this.#log.propose({ ...member, entries: [...member.entries, ...last], job: change }, last)
    if (result.ok) return result
    this.outbox.putBack(recorded)
    if (result.reason !== 'woken') this.#onRefused(result.reason)
    return result
  }

  #member(recorded: Recorded) {
    const { database, id } = this.#log.state
    const fence = { job: this.#job.id, epoch: this.#job.epoch }
    return { database, conversation: id, fence, ...recorded }
  }
}
