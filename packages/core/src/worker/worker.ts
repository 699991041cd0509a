/** The worker of a process: runs the jobs it owns, renews their leases, and takes over jobs that others left. */
import { isWitanError, type RunResult } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import { liveJob } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { apartFromRequests } from '../identity/request-deadline.ts'
import type { JobKind, JobRow, Store } from '../store/store.ts'
import { type DriveContext, drive, takeOver } from './drive.ts'
import type { Environment } from '../job/environment.ts'
import { Job, stopJob } from '../job/job.ts'
import { stopGracefully } from '../job/stop-gracefully.ts'
import { createEpochs, type Epochs } from './epochs.ts'
import { createCapacity, type Capacity } from './capacity.ts'

/**
 * A change of what a process works on: `taken` when it begins a job, then the status with which the job parked or ended here, or
 * `left` if it was stopped here. `attempt` is above 1 if an earlier owner was lost.
 */
export interface WorkNote {
  readonly state: 'taken' | 'left' | RunResult['status']
  readonly id: string
  readonly kind: JobKind
  readonly database: string
  readonly conversation: string
  /** The run: of a task, the run that started it. */
  readonly run: string
  readonly agent: string
  /** The code of the error with which it failed; null without one. */
  readonly code: string | null
  readonly attempt: number
}

/** What a worker needs; `prepare` loads what the jobs of a database need. */
interface WorkerContext extends DriveContext {
  readonly env: Environment
  /** Limits the jobs that are claimed for this process or begin here as tasks. A run accepted here always runs here. */
  readonly maxJobs: number
  /** If false, nothing is claimed, and a job that this process comes to own is released at once. */
  readonly takesWork: boolean
  readonly store: Store
  prepare(database: string): Promise<void>
  /** Called when a job begins here, and when it parks, ends or is stopped; null if nobody wants to know. */
  readonly note: ((note: WorkNote) => void) | null
  /** Settles expired interruptions and removes expired conversations and replies, in the store and in memory. */
  sweep(): Promise<void>
}

const claimAtOnce = 50
/** How long `close` waits for effects that must not repeat. */
const effectsEndWithinMs = 3_000

/** Loads what a claimed job needs, and runs it. */
async function startClaimed({ warm, prepare }: WorkerContext, worker: Worker, row: JobRow): Promise<void> {
  const live = worker.live.get(row.id)
  // Claimed jobs are started one by one; an append may have started this one meanwhile.
  if (live?.identity.epoch === row.epoch) return
  if (live?.lifecycle.isReleased === false) stopJob(live, 'taken over')
  await prepare(row.database)
  worker.run(row, await warm.latest(row.database, row.conversation))
}

/** Releases a job that must not continue here, for example because its fold is discarded. Any worker may claim it at once. */
function releaseJob({ env, store }: WorkerContext, worker: Worker, { database, id }: JobRow): void {
  const released = store.releaseJobs(env.owner, [{ database, id }])
  released.then(() => worker.claim()).catch((error: unknown) => env.report(error))
}

/** Gives claimed jobs back that did not begin: they have made no attempt. */
async function giveBackUnread({ env, store }: WorkerContext, unread: Epochs['unread']): Promise<void> {
  if (unread.size === 0) return
  const jobs = [...unread.values()].map(({ database, id }) => ({ database, id }))
  await store.releaseJobs(env.owner, jobs)
  for (const { id } of jobs) unread.delete(id)
}

/** Runs jobs until it is closed. */
export class Worker {
  readonly #context: WorkerContext
  /** The jobs at work here, by their ids. */
  readonly live = new Map<string, Job>()
  readonly capacity: Capacity
  readonly epochs = createEpochs()
  readonly #timers = { claims: () => {}, leases: () => {} }
  #claiming: Promise<void> = Promise.resolve()
  #closed = false

  constructor(context: WorkerContext) {
    this.#context = context
    this.capacity = createCapacity(this.live, context.maxJobs)
  }

  /** Claims due jobs now and every fifth of a lease. A dead owner's job waits at most one lease and a fifth. */
  async open(): Promise<void> {
    const { env } = this.#context
    const how = { clock: env.clock, report: reporting(this.#context, this.live) }
    // Leases are renewed by a timer of their own, since a claim may take long.
    this.#timers.leases = every(env.leaseMs / 3, how, () => renewLeases(this.#context, this.live))
    const round = async () => {
      this.capacity.isHolding = false
      await giveBackUnread(this.#context, this.epochs.unread)
      await this.claim()
      await this.#context.sweep()
    }
    await round()
    if (!this.#closed) this.#timers.claims = every(env.leaseMs / 5, how, round)
  }

  /** Claims due jobs up to the capacity. Claims run one after the other. */
  claim(): Promise<void> {
    this.#claiming = this.#claiming.then(async () => {
      const { env, store, takesWork } = this.#context
      const limit = Math.min(claimAtOnce, this.capacity.remaining())
      if (this.#closed || this.capacity.isHolding || limit === 0 || !takesWork) return
      const claimed = await store.claimJobs({ owner: env.owner, leaseMs: env.leaseMs, limit })
      if (claimed.length > 0) faultPoint('claimed')
      if (claimed.length === limit) this.capacity.noteLeftWork()
      const held = this.capacity.mustWait(claimed)
      if (held.length > 0) {
        this.capacity.isHolding = true
        await store.releaseJobs(env.owner, held) // before a job begins that may crash the process
      }
      for (const row of claimed.filter((job) => !held.includes(job)))
        await startClaimed(this.#context, this, row).catch((error: unknown) => {
          this.epochs.unread.set(row.id, row)
          env.report(error)
        })
    })
    const claiming = this.#claiming
    this.#claiming = claiming.catch(() => {})
    return claiming
  }

  /** Runs a job that this process now owns, unless it runs already. */
  run(row: JobRow, log: ConversationLog): void {
    const { env, takesWork } = this.#context
    const live = this.live.get(row.id)
    if (this.#closed || row.owner !== env.owner || this.epochs.isSeen(row, live)) return
    if (live?.lifecycle.isReleased === true) {
      live.lifecycle.next = () => this.run(row, log)
      return
    }
    // The job was claimed again before the first claim was known lost; entries folded since then are not stored.
    if (live !== undefined) stopJob(live, 'taken over')
    // The fold may have broken while the job was created.
    if (log.isBroken || !takesWork) return releaseJob(this.#context, this, row)
    if (liveJob(log.state, row.id) === null) return
    const wasHere = this.epochs.wasStopped(row.id)
    const job = new Job(env, log, row)
    this.live.set(row.id, job)
    const note = notingOf(this.#context, job, row)
    note?.({ status: 'taken', code: null })
    log.proposals.afterwards(() => takeOver(job, row, wasHere))
    job.lifecycle.left = apartFromRequests(() => drive(job, this.#context)).then((driven) => {
      note?.(driven ?? { status: 'left', code: null })
      if (this.live.get(row.id) === job) this.live.delete(row.id)
      if (job.lifecycle.stopped !== null) this.epochs.stopped(row, job)
      if (this.#closed) return
      if (job.lifecycle.next !== null) job.lifecycle.next()
      else if (isLeftBroken(job)) releaseJob(this.#context, this, row)
      else if (this.capacity.isFreeAgain()) this.claim().catch((error: unknown) => env.report(error))
    })
  }

  /** Stops all jobs and releases them for the next worker. Waits up to 3 s for effects that must not repeat, and as long for failed runs. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timers.claims()
    await Promise.all(Array.from(this.live.values(), (job) => stopGracefully(job, effectsEndWithinMs)))
    this.#timers.leases()
    await this.#claiming
    await this.#context.store.releaseJobs(this.#context.env.owner)
    faultPoint('released')
  }
}

/** Stopped because of its fold alone: it goes on from a new one. */
function isLeftBroken({ lifecycle: { stopped } }: Job): boolean {
  return stopped === 'invalidated' || stopped === 'went-back'
}

/** Notes how the work on a job goes; null if nobody wants to know. */
function notingOf({ note }: WorkerContext, job: Job, row: JobRow) {
  if (note === null) return null
  const { id, kind, database, conversation, attempts: attempt } = row
  const { agent, place } = job.run.root
  const about = { id, kind, database, conversation, run: place.run, agent: agent.id, attempt }
  return ({ status, code }: { readonly status: WorkNote['state']; readonly code: string | null }) =>
    note({ ...about, state: status, code })
}

/** Repeats `work`, `ms` after each end, and reports its errors. The returned function stops it. */
function every(
  ms: number,
  { clock, report }: Pick<Environment, 'clock' | 'report'>,
  work: () => Promise<void>,
): () => void {
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

/** Renews the leases of live jobs. A lost job stops at once [D5]; a job with `wake` set reads the new entries. */
async function renewLeases({ env, store }: WorkerContext, live: ReadonlyMap<string, Job>): Promise<void> {
  const held = [...live.values()].map(({ identity: { id, epoch }, log }) => ({
    database: log.state.database,
    id,
    epoch,
  }))
  if (held.length === 0) return
  const kept = new Map((await store.heartbeat(env.owner, held, env.leaseMs)).map((row) => [row.id, row]))
  faultPoint('heartbeat')
  for (const { id } of held) {
    const job = live.get(id)
    const one = kept.get(id)
    if (job === undefined) continue
    if (one === undefined) stopJob(job, 'fenced')
    else if (one.wake) job.log.catchUp().catch((error: unknown) => stopJob(job, error))
  }
}

/**
 * Reports errors; that a newer version has taken the schema over once. Then whatever is at work here stops and is released, and the
 * callers here that wait for a result are refused, since it can be read no more.
 */
function reporting({ env, store, tracker }: WorkerContext, live: ReadonlyMap<string, Job>): (error: unknown) => void {
  let isTooOld = false
  return (error) => {
    if (!isWitanError(error) || error.code !== 'SCHEMA_TOO_NEW') return env.report(error)
    for (const job of live.values()) stopJob(job, error)
    for (const { id } of tracker.awaited()) tracker.fail(id, Number.POSITIVE_INFINITY, error)
    store.releaseJobs(env.owner).catch(env.report)
    if (!isTooOld) env.report(error)
    isTooOld = true
  }
}
