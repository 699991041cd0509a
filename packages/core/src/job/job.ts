/** One job that runs in this process: its writer, its effects under way, and its wake-up signal. */
import type { Problem } from '@witan/protocol'
import type { CallPlace, EntryContent, ModelPurpose } from '@witan/protocol/entries'
import type { ConversationLog, LogWatcher } from '../conversation/log.ts'
import { addRows, type OwnRows } from '../conversation/batches.ts'
import { SparseMap } from '../conversation/sparse-map.ts'
import { type AgentCall, liveJob, type LiveJob, type ToolCall } from '../conversation/state.ts'
import type { ModelMessage } from '../model/message.ts'
import type { CallState, ModelTool } from '../model/model.ts'
import type { PreparedArguments } from '../tool/arguments.ts'
import type { Caller, Toolset } from '../tool/tool.ts'
import type { InterruptionDraft } from '../tool/waiting.ts'
import type { Environment, ReportedPlace } from './environment.ts'
import { type CheckDues, checkDues } from './check-dues.ts'
import { Waker } from './waker.ts'
import { Writer } from './writer.ts'

/** A job and the epoch in which it was claimed. */
interface JobIdentity {
  readonly id: string
  readonly epoch: number
  readonly attempts: number
}

/** A call's tools, what they may know about the call, the tools that its model is offered, and its system message. */
export interface CallTools {
  readonly caller: Caller
  readonly toolset: Toolset
  readonly offers: readonly ModelTool[]
  readonly system: ModelMessage
  /** The moves of exchanges that the tools were made after: a later one may open or close a tool. */
  readonly moves: number
}

/** A model call under way in this process, for one agent call. */
export interface OpenModelCall extends CallState {
  readonly call: AgentCall
  /** Null for the agent's own answer. */
  readonly purpose: ModelPurpose | null
  /** The id of the model, or its name. */
  readonly modelId: string
  /** What was folded when the request was made. Null if a tool made it, at a moment of its own. */
  readonly folded: number | null
  /** When the request was made. Absent if a tool makes it. */
  readonly startedAt?: number
  /** Set for an agent's own: whether its tools are on, and the digest of the request. */
  readonly offered?: boolean
  readonly digest?: string
  /** Whether it reserves an iteration of the tree [R17]. */
  readonly usesIteration: boolean
  /** How many of the tree's model calls a tool reserves with it. 0 for an agent's own: that one counts from the moment in which it was begun. */
  readonly reserved: number
}

/** The progress of one process's work on a job. */
interface Lifecycle {
  /** Set when this process must not go on: fenced, closed, or the store is broken. */
  stopped: unknown
  /** Why the run must fail; the loop closes it at its next pass. */
  failure: Problem | null
  /** Set once the store has parked or ended the job. Then this process only has to leave it. */
  isReleased: boolean
  /** Begins the job again, once this process has left it. Set if the job was woken before that. */
  next: (() => void) | null
  /** Resolves once this process has left the job. */
  left: Promise<void>
  /** Nothing new begins; only `unrepeatable` effects are awaited. */
  isEnding: boolean
  /** Effects under way that must not repeat, until their results are stored. */
  readonly unrepeatable: Promise<void>[]
  /** In no order. A list: a set that is emptied, as this one is after nearly every call, is made anew each time. */
  readonly modelCalls: OpenModelCall[]
  /** How many attempts made no progress, as stored. */
  attempts: number
  /** Whether the next progress must be stored, which resets the attempts. */
  isStuck: boolean
}

/** The context of the loop for one job, from its claim until it parks, ends or is stopped. */
export class Job {
  readonly env: Environment
  readonly log: ConversationLog
  readonly identity: JobIdentity & {
    /** When this process began. The run's working time is the time since then, plus that of earlier owners. */
    readonly since: number
  }
  readonly writer: Writer
  /** Effects under way, by the id of their call. */
  readonly busy = new Map<string, AbortController>()
  readonly waker = new Waker()
  /** What hooks are still to be asked; null in a replay. */
  readonly hooks: CheckDues | null
  /** Values computed once per agent call or tool call. */
  readonly cache = {
    tools: new Map<AgentCall, CallTools>(),
    prepared: new SparseMap<ToolCall, PreparedArguments>(),
    asked: new SparseMap<ToolCall, InterruptionDraft | null>(),
    /** Whose memory was looked up. A process that goes on with the job looks again where the log has nothing of it. */
    remembered: new WeakSet<AgentCall>(),
    /** Releases what the fold of the end of a call finds prepared. */
    answers: new SparseMap<AgentCall, () => void>(),
  }
  /** The progress of this process's work on the job. */
  readonly lifecycle: Lifecycle
  readonly watcher: LogWatcher

  constructor(env: Environment, log: ConversationLog, identity: JobIdentity & { readonly again?: boolean }) {
    this.env = env
    this.hooks = env.hooks === null ? null : checkDues(env.hooks, env.guards)
    this.log = log
    this.identity = { id: identity.id, epoch: identity.epoch, attempts: identity.attempts, since: env.clock.now() }
    const { attempts } = identity
    const isStuck = attempts > 1
    this.lifecycle = {
      stopped: null,
      failure: null,
      isReleased: false,
      next: null,
      left: Promise.resolve(),
      isEnding: false,
      unrepeatable: [],
      modelCalls: [],
      attempts,
      isStuck,
    }
    this.writer = new Writer(
      log,
      { ...identity, principal: this.run.principal.id, owner: env.owner },
      {
        refused: (reason) => stopJob(this, reason),
        made: (jobs) => env.launch(jobs, log),
        changed: (row) => {
          this.lifecycle.attempts = row.attempts
          this.lifecycle.isReleased = row.owner === null
        },
      },
    )
    this.watcher = {
      epoch: identity.epoch,
      changed: () => this.waker.wake(),
      broken: (reason) => stopJob(this, reason),
    }
    log.watchers.set(identity.id, this.watcher)
  }

  /** The job in the fold. Valid only while its root call is live. */
  get run(): LiveJob {
    return liveJob(this.log.state, this.identity.id) as LiveJob
  }
}

/** Stops the work here without an entry; another worker continues. The fold is discarded, since it may hold entries that are not stored. */
export function stopJob(job: Job, reason: unknown): void {
  job.lifecycle.stopped ??= reason
  job.log.invalidate('invalidated')
  abortAll(job, reason)
  job.waker.wake()
}

/**
 * Whether this process still owns the job, according to the log: it has not ended elsewhere, and no later owner has written. The log
 * may show a later owner before this lease is refused; work that a later owner began is not done here [D1, D5].
 */
export function isOurs({ log, identity }: Job): boolean {
  const run = liveJob(log.state, identity.id)
  return run !== null && run.worked.epoch <= identity.epoch
}

/** What a decision about the job needs that the log does not record. */
export function underway({ busy, cache, lifecycle, hooks }: Job) {
  return { busy, remembered: cache.remembered, isFailing: lifecycle.failure !== null, hooks }
}

/** Keeps what is prepared of the last answer of a call until it has ended. */
export function keepAnswer(call: AgentCall, job: Job, forget: () => void): void {
  forgetAnswer(call, job)
  job.cache.answers.set(call, forget)
}

/** Releases what is prepared of a call's answer. */
export function forgetAnswer(call: AgentCall, { cache: { answers } }: Job): void {
  answers.get(call)?.()
  answers.delete(call)
}

/** Removes the job's watcher from the log, so that a warm conversation keeps nothing of it. */
export function release(job: Job): void {
  for (const forget of job.cache.answers.values()) forget()
  const { watchers } = job.log
  if (watchers.get(job.identity.id) === job.watcher) watchers.delete(job.identity.id)
}

/** How long the run has been worked on, in ms. Parked time does not count. */
export function workedMs(job: Job, now: number = job.env.clock.now()): number {
  const { worked } = job.run
  const earlier = worked.epoch < job.identity.epoch ? worked.ms + worked.to - worked.from : worked.ms
  return earlier + now - job.identity.since
}

/** Records an entry of this job: it is folded at once and stored in order with the next commit. */
export function record(job: Job, place: CallPlace, content: EntryContent): void {
  const { writer } = job
  job.env.follower?.recording(job)
  const entry = writer.entries.make(job.env.clock.now(), place, content)
  writer.record(entry)
  job.env.follower?.recorded(entry)
  if (!job.lifecycle.isStuck || !isProgress(content)) return
  job.lifecycle.isStuck = false
  recordRows(job, { job: { kind: 'progress', id: job.identity.id } })
}

/**
 * Whether this entry is progress: a tool or an agent ended. What a takeover records is no progress, nor is a model reply, which
 * may ask again for what crashed the last worker [D23].
 */
function isProgress({ type, kind, body }: EntryContent): boolean {
  return kind !== 'model' && (type === 'end' || (type === 'error' && body.code !== 'OUTCOME_UNKNOWN'))
}

/** Opens or settles an interruption, changes a job, or refers to content, in the same append as the entry just recorded. */
export function recordRows(job: Job, rows: OwnRows): void {
  addRows(job.log.batches.of(job.writer), rows)
}

/** Fails the run: aborts the effects under way; the loop closes the run at its next pass. */
export function failRun(job: Job, problem: Problem): void {
  job.lifecycle.failure ??= problem
  abortAll(job, problem)
}

/** Aborts every effect under way. */
export function abortAll(job: Job, reason: unknown): void {
  for (const controller of job.busy.values()) controller.abort(reason)
}

/** The place of an error: in a job, or in one call of it. */
export function whereOf({ log, identity }: Job, call: string = identity.id): ReportedPlace {
  const { database, id: conversation } = log.state
  return { database, conversation, run: liveJob(log.state, identity.id)?.root.place.run ?? identity.id, call }
}
