/** One job at work in this process: what it writes, what is under way, and when to look again. */
import type { Problem } from '@witan/protocol'
import type { CallPlace, EntryContent } from '@witan/protocol/entries'
import type { ConversationLog, LogWatcher } from '../conversation/log.ts'
import { type AgentCall, liveJob, type RunState, type Slot } from '../conversation/state.ts'
import type { ModelTool } from '../model/model.ts'
import type { InterruptionRow, JobChange, Settlement } from '../store/store.ts'
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
  /**
   * Gone with the job: what was worked out once per call or tool call; how many models are asked with tools right now, each of which
   * holds a round of the tree; how many model calls tools have under way; how many of any kind were given up: paid, and never told;
   * how often the job was tried without a step, as the store has it; and whether a step has still to be told to it.
   */
  readonly memo = {
    tools: new Map<AgentCall, CallTools>(),
    prepared: new Map<Slot, PreparedArguments>(),
    offering: 0,
    asking: 0,
    lost: 0,
    tries: 1,
    isStuck: false,
    /** Effects under way that must not repeat, until their results are stored. */
    unrepeatable: new Set<Promise<void>>(),
    /** Nothing begins any more: only what is in `unrepeatable` is waited for. */
    isEnding: false,
  }
  /** Set when this process must not go on: fenced, closed, or the store is broken. */
  stopped: unknown = null
  readonly watcher: LogWatcher

  constructor(env: Environment, log: ConversationLog, identity: JobIdentity & { readonly again?: boolean }) {
    this.env = env
    this.log = log
    this.identity = { id: identity.id, epoch: identity.epoch, attempts: identity.attempts, since: env.clock.now() }
    this.memo.tries = identity.attempts
    this.memo.isStuck = identity.attempts > 1
    this.writer = new Writer(log, identity, {
      refused: (reason) => this.stop(reason),
      made: (jobs) => env.launch(jobs, log),
      changed: ({ attempts }) => {
        this.memo.tries = attempts
      },
    })
    this.watcher = { changed: () => this.changes.beat(), broken: (reason) => this.stop(reason) }
    log.watchers.set(identity.id, this.watcher)
  }

  /** What the fold knows of it. Only read while its root call is live. */
  get run(): RunState {
    return liveJob(this.log.state, this.identity.id) as RunState
  }

  /** Ends the work here without a word to the log: another worker goes on. What was folded and not stored makes the fold useless. */
  stop(reason: unknown): void {
    this.stopped ??= reason
    this.log.spoil('spoilt')
    abortAll(this, reason)
    this.changes.beat()
  }
}

/**
 * Stops it in order. An effect that must not repeat may end first, for so long at most: cut off, nobody could say afterwards whether it
 * happened [D1].
 */
export async function letEnd(job: Job, graceMs: number): Promise<void> {
  const { memo } = job
  memo.isEnding = true
  if (memo.unrepeatable.size > 0) {
    const late = Promise.withResolvers<void>()
    const cancel = job.env.clock.after(graceMs, late.resolve)
    await Promise.race([Promise.allSettled(memo.unrepeatable), late.promise]).finally(cancel)
  }
  job.stop('closed')
}

/**
 * Whether it is still this owner's, as far as the log tells: not ended elsewhere, and not gone on with by a later owner, of which this
 * one may read before its lease is refused. What a later owner has begun is not this one's to do [D1, D5].
 */
export function isOurs({ log, identity }: Job): boolean {
  const run = liveJob(log.state, identity.id)
  return run !== null && run.worked.epoch <= identity.epoch
}

/** Lets go of the log: a warm conversation keeps nothing of what its last job worked out. */
export function release(job: Job): void {
  const { watchers } = job.log
  if (watchers.get(job.identity.id) === job.watcher) watchers.delete(job.identity.id)
}

/** How long the run has been worked on, in ms; waiting for somebody does not count. */
export function workedMs(job: Job, now: number = job.env.clock.now()): number {
  const { worked } = job.run
  const earlier = worked.epoch < job.identity.epoch ? worked.ms + worked.to - worked.from : worked.ms
  return earlier + now - job.identity.since
}

/** Records a fact of this job: it is folded at once and stored with the next commit, in order. */
export function record(job: Job, place: CallPlace, content: EntryContent): void {
  const { outbox } = job.writer
  const entry = outbox.make(job.env.clock.now(), place, content)
  job.log.take(entry)
  outbox.add(entry)
  if (!job.memo.isStuck || !isStep(content)) return
  job.memo.isStuck = false
  recordRows(job, { job: { kind: 'step', id: job.identity.id } })
}

/**
 * Whether it gets the run on: the end of a tool or an agent. What a takeover itself finds out does not, nor does a model that asks
 * anew for what took the last worker down [D23].
 */
function isStep({ type, kind, body }: EntryContent): boolean {
  return kind !== 'model' && (type === 'end' || (type === 'error' && body.code !== 'OUTCOME_UNKNOWN'))
}

/** Opens or settles an interruption, or changes another job, in the same append as what was just recorded. */
export function recordRows(job: Job, rows: { open?: InterruptionRow; settle?: Settlement; job?: JobChange }): void {
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
