/** Decides when a job of a replay may go on: no earlier and no later than the log says it did. */
import type { Problem } from '@witan/protocol'
import type { Entry, ErrorBody } from '@witan/protocol/entries'
import { liveJob } from '../conversation/state.ts'
import { spend } from '../budget/budget.ts'
import type { PacedJob } from '../job/environment.ts'
import type { Job } from '../job/job.ts'
import { circumstances } from '../job/task.ts'
import { refusalOf, termsOf } from '../run/asking.ts'
import { toolsOf } from '../run/caller.ts'
import { decide, type Work } from '../run/decide.ts'
import { isCutOff, isUnseen, leftToLose } from './arrivals.ts'
import { attemptAhead, failureAhead, isBrought, isClosing, nextOfJob, onlyCloses, replyAhead } from './lookahead.ts'
import { failureWords, toldCodes } from './outcomes.ts'
import type { Pending } from './pending.ts'
import type { Plan } from './plan.ts'
import { aheadOfCall, aheadOfJob, isStored, nextIn, numberAhead, type Script } from './script.ts'

/** The turns of the jobs of a replay, and what waits for the log to go on. */
export interface Turns {
  readonly script: Script
  readonly pending: Pending
  /** The jobs at work. */
  readonly jobs: Map<string, PacedJob>
  /** Counts decisions, so that a caller sees whether anything happened. */
  count: number
  /** A job that may go on although the log does not show why. */
  forced: string | null
  /** Appends whose report is held, as the plan of the replay says. */
  readonly holds: Plan['holds']
  /** The positions at which no model is asked and no tool is called, as the plan says. */
  readonly pauses: Plan['pauses']
  /** The positions behind the stored appends with entries that were not folded before, such as the end of a job. */
  readonly stored: number[]
  /** The appends whose reports are held, with the jobs that do not see yet what was brought to them. */
  readonly arriving: Set<Arrival>
  /** Set while jobs shall see what was brought to them. */
  isReleased: boolean
  /** Called with each job that decides. */
  decides: (job: string) => void
  waiting: (() => void)[]
  launches: (readonly [task: string, begin: () => void])[]
}

/** A stored append whose report is held. */
interface Arrival {
  /** Its entries for other jobs that are at work here. */
  readonly brought: readonly Entry[]
  /** Whether a job must wait for the report once this is due. */
  concerns(job: string): boolean
  isDue(): boolean
}

/** The turns of a script. */
export function createTurns(script: Script, pending: Pending, { holds, pauses }: Plan): Turns {
  const none = { count: 0, forced: null, isReleased: false, decides: () => {}, waiting: [], launches: [] }
  return { script, pending, holds, pauses, jobs: new Map(), stored: [], arriving: new Set(), ...none }
}

/** Null if the job may decide now. Else it stores what it has, and asks again once the log has moved. */
export function turnOf(turns: Turns, job: PacedJob): Promise<void> | null {
  const { id } = job.identity
  turns.jobs.set(id, job)
  const isForced = turns.forced === id
  if (isForced) turns.forced = null
  if (isForced || liveJob(job.log.state, id) === null || mayGoOn(turns, job)) {
    turns.count += 1
    turns.decides(id)
    const number = numberAhead(turns.script, job.identity)
    if (number !== null) job.writer.entries.numberFrom(number)
    return null
  }
  void job.writer.commit()
  return moved(turns)
}

/** Resolves when the log has moved, or may have. */
export function moved({ waiting }: Turns): Promise<void> {
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

/**
 * Resolves when a stored append is reported: in the order of the log, and what was brought to jobs at work once the log shows that they see it.
 * What a job recorded before it saw that is stored behind it. `isNews`: the append has entries that are folded only now.
 */
export async function arrived(
  turns: Turns,
  { brought, isNews }: { readonly brought: readonly Entry[]; readonly isNews: boolean },
): Promise<void> {
  const { script, arriving, holds, stored } = turns
  const earlier = [...arriving]
  const until = holds.get(script.at) ?? 0
  if (isNews && script.difference === null) stored.push(script.at)
  if (brought.length > 0 || until > 0) {
    const isDue = () => {
      if (turns.isReleased || nextIn(script) === null) return true
      return script.at >= until && !brought.some((entry) => isUnseen(turns, entry))
    }
    const jobs = new Set(brought.map(({ job }) => job))
    const arrival = { brought, concerns: (job: string) => until > 0 || jobs.has(job), isDue }
    arriving.add(arrival)
    while (!isDue()) await moved(turns)
    setImmediate(() => arriving.delete(arrival))
  }
  while (earlier.some((one) => arriving.has(one))) await moved(turns)
}

/** Resolves when a job may know that all it recorded is stored: if it ends next, it has waited for that, and ends once the log has its end next. */
export async function beforeEnd(turns: Turns, id: string): Promise<void> {
  const job = turns.jobs.get(id)
  const next = nextOfJob(turns.script, id)
  if (job === undefined || next === null || job.busy.size > 0 || next.epoch !== job.identity.epoch) return
  const isEnd = next.kind === 'agent' && next.type !== 'start'
  if (!isEnd && (next.type !== 'notice' || next.body.code !== 'PROTOCOL_UNFINISHED')) return
  while (!turns.isReleased && nextIn(turns.script) !== null && !isTurnOf(turns, job.identity)) await moved(turns)
}

/** Whether the next entry is one that this job records by itself, in this epoch: what a later owner records is not its own. */
export function isTurnOf(turns: Turns, { id, epoch }: { readonly id: string; readonly epoch: number }): boolean {
  const next = nextIn(turns.script)
  if (next === null || next.job !== id || next.epoch !== epoch) return false
  return !isBrought(turns.script, next) && !isAnswer(turns, next)
}

/** Whether an entry is what a model or a tool under way gave. */
export function isAnswer({ script, jobs, pending: { replies, tools } }: Turns, entry: Entry): boolean {
  const { type, kind, place, body } = entry
  if (type === 'end' && kind === 'model') return true
  const job = jobs.get(entry.job)
  const isEnding = job !== undefined && (job.lifecycle.failure !== null || job.run?.cancelled === true)
  if (isEnding && isClosing(entry, entry.job)) return false
  if (replies.has(place.call) && isOfModel(entry)) return true
  if (type === 'notice' && body.code === 'USAGE_INCOMPLETE')
    return isUnderWay(tools, place.call) && !isRefusedNext(script, entry)
  return tools.has((type === 'start' && kind === 'agent' ? place.parentCall : place.call) ?? '')
}

/** Whether a tool of this agent's call asks a model. */
function isUnderWay(tools: Pending['tools'], agent: string): boolean {
  return [...tools.values()].some(({ owner, context }) => owner === agent && context.state !== undefined)
}

/** Whether the tool call that ends next in the job of an entry is one that is not made. */
function isRefusedNext(script: Script, { job, epoch }: Entry): boolean {
  for (const entry of aheadOfJob(script, job)) {
    if (entry.epoch !== epoch) return false
    if (entry.kind === 'tool' && entry.type !== 'start') return entry.type === 'error' && atOnce.has(entry.body.code)
  }
  return false
}

function mayGoOn(turns: Turns, job: PacedJob): boolean {
  const { script } = turns
  const { id, epoch } = job.identity
  if (script.difference !== null || script.isOpen) return true
  for (const arrival of turns.arriving) if (arrival.isDue() && arrival.concerns(id)) return false
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  switch (decided.kind) {
    case 'busy':
      return true
    case 'wait':
      return parksNow(turns, job)
    case 'stop':
      return isTurnOf(turns, job.identity)
    case 'finish':
      // An end wakes others; the log shows nothing of a park before it.
      return isTurnOf(turns, job.identity) && !doesOnePark(turns, [...turns.jobs.keys()])
    default:
      // What it did until its process died was not stored.
      if ((nextOfJob(script, id)?.epoch ?? epoch) > epoch) return false
      if (!decided.work.every(({ kind }) => kind === 'think' || kind === 'act')) return isTurnOf(turns, job.identity)
      return startsNow(turns, job, decided.work)
  }
}

/** Whether models are asked and tools are called now, as far as the log shows. */
function startsNow(turns: Turns, job: PacedJob, all: readonly Work[]): boolean {
  if (!all.every((work) => isQuiet(turns.script, work, job))) return isTurnOf(turns, job.identity)
  if (turns.pauses.has(turns.script.at)) return false
  const begun: Begun = { thinking: 0, offering: 0, lost: 0 }
  return all.every((work) => {
    if (work.kind === 'think') return asksRight(turns, work, { job, begun })
    return work.kind !== 'act' || isAllowed(turns, work, { job, begun })
  })
}

/** Whether the budget allows the model calls of a tool now, if it makes any and is not cut off. While the tool runs, it counts them. */
function isAllowed(
  { script }: Turns,
  { id, slot: { owner, name } }: Work & { readonly kind: 'act' },
  { job, begun }: { readonly job: PacedJob; readonly begun: Begun },
): boolean {
  const tool = toolsOf(owner, job as Job).toolset.get(name)
  const calls = tool === undefined || tool.immediate ? 0 : (tool.modelCalls ?? 0)
  if (calls === 0) return true
  begun.thinking += calls
  const end = nextOfItsOwn(script, id, job.identity.epoch)
  if (end !== null && isClosing(end, end.job)) return true
  const now = circumstances(job as Job)
  return spend(job.run, owner, { ...now, thinking: now.thinking + begun.thinking }).kind !== 'refused'
}

/** What begins with a model call or a tool in one go: model calls, those that are offered tools, and those that get no reply. */
interface Begun {
  thinking: number
  offering: number
  lost: number
}

/** Whether a job waits, and its next entry shows that it parks before anything wakes it. */
function isParking(turns: Turns, id: string): boolean {
  const job = turns.jobs.get(id)
  if (job === undefined || turns.isReleased || liveJob(job.log.state, id) === null || job.run.grant !== null)
    return false
  const { kind } = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  return kind === 'wait' && nextOfJob(turns.script, id) !== null && parksNow(turns, job)
}

/** Whether one of these jobs is at work here and parks before anything wakes it. */
export function doesOnePark(turns: Turns, ids: readonly string[]): boolean {
  return ids.some((id) => {
    const job = turns.jobs.get(id)
    return job !== undefined && job.log.watchers.get(id)?.epoch === job.identity.epoch && isParking(turns, id)
  })
}

/** A run parks without an entry: the epoch of its next entry says whether it did. Each lost worker took one epoch, and each request one. */
function parksNow(turns: Turns, job: PacedJob): boolean {
  const { id, epoch } = job.identity
  if (job.run.grant !== null) return isTurnOf(turns, job.identity)
  // What it recorded is stored first: others that end meanwhile wait for a job that parks.
  if (!isStored(turns.script, id)) return false
  const next = nextOfJob(turns.script, id)
  if (next === null) return true
  const lost = (attemptAhead(turns.script, id) ?? 1) - 1
  return next.epoch - epoch > lost
}

/** Whether work records nothing before a model or a tool has answered. */
function isQuiet(script: Script, work: Work, job: PacedJob): boolean {
  if (work.kind !== 'think' && work.kind !== 'act') return false
  const entry = nextOfItsOwn(script, work.kind === 'think' ? work.call.place.call : work.id, job.identity.epoch)
  if (entry === null) return true
  if (work.kind === 'act') return entry.type !== 'error' || !atOnce.has(entry.body.code)
  if (entry.type === 'notice' && !isClosing(entry, entry.job)) return isOfModel(entry)
  const isOver = entry.kind === 'agent' && entry.type !== 'start'
  if (!isOver || failureWords(entry.body as ErrorBody) !== null) return true
  return failureAhead(script, entry.job)?.code !== 'BUDGET_EXCEEDED' || isRefused(script, job)
}

/**
 * The next entry that the owner in this epoch records of a call; null if there is none. A notice that the next owner records counts: this one had
 * recorded it too, and it was lost. `USAGE_INCOMPLETE` does not: the next owner says it of this one.
 */
function nextOfItsOwn(script: Script, call: string, epoch: number): Entry | null {
  for (const entry of aheadOfCall(script, call)) {
    if (entry.epoch === epoch) return entry
    if (entry.type !== 'notice') return null
    if (entry.body.code !== 'USAGE_INCOMPLETE') return entry
  }
  return null
}

/** Errors of a tool call that is not made. */
const atOnce: ReadonlySet<string> = new Set(['BUDGET_EXCEEDED', 'OUTCOME_UNKNOWN'])

/** Whether a model call now, after those `begun` with it, would read as many messages and be offered tools as the log says it was. */
function asksRight(
  turns: Turns,
  { call }: Work & { readonly kind: 'think' },
  { job, begun }: { readonly job: PacedJob; readonly begun: Begun },
): boolean {
  const { script } = turns
  const asked = { call: call.place.call, epoch: job.identity.epoch }
  const reply = replyAhead(script, asked)
  const now = circumstances(job as Job)
  const at = { ...now, thinking: now.thinking + 1 + begun.thinking, offering: now.offering + begun.offering }
  const { allowance, isToolless } = termsOf(call, job as Job, at)
  begun.thinking += 1
  if (allowance.kind === 'tools' && !isToolless) begun.offering += 1
  if (reply === null) {
    if (!isCutOff(script, asked)) return allowance.kind !== 'refused'
    if (allowance.kind === 'refused') return failsWith(script, job, refusalOf(allowance, job as Job))
    begun.lost += 1
    return (leftToLose(turns, job) ?? begun.lost) >= begun.lost
  }
  if (reply.taken > call.document.inbox.length || allowance.kind === 'refused') return false
  return call.final !== null || (allowance.kind === 'tools') === (reply.finishReason !== 'iteration_limit')
}

/** Whether a job fails with this in the end. A refusal says what was spent, which shows which ends of tasks the job had seen. */
function failsWith(script: Script, { identity: { id } }: PacedJob, { detail }: Problem): boolean {
  return failureAhead(script, id)?.detail === detail
}

/** Whether an entry comes of a model call that is under way: what its adapter says of it, or how it failed. */
function isOfModel({ type, kind, body }: Entry): boolean {
  if (type === 'error' && kind === 'agent') return failureWords(body) !== null
  return type === 'notice' && (body.code === 'USAGE_INCOMPLETE' || toldCodes.has(body.code))
}

/** Whether the budget refuses a model call now. That fails the run at once: it only closes what it has begun. */
function isRefused(script: Script, { identity: { id } }: PacedJob): boolean {
  return failureAhead(script, id)?.code === 'BUDGET_EXCEEDED' && onlyCloses(script, id)
}
