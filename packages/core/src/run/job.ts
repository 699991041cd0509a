/** One job at work in this process: what it writes, what is under way, and when to look again. */
import type { Problem } from '@witan/protocol'
import type { CallPlace, EntryContent } from '@witan/protocol/entries'
import type { ConversationLog, LogWatcher } from '../conversation/log.ts'
import type { AgentCall, RunState, Slot } from '../conversation/state.ts'
import type { ModelTool } from '../model/model.ts'
import type { InterruptionRow, Settlement } from '../store/store.ts'
import type { PreparedArguments } from '../tool/arguments.ts'
import type { Caller, Toolset } from '../tool/tool.ts'
import type { Environment } from './environment.ts'
import { Pulse } from './pulse.ts'
import { Writer } from './writer.ts'

/** Which job, claimed in which epoch. */
export interface JobIdentity {
  readonly id: string
  readonly epoch: number
  readonly attempts: number
  readonly startedAt: number
}

/** A call's tools, what they may know of it, and what of them its model sees. */
export interface CallTools {
  readonly caller: Caller
  readonly toolset: Toolset
  readonly offers: readonly ModelTool[]
}

/** The context that every part of the loop works on. It lives from claim to rest. */
export class Job {
  readonly env: Environment
  readonly log: ConversationLog
  readonly identity: JobIdentity & {
    /** When this process began: the wall time of the run counts from here, and what earlier owners worked. */
    readonly since: number
  }
  readonly writer: Writer
  /** Effects under way, by the id of their call. */
  readonly busy = new Map<string, AbortController>()
  readonly changes = new Pulse()
  /** What was worked out once per call or tool call; gone with the job. */
  readonly memo = { tools: new Map<AgentCall, CallTools>(), prepared: new Map<Slot, PreparedArguments>() }
  /** Set when this process must not go on: fenced, closed, or the store is broken. */
  stopped: unknown = null
  readonly watcher: LogWatcher

  constructor(env: Environment, log: ConversationLog, identity: JobIdentity) {
    this.env = env
    this.log = log
    this.identity = { ...identity, since: env.clock.now() }
    this.writer = new Writer(log, identity, (reason) => this.stop(reason))
    this.watcher = { changed: () => this.changes.beat(), broken: (reason) => this.stop(reason) }
    log.watcher = this.watcher
  }

  /** The live run. Only read while the root call is live. */
  get run(): RunState {
    return this.log.state.run as RunState
  }

  /** Ends the work here without a word to the log: another worker goes on. */
  stop(reason: unknown): void {
    this.stopped ??= reason
    abortAll(this, reason)
    this.changes.beat()
  }
}

/** Lets go of the log: a warm conversation keeps nothing of what its last job worked out. */
export function release(job: Job): void {
  if (job.log.watcher === job.watcher) job.log.watcher = null
}

/** How long the run has been worked on, in ms; waiting for somebody does not count. */
export function workedMs(job: Job): number {
  const { worked } = job.run
  const earlier = worked.epoch < job.identity.epoch ? worked.ms + worked.to - worked.from : worked.ms
  return earlier + job.env.clock.now() - job.identity.since
}

/** Records a fact of this job: it is folded at once and stored with the next commit, in order. */
export function record(job: Job, place: CallPlace, content: EntryContent): void {
  const { outbox } = job.writer
  const entry = outbox.make(job.env.clock.now(), place, content)
  job.log.take([entry])
  outbox.add(entry)
}

/** Opens or settles an interruption in the same append as what was just recorded. */
export function recordRows(job: Job, rows: { open?: InterruptionRow; settle?: Settlement }): void {
  job.writer.outbox.addRows(rows)
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
