/** The worker of a process: runs the jobs it owns, keeps their leases, and takes over what others left. */
import { problem, type RunResult, toProblem } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import type { WarmConversations } from '../conversation/warm.ts'
import type { JobRow, Store } from '../store/store.ts'
import type { RunTracker } from '../task/tracker.ts'
import type { Environment } from './environment.ts'
import { failRun, Job } from './job.ts'
import { advance } from './loop.ts'

/** What a worker works with. */
export interface WorkerContext {
  readonly env: Environment
  readonly store: Store
  readonly warm: WarmConversations
  readonly tracker: RunTracker
}

/** A job is tried so often before it is set aside with its reason [D23]. */
const mostAttempts = 3
const claimAtOnce = 50

/** Runs jobs until it is closed. */
export class Worker {
  readonly #context: WorkerContext
  readonly #live = new Map<string, Job>()
  #cancelTimer: () => void = () => {}
  #closed = false

  constructor(context: WorkerContext) {
    this.#context = context
  }

  /** Takes up what was left and looks again every third of a lease. */
  async open(): Promise<void> {
    await this.#round()
    this.#schedule()
  }

  #schedule(): void {
    const { env } = this.#context
    this.#cancelTimer = env.clock.after(env.leaseMs / 3, () => {
      this.#round()
        .catch((error: unknown) => env.report(error))
        .finally(() => {
          if (!this.#closed) this.#schedule()
        })
    })
  }

  async #round(): Promise<void> {
    const { env, store, warm } = this.#context
    await this.#keepLeases()
    const claimed = await store.claimJobs({ owner: env.owner, leaseMs: env.leaseMs, limit: claimAtOnce })
    for (const row of claimed) {
      this.#live.get(row.id)?.stop('taken over')
      warm.drop(row.database, row.conversation)
      await this.#take(row)
    }
  }

  async #keepLeases(): Promise<void> {
    const { env, store } = this.#context
    const held = [...this.#live.values()].map((job) => ({ id: job.identity.id, epoch: job.identity.epoch }))
    if (held.length === 0) return
    const kept = new Set(await store.heartbeat(env.owner, held, env.leaseMs))
    for (const { id } of held) if (!kept.has(id)) this.#live.get(id)?.stop('fenced')
  }

  async #take(row: JobRow): Promise<void> {
    try {
      this.run(row, await this.#context.warm.get(row.database, row.conversation))
    } catch (error) {
      this.#context.env.report(error)
    }
  }

  /** Runs a job that this process has just come to own, unless it is at work on it already. */
  run(row: JobRow, log: ConversationLog): void {
    if (this.#closed || this.#live.get(row.id)?.identity.epoch === row.epoch || log.state.run?.root.place.call !== row.id) return
    const job = new Job(this.#context.env, log, row)
    this.#live.set(row.id, job)
    if (row.attempts > mostAttempts) failRun(job, problem('RUN_QUARANTINED', `The run broke its worker ${mostAttempts} times and was set aside.`, { hint: 'Look at the last events of the run for what it did each time.' }))
    void this.#advance(job)
  }

  async #advance(job: Job): Promise<void> {
    const { warm, tracker } = this.#context
    const { id, epoch } = job.identity
    try {
      const rest = await advance(job)
      if (rest.kind === 'told') return this.#told(job, rest.result)
      warm.drop(job.log.state.database, job.log.state.id)
      tracker.fail(id, epoch, rest.reason)
    } catch (error) {
      this.#context.env.report(error)
      warm.drop(job.log.state.database, job.log.state.id)
      await this.#abandon(job, error)
    } finally {
      if (this.#live.get(id) === job) this.#live.delete(id)
    }
  }

  #told(job: Job, result: RunResult): void {
    this.#context.tracker.tell(job.identity.id, job.identity.epoch, result)
  }

  /** The loop itself broke: the run fails from a fresh fold, or is left to the next claim. */
  async #abandon(job: Job, error: unknown): Promise<void> {
    const { env, warm, tracker } = this.#context
    const { database, id } = job.log.state
    try {
      const again = new Job(env, await warm.get(database, id), job.identity)
      if (again.log.state.run === null) return
      failRun(again, toProblem(error))
      const rest = await advance(again)
      if (rest.kind === 'told') this.#told(job, rest.result)
      else tracker.fail(job.identity.id, job.identity.epoch, rest.reason)
    } catch (second) {
      env.report(second)
      tracker.fail(job.identity.id, job.identity.epoch, second)
    }
  }

  /** Stops where it is; the jobs are given back, and whoever comes next goes on. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    for (const job of this.#live.values()) job.stop('closed')
    await this.#context.store.releaseJobs(this.#context.env.owner)
  }
}
