/** One job at work in this process: what it has recorded, what is under way, and when to look again. */
import type { CallPlace, Entry, EntryContent, Problem } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import type { RunState } from '../conversation/state.ts'
import type { AppendResult, InterruptionRow, JobChange, Settlement } from '../store/store.ts'
import type { Environment } from './environment.ts'
import { Outbox, type Recorded } from './outbox.ts'
import { Pulse } from './pulse.ts'

/** Which job, claimed in which epoch. */
export interface JobIdentity {
  readonly id: string
  readonly epoch: number
  readonly attempts: number
  readonly startedAt: number
}

/** The context that every part of the loop works on. It lives from claim to rest. */
export class Job {
  readonly env: Environment
  readonly log: ConversationLog
  readonly identity: JobIdentity
  /** Effects under way, by the id of their call. */
  readonly busy = new Map<string, AbortController>()
  readonly changes = new Pulse()
  readonly outbox: Outbox
  /** Set when this process must not go on: fenced, closed, or the store is broken. */
  stopped: unknown = null
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(env: Environment, log: ConversationLog, identity: JobIdentity) {
    this.env = env
    this.log = log
    this.identity = identity
    this.outbox = new Outbox(identity)
    log.onChange = () => this.changes.beat()
  }

  /** The live run. Only read while the root call is live. */
  get run(): RunState {
    return this.log.state.run as RunState
  }

  /** Hands what was recorded to the store; the promise resolves when it, and all before it, is durable. A refusal stops the job. */
  async commit(): Promise<void> {
    if (this.outbox.isEmpty) return this.#lastWrite
    const member = this.#member(this.outbox.take())
    this.#lastWrite = this.log.write(member).then(
      (result) => {
        if (!result.ok) this.stop(result.reason)
      },
      (error: unknown) => this.stop(error),
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
    const result = await this.log.propose({ ...member, entries: [...member.entries, ...last], job: change }, last)
    if (result.ok) return result
    this.outbox.putBack(recorded)
    if (result.reason !== 'woken') this.stop(result.reason)
    return result
  }

  #member(recorded: Recorded) {
    const { database, id } = this.log.state
    const fence = { job: this.identity.id, epoch: this.identity.epoch }
    return { database, conversation: id, fence, ...recorded }
  }

  /** Ends the work here without a word to the log: another worker goes on. */
  stop(reason: unknown): void {
    this.stopped ??= reason
    abortAll(this, reason)
    this.changes.beat()
  }
}

/** Records a fact of this job: it is folded at once and stored with the next commit, in order. */
export function record(job: Job, place: CallPlace, content: EntryContent): void {
  const entry = job.outbox.make(job.env.clock.now(), place, content)
  job.log.take([entry])
  job.outbox.add(entry)
}

/** Opens or settles an interruption in the same append as what was just recorded. */
export function recordRows(job: Job, rows: { open?: InterruptionRow; settle?: Settlement }): void {
  job.outbox.addRows(rows)
}

/** The whole run must fail: what is under way is aborted, and the loop closes the run at its next pass. */
export function failRun(job: Job, problem: Problem): void {
  job.run.failure ??= problem
  abortAll(job, problem)
}

/** Aborts every effect under way. */
export function abortAll(job: Job, reason: unknown): void {
  for (const controller of job.busy.values()) controller.abort(reason)
}
