/** Decides when a job of a replay may go on: no earlier and no later than the log says it did. */
import type { Entry, ErrorBody } from '@witan/protocol/entries'
import { liveJob } from '../../conversation/state.ts'
import type { PacedJob } from '../../job/environment.ts'
import { decide, type Work } from '../../run/decide.ts'
import { endCodeOf, epochOf, isBrought, nextOfCall, nextOfJob, numberBefore, takenAhead } from './lookahead.ts'
import { failureWords, toldCodes } from './outcomes.ts'
import type { Pending } from './pending.ts'
import { nextIn, type Script } from './script.ts'

/** The turns of the jobs of a replay, and what waits for the log to go on. */
export interface Turns {
  readonly script: Script
  readonly pending: Pending
  /** The jobs at work. */
  readonly jobs: Map<string, PacedJob>
  /** Whether a job's row says that something has arrived for it: then its next end or rest is refused. */
  readonly woken: Map<string, boolean>
  /** The last number that an entry of a job got in an epoch, stored or refused. */
  readonly numbers: Map<string, number>
  /** Counts decisions, so that a caller sees whether anything happened. */
  count: number
  /** A job that may go on although the log does not show why. */
  forced: string | null
  waiting: (() => void)[]
  launches: (readonly [task: string, begin: () => void])[]
}

/** The turns of a script. */
export function createTurns(script: Script, pending: Pending): Turns {
  const none = { count: 0, forced: null, waiting: [], launches: [] }
  return { script, pending, jobs: new Map(), woken: new Map(), numbers: new Map(), ...none }
}

/** Null if the job may decide now. Else it stores what it has, and asks again once the log has moved. */
export function turnOf(turns: Turns, job: PacedJob): Promise<void> | null {
  const { id } = job.identity
  turns.jobs.set(id, job)
  const isForced = turns.forced === id
  if (isForced) turns.forced = null
  if (isForced || liveJob(job.log.state, id) === null || mayGoOn(turns, job)) {
    turns.count += 1
    return null
  }
  void job.writer.commit()
  return moved(turns)
}

/** Resolves when the log has moved, or may have. */
function moved({ waiting }: Turns): Promise<void> {
  return new Promise((resolve) => void waiting.push(resolve))
}

/** Lets everything that waits ask again, and begins the tasks whose time has come. */
export function wake(turns: Turns): void {
  const { waiting, launches } = turns
  turns.waiting = []
  turns.launches = []
  for (const resolve of waiting) resolve()
  for (const [task, begin] of launches) launch(turns, task, begin)
}

/** Begins a job once the log says that it runs. A task notes that at its beginning; of a run, null, nothing is noted. */
export function launch(turns: Turns, task: string | null, begin: () => void): void {
  const next = nextIn(turns.script)
  if (task === null || next === null || (next.type === 'task' && next.job === task)) begin()
  else turns.launches.push([task, begin])
}

/** Lets a job decide once, whatever the log says. False if nothing waits. */
export function force(turns: Turns, job: string): boolean {
  if (turns.waiting.length === 0) return false
  turns.forced = job
  wake(turns)
  return true
}

/** Resolves once the log goes on with an entry that this job records by itself. */
export async function due(turns: Turns, job: string): Promise<void> {
  while (nextIn(turns.script) !== null && !isTurnOf(turns, job)) await moved(turns)
}

/** Resolves once a cancelled job knows of it: what it records until then, it recorded before. */
export async function aware(turns: Turns, job: string): Promise<void> {
  const isUnaware = () => {
    const next = nextOfJob(turns.script, job)
    return next !== null && !isOfCancel(next)
  }
  while (nextIn(turns.script) !== null && isUnaware()) await moved(turns)
}

/** Notes the number of an entry that may be refused. */
export function noteNumber({ numbers }: Turns, { job, epoch, appendNo }: Entry): void {
  if (appendNo > numberBefore(1)) numbers.set(`${job} ${epoch}`, appendNo)
}

/** Whether the next entry is one that this job records by itself. */
function isTurnOf(turns: Turns, job: string): boolean {
  const next = nextIn(turns.script)
  return next !== null && next.job === job && !isBrought(turns.script, next) && !isAnswer(turns, next)
}

/** Whether an entry is what a model or a tool under way gave. */
export function isAnswer({ jobs, pending: { replies, tools } }: Turns, entry: Entry): boolean {
  const { type, kind, place } = entry
  if (type === 'end' && kind === 'model') return true
  const job = jobs.get(entry.job)
  if (job !== undefined && (job.lifecycle.failure !== null || job.run?.cancelled === true)) return false
  if (replies.has(place.call) && isOfModel(entry)) return true
  return tools.has((type === 'start' && kind === 'agent' ? place.parentCall : place.call) ?? '')
}

function mayGoOn(turns: Turns, job: PacedJob): boolean {
  const { script } = turns
  const { id } = job.identity
  if (script.difference !== null) return true
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  const next = nextIn(script)
  switch (decided.kind) {
    case 'busy':
      return true
    case 'stop':
      return next !== null && next.job === id && !isBrought(script, next)
    case 'wait':
      return parksNow(turns, job)
    case 'finish':
      return isTurnOf(turns, id) && seesAll(turns, job) && skipped(turns, job)
    default:
      if (!decided.work.every((work) => isQuiet(script, work))) return isTurnOf(turns, id)
      return decided.work.every((work) => readsRight(script, work))
  }
}

/** A run parks without an entry: the epoch of its next entry says whether it did. */
function parksNow(turns: Turns, { identity: { id, epoch }, run }: PacedJob): boolean {
  if (run.grant !== null) return isTurnOf(turns, id)
  return epochOf(turns.script, id) > epoch || nextOfJob(turns.script, id) === null
}

/** The end of a task is refused if anything was stored since its process last looked. */
function seesAll({ script }: Turns, { run, log }: PacedJob): boolean {
  return run.grant === null || log.state.seq >= script.at
}

/** Uses up the numbers of an end that was refused, since something had arrived, and made again: nothing else is left of it. */
function skipped({ script, woken, numbers }: Turns, { identity: { id, epoch }, writer, log, run }: PacedJob): true {
  const next = nextIn(script)
  if (next === null || next.epoch !== epoch || woken.get(id) === true) return true
  const body = { taskId: log.state.id, status: 'running' } as const
  const last = numbers.get(`${id} ${epoch}`) ?? numberBefore(epoch)
  for (let number = last + 1; number < next.appendNo; number += 1)
    writer.outbox.make(next.at, run.root.place, { type: 'task', kind: null, body })
  return true
}

/** Whether work records nothing before a model or a tool has answered. */
function isQuiet(script: Script, work: Work): boolean {
  if (work.kind !== 'think' && work.kind !== 'act') return false
  const entry = nextOfCall(script, work.kind === 'think' ? work.call.place.call : work.id)
  if (entry === null) return true
  if (work.kind === 'act') return entry.type !== 'error' || !atOnce.has(entry.body.code)
  if (entry.type === 'notice') return isOfModel(entry)
  const isOver = entry.kind === 'agent' && entry.type !== 'start'
  return !isOver || failureWords(entry.body as ErrorBody) !== null || endCodeOf(script, entry.job) !== 'BUDGET_EXCEEDED'
}

/** Errors of a tool call that is not made. */
const atOnce: ReadonlySet<string> = new Set(['BUDGET_EXCEEDED', 'OUTCOME_UNKNOWN'])

/** Whether a model call now would read as many messages as the log says it did. */
function readsRight(script: Script, work: Work): boolean {
  if (work.kind !== 'think') return true
  return takenAhead(script, work.call.place.call) <= work.call.document.inbox.length
}

/** Whether an entry comes of a model call that is under way: what its adapter says of it, or how it failed. */
function isOfModel({ type, kind, body }: Entry): boolean {
  if (type === 'error' && kind === 'agent') return failureWords(body) !== null
  return type === 'notice' && (body.code === 'USAGE_INCOMPLETE' || toldCodes.has(body.code))
}

/** Whether a job records this because it was cancelled. */
function isOfCancel({ type, kind, body }: Entry): boolean {
  if (type === 'task' || type === 'resolved') return true
  if (type === 'notice') return body.code === 'USAGE_INCOMPLETE' || body.code === 'PROTOCOL_UNFINISHED'
  if (type === 'error') return body.code === 'RUN_CANCELLED'
  return type === 'end' && kind === 'agent' && body.finishReason === 'cancelled'
}
