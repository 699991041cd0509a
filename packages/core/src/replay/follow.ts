/** Follows a log: at each entry the engine gets what the log has from outside, or does the step that the log has there. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ErrorCode, problem } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { allowModelCall } from '../budget/budget.ts'
import { abortAll, failRun, type Job, underway } from '../job/job.ts'
import { endAllModelCalls } from '../job/lost-calls.ts'
import { decisionOf } from '../hook/decision.ts'
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import { circumstances } from '../job/task.ts'
import { ModelCallError } from '../model/model.ts'
import { decide, mayAct, mayThink, type Next, type Work } from '../run/decide.ts'
import { isOutside, isReady, recordWork } from '../run/perform.ts'
import { finish, park } from '../run/settle.ts'
import { toolsOf } from '../run/caller.ts'
import { type Engine, foldNext, forget, jobIn, logOf, numberNext, type LogProcess, processAt } from './engine.ts'
import type { ModelEntry } from '../conversation/folds.ts'
import { give } from './give.ts'
import { isBrought, isClosing, isNotMade, isOfModel, nextOfCall, nextOfJob } from './lookahead.ts'
import { aheadOfCall, aheadOfJob, nextIn, type FollowedLog, stopFollowing, takeEntry } from './followed-log.ts'
import { beginThinking, endAll, endThinking, startTool, thinkOn } from './under-way.ts'

/** Brings the log to its next entry, or notes where it stops. */
export async function step(engine: Engine): Promise<void> {
  const { followed } = engine
  const at = followed.came.length
  engine.ids.takeBack()
  const process = processAt(engine, at)
  readOn(engine, process)
  if (!hasMoved(engine, at)) {
    const next = nextIn(followed) as Entry
    if (isBrought(followed, next)) bring(engine, process, next)
    else if (!(await goOn(engine, process, next))) stopFollowing(followed)
  }
  noteFolded(engine, at)
}

/** Lets the process of the next entry read what it had read of others by then, and ask what it had asked. */
function readOn(engine: Engine, process: LogProcess): void {
  const { followed } = engine
  const at = followed.came.length
  const { order } = process.fold
  for (;;) {
    askModels(engine, process)
    if (hasMoved(engine, at) || order[process.at] === at || process.at >= order.length) return
    foldNext(engine, process)
  }
}

/** Their process has folded the entries that came since `from`. */
function noteFolded(engine: Engine, from: number): void {
  for (let index = from; index < engine.followed.came.length; index += 1) {
    const process = processAt(engine, index)
    process.at = Math.max(process.at, (engine.followed.written[index]?.place ?? 0) + 1)
  }
}

function hasMoved({ followed }: Engine, at: number): boolean {
  return followed.came.length !== at || followed.difference !== null
}

/** Takes what came from outside, as it is. */
function bring({ followed }: Engine, { log }: LogProcess, entry: Entry): void {
  takeEntry(followed, entry)
  log?.sync.apply(entry)
}

/** Asks each model whose request stands here in the fold of its process, or stood before. */
function askModels(engine: Engine, process: LogProcess): void {
  const { followed } = engine
  const at = followed.came.length
  const { fold } = process
  for (; process.dueUpTo < process.at; process.dueUpTo += 1)
    process.due.push(...(fold.requests.get(process.dueUpTo + 1) ?? []))
  process.due = process.due.filter(({ seq }) => seq > at)
  for (const outcome of process.due) {
    askModel(engine, process, outcome)
    if (hasMoved(engine, at)) return
  }
  for (const job of engine.jobs.values()) if (job.log === process.log) startAskingTools(engine, job)
}

function askModel(engine: Engine, process: LogProcess, outcome: ModelEntry): void {
  const { followed, jobs } = engine
  const at = followed.came.length
  const isHere = jobs.get(outcome.job)?.identity.epoch === outcome.epoch
  // Its job or its call records something first: that entry comes later in the log, and the model is asked behind it.
  if (!isHere && beginsWithEntry(nextOfJob(followed, outcome.job))) return
  if (isPrelude(nextOfCall(followed, outcome.place.call))) return
  const job = jobIn(engine, outcome, logOf(engine, process))
  if (hasMoved(engine, at) || job === null || isStopped(job)) return
  const call = job.run.calls.get(outcome.place.call)
  if (call === undefined || !mayThinkOn(engine, job, call)) return
  beginBefore(engine, job, call)
  if (!hasMoved(engine, at)) thinkOn(engine, call, job)
}

/** Whether a call is to think, or its thinking goes on. */
function mayThinkOn({ underWay }: Engine, { busy }: Job, call: AgentCall): boolean {
  return underWay.thinkings.has(call.place.call) || mayThink(call, busy)
}

/** Whether a job begins an epoch by recording something: that it runs, or that a worker was lost. */
function beginsWithEntry(entry: Entry | null): boolean {
  if (entry?.type === 'task') return entry.body.status === 'running'
  return entry?.type === 'notice' && entry.body.code === 'RUN_RECOVERED'
}

/** Whether an entry is recorded on the way to a request. */
function isPrelude(entry: Entry | null): boolean {
  if (isDecided(entry)) return isLookedUp(entry)
  return entry?.type === 'summary' || isLookedUp(entry) || (entry?.type === 'notice' && !isOfModel(entry))
}

function isDecided(entry: Entry | null): boolean {
  return entry !== null && decisionOf(entry) !== null
}

/** Whether an entry is what was looked up for an agent, or what was decided before it was asked. */
function isLookedUp(entry: Entry | null): boolean {
  const decision = entry === null ? null : decisionOf(entry)
  if (decision !== null) return decision.at !== 'afterModel'
  return (
    entry?.type === 'retrieval' || entry?.type === 'tools' || (entry?.type === 'memory' && entry.body.op === 'read')
  )
}

/** What a job does next. The log says whose memory is looked up before. */
function decideNext({ followed }: Engine, job: Job): Next {
  const isAhead = (entry: Entry | null) =>
    (entry?.type === 'memory' && entry.body.op === 'read') ||
    (entry?.type === 'notice' && entry.body.code === 'MEMORY_WITHHELD')
  const has = (call: AgentCall) => !isAhead(nextOfCall(followed, call.place.call))
  return decide(job.run, { ...underway(job), remembered: { has } })
}

/** Tools that ask models themselves count in the budget while they are under way. */
function startAskingTools(engine: Engine, job: Job): void {
  if (job.run === null || ![...job.run.toolCalls.values()].some((one) => asksModels(engine, job, one))) return
  const decided = decideNext(engine, job)
  if (decided.kind !== 'work') return
  for (const work of decided.work)
    if (work.kind === 'act' && asksModels(engine, job, work.toolCall) && isAllowed(job, work.toolCall))
      startTool(engine.underWay, work.toolCall, job)
}

/** Whether the budget has a model call for a tool now. If not, the log has it begun later. */
function isAllowed(job: Job, { owner }: ToolCall): boolean {
  const now = circumstances(job)
  const { kind } = allowModelCall(job.run, owner, { ...now, openModelCalls: now.openModelCalls + 1 })
  return kind !== 'refused'
}

/** Whether a tool is to be run that asks a model, as the log has it. */
function asksModels({ followed }: Engine, job: Job, toolCall: ToolCall): boolean {
  if (!mayAct(toolCall, job.busy)) return false
  const tool = toolsOf(toolCall.owner, job).toolset.get(toolCall.name)
  if (tool === undefined || tool.immediate || (tool.modelCalls ?? 0) === 0) return false
  const next = nextOfCall(followed, toolCall.place?.call ?? '')
  return next === null || !isNotMade(next)
}

/** Goes on with the job of the next entry. True if the log has moved. */
async function goOn(engine: Engine, process: LogProcess, next: Entry): Promise<boolean> {
  const at = engine.followed.came.length
  const job = jobIn(engine, next, logOf(engine, process))
  if (hasMoved(engine, at)) return true
  if (job === null || job.identity.epoch !== next.epoch) return false
  return (give(engine, job, next) && hasMoved(engine, at)) || doNext(engine, job, next)
}

function isStopped({ run, lifecycle }: Job): boolean {
  return run.cancelled || lifecycle.failure !== null
}

/** Does the step of a job that records the next entry. True if the log has moved. */
async function doNext(engine: Engine, job: Job, next: Entry): Promise<boolean> {
  const { followed } = engine
  const at = followed.came.length
  engine.ids.takeBack()
  const call = job.run.calls.get(next.place.call)
  const thinks = call !== undefined && mayThinkOn(engine, job, call) ? call : null
  // Models that are asked at once are all refused before their run fails.
  if (thinks !== null && isRefused(next)) {
    beginBefore(engine, job, thinks)
    thinkOn(engine, thinks, job)
    return hasMoved(engine, at)
  }
  const decided = decideNext(engine, job)
  if (decided.kind === 'stop') return stop(engine, job, next)
  if (decided.kind === 'finish' || (decided.kind === 'wait' && next.type === 'task')) {
    numberNext(followed)(job)
    const result = await (decided.kind === 'finish' ? finish(job) : park(job))
    if (result !== null) forget(engine, job)
    return hasMoved(engine, at)
  }
  const short = dueAt(next, shortIn(decided), thinks)
  if (short.length > 0) {
    for (const work of short) {
      if (hasMoved(engine, at) && !isOwn(engine, job)) break
      while (!isReady(work, job)) await nextTurn()
      recordWork(work, job)
    }
    return hasMoved(engine, at) || (isStopped(job) && doNext(engine, job, next))
  }
  if (stopAsLogged(engine, job, next)) return hasMoved(engine, at) || doNext(engine, job, next)
  if (thinks === null) return hasMoved(engine, at)
  thinkOn(engine, thinks, job)
  // A critique without room may fail its run without an entry of its own.
  return hasMoved(engine, at) || (isStopped(job) && doNext(engine, job, next))
}

/**
 * What is begun before a call counts in its budget. Where its process died, the log has nothing more of a request: it is made here, and stays
 * under way.
 */
function beginBefore(engine: Engine, job: Job, last: AgentCall): void {
  const decided = decideNext(engine, job)
  const calls =
    decided.kind === 'work' ? decided.work.flatMap((work) => (work.kind === 'think' ? [work.call] : [])) : []
  const isAsked = !isToBeRefused(engine, last)
  // A request that is refused was not under way before that: its agent had looked into its memory, which left nothing in the log.
  for (const call of calls.slice(0, Math.max(0, calls.indexOf(last))))
    if (isAsked && isToBeRefused(engine, call)) continue
    else if (hasOutcome(engine, job, call)) beginThinking(engine.underWay, call, job)
    else thinkOn(engine, call, job)
}

/** Whether the budget has no request for a call, as the log has it next. */
function isToBeRefused({ followed }: Engine, { place }: AgentCall): boolean {
  const next = nextOfCall(followed, place.call)
  return next !== null && isRefused(next)
}

/** Whether the log has what comes of a call's thinking, in this epoch of its job. */
function hasOutcome({ followed }: Engine, { identity: { epoch } }: Job, { place }: AgentCall): boolean {
  for (const entry of aheadOfCall(followed, place.call)) return entry.epoch === epoch
  return false
}

/** Stops what a job has under way. A request that was cut off is an entry, what else is aborted leaves none. */
function stop(engine: Engine, job: Job, next: Entry): Promise<boolean> {
  const { underWay, followed } = engine
  const at = followed.came.length
  abortAll(job, job.lifecycle.failure ?? 'cancelled')
  if (isLost(next)) endThinking(underWay, next.place.call, cutOff)
  else endAll(underWay, job, cutOff)
  return hasMoved(engine, at) ? Promise.resolve(true) : doNext(engine, job, next)
}

const cutOff = { failure: 'stopped' }

/** Whether a job records the next entry, too, without having read anything of others meanwhile. */
function isOwn({ followed }: Engine, { identity: { id, epoch } }: Job): boolean {
  const next = nextIn(followed)
  const isRead = next?.view?.upTo !== undefined
  return next !== null && next.job === id && next.epoch === epoch && !isRead && !isBrought(followed, next)
}

function isRefused(entry: Entry): boolean {
  return entry.type === 'error' && entry.kind === 'model' && !entry.body.spent
}

/** Work that only records: all of it is done in one go. */
function shortIn(next: Next): Work[] {
  return next.kind === 'work' ? next.work.filter((work) => !isOutside(work)) : []
}

/**
 * Of work that only records what the log has next: hooks may have held up the rest. All of it if none says so, and none before a model's request:
 * what was not held up stands before that.
 */
function dueAt({ place }: Entry, short: readonly Work[], thinks: AgentCall | null): readonly Work[] {
  const own = short.filter((work) => 'toolCall' in work && work.toolCall?.place?.call === place.call)
  if (own.length > 0 || thinks !== null) return own
  const related = short.filter((work) => {
    const call = 'call' in work ? work.call : work.toolCall.owner
    return call.place.call === place.call || call.place.call === place.parentCall
  })
  return related.length > 0 ? related : short
}

/** Stops a job where the log has it stopped by something that leaves no entry: the time of a model call, that of the run, or its process. */
function stopAsLogged({ followed, underWay }: Engine, job: Job, next: Entry): boolean {
  if (next.type === 'notice' || !isClosing(next, job.identity.id) || isStopped(job)) return false
  if (isLost(next) && isLeft(followed, next)) {
    endAllModelCalls(job)
    return true
  }
  const under = job.busy.get(next.place.call)
  if (isLost(next) && isOverTime(followed, next) && under !== undefined) {
    under.abort(new ModelCallError(next.body.detail, { retryable: false }))
    endThinking(underWay, next.place.call, cutOff)
    return true
  }
  for (const { type, kind, place, body } of aheadOfJob(followed, job.identity.id))
    if (type === 'error' && kind === 'agent' && place.call === job.identity.id) {
      failRun(job, problem(body.code as ErrorCode, body.detail))
      return true
    }
  return false
}

type Lost = Entry & { readonly type: 'error'; readonly kind: 'model' }

function isLost(entry: Entry): entry is Lost {
  return entry.type === 'error' && entry.kind === 'model' && entry.body.code === 'MODEL_CALL_LOST'
}

/** Whether the owner of a job records nothing more of it but such calls. */
function isLeft(followed: FollowedLog, { job, epoch }: Lost): boolean {
  for (const entry of aheadOfJob(followed, job)) {
    if (entry.epoch !== epoch) return true
    if (!isLost(entry) && (entry.type !== 'notice' || entry.body.code !== 'USAGE_INCOMPLETE')) return false
  }
  return true
}

/** Whether the agent of a call fails because its model took too long. */
function isOverTime(followed: FollowedLog, { place }: Lost): boolean {
  for (const { type, kind, body } of aheadOfCall(followed, place.call))
    if (kind === 'agent' && type !== 'start') return type === 'error' && body.code === 'MODEL_CALL_FAILED'
  return false
}

/** The log has the ends of all jobs that have ended: one that is live behind it shows what it would record. */
export async function assertEnded(engine: Engine, ended: readonly string[]): Promise<void> {
  const { followed, jobs } = engine
  const job = ended.map((id) => jobs.get(id)).find((one) => one?.run != null)
  if (job === undefined) return
  const decided = decideNext(engine, job)
  const [short] = shortIn(decided)
  if (decided.kind === 'finish') await finish(job)
  else if (short !== undefined) {
    while (!isReady(short, job)) await nextTurn()
    recordWork(short, job)
  }
  stopFollowing(followed)
}
