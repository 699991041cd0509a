/** The worker of a process: runs the jobs it owns, keeps their leases, and takes over what others left. */
import type { ConversationLog } from '../conversation/log.ts'
import type { JobRow, Store } from '../store/store.ts'
import { type DriveContext, drive, takeOver } from './drive.ts'
import type { Environment } from './environment.ts'
import { Job } from './job.ts'

/** What a worker works with; `prepare` loads what a database's jobs look up. */
export interface WorkerContext extends DriveContext {
  readonly env: Environment
  readonly store: Store
  prepare(database: string): Promise<void>
  /** Takes out of this process what is over, in the store and in memory. */
  sweep(): Promise<void>
}

const claimAtOnce = 50

/** Runs jobs until it is closed. */
export class Worker {
  readonly #context: WorkerContext
  readonly #live = new Map<string, Job>()
  /** Epochs that were stopped here: only a new claim, with a later epoch, knows that an effect under way may have happened [D1]. */
  readonly #stopped = new Map<string, number>()
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
    const again = () => {
      this.#round()
        .catch((error: unknown) => env.report(error))
        .finally(() => {
          if (!this.#closed) this.#schedule()
        })
    }
    this.#cancelTimer = env.clock.after(env.leaseMs / 3, again, { background: true })
  }

  async #round(): Promise<void> {
    const { env, store } = this.#context
    await keepLeases(this.#context, this.#live)
    const claimed = await store.claimJobs({ owner: env.owner, leaseMs: env.leaseMs, limit: claimAtOnce })
    for (const row of claimed) await this.#take(row).catch((error: unknown) => env.report(error))
    await this.#context.sweep()
  }

  async #take(row: JobRow): Promise<void> {
    const { warm, prepare } = this.#context
    this.#live.get(row.id)?.stop('taken over')
    warm.drop(row.database, row.conversation)
    await prepare(row.database)
    this.run(row, await warm.get(row.database, row.conversation))
  }

  /** Runs a job that this process has just come to own, unless it is at work on it already. */
  run(row: JobRow, log: ConversationLog): void {
    // The fold broke while the job was being made: it is read again.
    if (log.isBroken) return void this.#take(row).catch((error: unknown) => this.#context.env.report(error))
    const known = this.#live.get(row.id)?.identity.epoch === row.epoch
    const over = known || this.#stopped.get(row.id) === row.epoch
    if (this.#closed || over || log.state.run?.root.place.call !== row.id) return
    this.#stopped.delete(row.id)
    const job = new Job(this.#context.env, log, row)
    this.#live.set(row.id, job)
    takeOver(job, row)
    void drive(job, this.#context).then(() => {
      if (this.#live.get(row.id) === job) this.#live.delete(row.id)
      if (job.stopped !== null) this.#stopped.set(row.id, row.epoch)
    })
  }

  /** Stops where it is; the jobs are given back, and whoever comes next goes on. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    for (const job of this.#live.values()) job.stop('closed')
    await this.#context.store.releaseJobs(this.#context.env.owner)
  }
}

/** Prolongs the leases of live jobs; one that is not ours any more stops at once [D5]. */
async function keepLeases({ env, store }: WorkerContext, live: ReadonlyMap<string, Job>): Promise<void> {
  const held = [...live.values()].map(({ identity }) => ({ id: identity.id, epoch: identity.epoch }))
  if (held.length === 0) return
  const kept = new Set(await store.heartbeat(env.owner, held, env.leaseMs))
  for (const { id } of held) if (!kept.has(id)) live.get(id)?.stop('fenced')
}
