/** The worker of a process: runs the jobs it owns, keeps their leases, and takes over what others left. */
import type { RunResult } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import { liveJob } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import type { JobKind, JobRow, Store } from '../store/store.ts'
import { type DriveContext, drive, takeOver } from './drive.ts'
import type { Environment } from '../job/environment.ts'
import { Job, letEnd } from '../job/job.ts'
import { createRoom, type Room } from './room.ts'

/**
 * What a process works on: `taken` when it begins with a job, then how the job came to rest here: a status, or `left` where it goes
 * on elsewhere. `attempt` is above 1 where an earlier owner was lost.
 */
export interface WorkNote {
  readonly state: 'taken' | 'left' | RunResult['status']
  readonly id: string
  readonly kind: JobKind
  readonly database: string
  readonly conversation: string
  readonly agent: string
  readonly attempt: number
}

/** What a worker works with; `prepare` loads what a database's jobs look up. */
export interface WorkerContext extends DriveContext {
  readonly env: Environment
  /** So many jobs at most are claimed for this process, and begin here as tasks; what is accepted here always runs here. */
  readonly maxJobs: number
  /** False: nothing is claimed, and what comes to be owned here is given back at once. */
  readonly takesWork: boolean
  readonly store: Store
  prepare(database: string): Promise<void>
  /** Told of every job that is worked on here. */
  note(note: WorkNote): void
  /** Settles and takes away what is over, in the store and in memory. */
  sweep(): Promise<void>
}

const claimAtOnce = 50
/** An orderly end waits so long for effects that must not repeat. */
const effectsEndWithinMs = 3_000

/** Reads what a claimed job needs, and runs it. */
async function takeUp({ warm, prepare }: WorkerContext, worker: Worker, row: JobRow): Promise<void> {
  const live = worker.live.get(row.id)
  // Claims are taken up one by one: what others append meanwhile may have begun this one already.
  if (live?.identity.epoch === row.epoch) return
  live?.stop('taken over')
  await prepare(row.database)
  worker.run(row, await warm.latest(row.database, row.conversation))
}

/** A job that only must not go on here, such as one whose fold is of no use: a new claim, here or elsewhere, goes on with it at once. */
function giveBack({ env, store }: WorkerContext, worker: Worker, id: string): void {
  const released = store.releaseJobs(env.owner, [id])
  released.then(() => worker.look()).catch((error: unknown) => env.report(error))
}

/** Runs jobs until it is closed. */
export class Worker {
  readonly #context: WorkerContext
  /** The jobs at work here, by their ids. */
  readonly live = new Map<string, Job>()
  readonly room: Room
  /** Epochs that were stopped here: only a new claim, with a later epoch, knows that an effect under way may have happened [D1]. */
  readonly #stopped = new Map<string, number>()
  readonly #end = { looks: () => {}, beats: () => {} }
  #looking: Promise<void> = Promise.resolve()
  #closed = false

  constructor(context: WorkerContext) {
    this.#context = context
    this.room = createRoom(this.live, context.maxJobs)
  }

  /** Takes up what was left and looks again every fifth of a lease, so that a dead owner is missed for a lease and a fifth at most. */
  async open(): Promise<void> {
    const { env } = this.#context
    // A look may have much to read: it must not keep the leases of what is at work from being prolonged.
    this.#end.beats = every(env.leaseMs / 3, env, () => keepLeases(this.#context, this.live))
    const round = async () => {
      this.room.isHolding = false
      await this.look()
      await this.#context.sweep()
    }
    await round()
    if (!this.#closed) this.#end.looks = every(env.leaseMs / 5, env, round)
  }

  /** Claims what is due now, as far as there is room, one look after the other. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      const { env, store, takesWork } = this.#context
      const limit = Math.min(claimAtOnce, this.room.left())
      if (this.#closed || this.room.isHolding || limit === 0 || !takesWork) return
      const claimed = await store.claimJobs({ owner: env.owner, leaseMs: env.leaseMs, limit })
      if (claimed.length > 0) faultPoint('claimed')
      if (claimed.length === limit) this.room.leave()
      const held = this.room.mustWait(claimed)
      if (held.length > 0) {
        this.room.isHolding = true
        const ids = held.map(({ id }) => id)
        await store.releaseJobs(env.owner, ids) // before one begins that may stop the process
      }
      for (const row of claimed.filter((one) => !held.includes(one)))
        await takeUp(this.#context, this, row).catch((error: unknown) => env.report(error))
    })
    const looking = this.#looking
    this.#looking = looking.catch(() => {})
    return looking
  }

  /** Runs a job that this process has just come to own, unless it is at work on it already. */
  run(row: JobRow, log: ConversationLog): void {
    const { env, takesWork } = this.#context
    const live = this.live.get(row.id)
    const latest = Math.max(live?.identity.epoch ?? 0, this.#stopped.get(row.id) ?? 0)
    if (this.#closed || row.epoch <= latest || row.owner !== env.owner) return
    // It was claimed anew before its first claim was told: what that one has folded since is not stored.
    live?.stop('taken over')
    // The fold may have broken while the job was being made.
    if (log.isBroken || !takesWork) return giveBack(this.#context, this, row.id)
    if (liveJob(log.state, row.id) === null) return
    this.#stopped.delete(row.id)
    const job = new Job(env, log, row)
    this.live.set(row.id, job)
    const { id, kind, database, conversation, attempts: attempt } = row
    const about = { id, kind, database, conversation, agent: job.run.root.agent.id, attempt }
    this.#context.note({ ...about, state: 'taken' })
    takeOver(job, row)
    void drive(job, this.#context).then((status) => {
      this.#context.note({ ...about, state: status ?? 'left' })
      if (this.live.get(row.id) === job) this.live.delete(row.id)
      if (job.stopped !== null) this.#stopped.set(row.id, row.epoch)
      if (this.#closed) return
      if (job.stopped === 'spoilt') giveBack(this.#context, this, row.id)
      else if (this.room.isFreeAgain()) this.look().catch((error: unknown) => env.report(error))
    })
  }

  /** Stops where it is, but for effects that must not repeat; the jobs are given back, and whoever comes next goes on. */
  async close(): Promise<void> {
    this.#closed = true
    this.#end.looks()
    await Promise.all(Array.from(this.live.values(), (job) => letEnd(job, effectsEndWithinMs)))
    this.#end.beats()
    await this.#looking
    await this.#context.store.releaseJobs(this.#context.env.owner)
    faultPoint('released')
  }
}

/** Does `work` again and again, `ms` after it was done; what goes wrong is reported. The returned function ends it. */
function every(ms: number, { clock, report }: Environment, work: () => Promise<void>): () => void {
  let ended = false
  let cancel = () => {}
  const again = () => {
    work()
      .catch(report)
      .finally(() => {
        if (!ended) cancel = clock.after(ms, again, { background: true })
      })
  }
  cancel = clock.after(ms, again, { background: true })
  return () => {
    ended = true
    cancel()
  }
}

/** Prolongs the leases of live jobs; one that is not ours any more stops at once [D5]. What others appended for one is read. */
async function keepLeases({ env, store }: WorkerContext, live: ReadonlyMap<string, Job>): Promise<void> {
  const held = [...live.values()].map(({ identity }) => ({ id: identity.id, epoch: identity.epoch }))
  if (held.length === 0) return
  const kept = new Map((await store.heartbeat(env.owner, held, env.leaseMs)).map((one) => [one.id, one]))
  faultPoint('heartbeat')
  for (const { id } of held) {
    const job = live.get(id)
    const one = kept.get(id)
    if (one === undefined) job?.stop('fenced')
    else if (one.wake) job?.log.catchUp().catch((error: unknown) => job.stop(error))
  }
}
