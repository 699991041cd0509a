/** Follows a log: at each entry the engine gets what the log has from outside, or does the step that the log has there. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, problem } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { allowModelCall } from '../budget/budget.ts'
import { abortAll, failRun, type Job } from '../job/job.ts'
import { endAllModelCalls } from '../job/lost-calls.ts'
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import { circumstances } from '../job/task.ts'
import { ModelCallError } from '../model/model.ts'
import { decide, mayAct, mayThink, type Next, type Work } from '../run/decide.ts'
import { isReady, recordWork, startWork } from '../run/perform.ts'
import { finish, park } from '../run/settle.ts'
import { toolsOf } from '../run/caller.ts'
import { type Engine, foldNext, forget, jobIn, logOf, numberNext, type Writing, writingAt } from './engine.ts'
import type { ModelEntry } from './folds.ts'
import { give, isOfModel, notMade } from './give.ts'
import { isBrought, isClosing, nextOfCall, nextOfJob } from './lookahead.ts'
import { ahead, aheadOfCall, aheadOfJob, nextIn, type FollowedLog, stopFollowing, takeEntry } from './followed-log.ts'

/** Brings the log to its next entry, or notes where it stops. */
export async function step(engine: Engine): Promise<void> {
  const { followed } = engine
  const at = followed.came.length
  engine.ids.takeBack()
  const writing = writingAt(engine, at)
  await readOn(engine, writing)
  if (!hasMoved(engine, at)) {
    const next = nextIn(followed) as Entry
    if (isBrought(followed, next)) bring(engine, writing, next)
    else if (!(await goOn(engine, writing, next))) stopFollowing(followed)
  }
  noteFolded(engine, at)
}

/** Lets the process of the next entry read what it had read of others by then, and ask what it had asked. */
async function readOn(engine: Engine, writing: Writing): Promise<void> {
  const { followed } = engine
  const at = followed.came.length
  const { order } = writing.fold
  for (;;) {
    await askModels(engine, writing)
    if (hasMoved(engine, at) || order[writing.at] === at || writing.at >= order.length) return
    foldNext(engine, writing)
  }
}

/** Their process has folded the entries that came since `from`. */
function noteFolded(engine: Engine, from: number): void {
  for (let index = from; index < engine.followed.came.length; index += 1) {
    const writing = writingAt(engine, index)
    writing.at = Math.max(writing.at, (engine.followed.written[index]?.place ?? 0) + 1)
  }
}

function hasMoved({ followed }: Engine, at: number): boolean {
  return followed.came.length !== at || followed.difference !== null
}

/**
 * How often the event loop turns before the engine counts as idle, and how often a replay then looks, 2 ms apart, for what runs outside of it, such
 * as a digest. A clock would run out on a machine that does other things.
 */
const idleTurns = 6
const looks = 400

/** Lets what is under way go on until the log has moved from `at`, or `isDone`. False if neither happens. */
async function until(engine: Engine, at: number, isDone: () => boolean = () => false): Promise<boolean> {
  const isOver = () => hasMoved(engine, at) || isDone()
  for (let turn = 0; turn < idleTurns; turn += 1) {
    if (isOver()) return true
    await nextTurn()
  }
  for (let look = 0; look < looks; look += 1) {
    if (isOver()) return true
    await sleep(2)
  }
  return isOver()
}

/** Takes what came from outside, as it is. */
function bring({ followed }: Engine, { log }: Writing, entry: Entry): void {
  takeEntry(followed, entry)
  log?.sync.apply(entry)
}

/** Asks each model whose request stands here in the fold of its process, or stood before. A job that sees a cancel next asks nothing more. */
async function askModels(engine: Engine, writing: Writing): Promise<void> {
  const { followed } = engine
  const at = followed.came.length
  const { fold } = writing
  const next = followed.entries[fold.order[writing.at] ?? at]
  for (; writing.dueUpTo < writing.at; writing.dueUpTo += 1)
    writing.due.push(...(fold.requests.get(writing.dueUpTo + 1) ?? []))
  writing.due = writing.due.filter(({ seq }) => seq > at)
  for (const outcome of writing.due) {
    await askModel(engine, writing, outcome)
    if (hasMoved(engine, at)) return
  }
  for (const job of engine.jobs.values()) if (job.log === writing.log) startAskingTools(engine, job)
  if (next?.type === 'cancel') await startLastTools(engine, writing, next)
}

/** Starts the tools that a job begins before it sees a cancel, and that still record something. */
async function startLastTools(engine: Engine, { log }: Writing, { job: id }: Entry): Promise<void> {
  const { jobs, followed } = engine
  const job = jobs.get(id)
  if (job?.run == null || job.log !== log || isStopped(job)) return
  for (const entry of aheadOfJob(followed, id)) {
    if (entry.epoch > job.identity.epoch) return
    if (!isClosing(entry, id)) await startTool(engine, job, entry)
  }
}

async function askModel(engine: Engine, writing: Writing, outcome: ModelEntry): Promise<void> {
  const { followed, jobs } = engine
  const at = followed.came.length
  const isHere = jobs.get(outcome.job)?.identity.epoch === outcome.epoch
  // Its job or its call records something first: that entry comes later in the log, and the model is asked behind it.
  if (!isHere && beginsWithEntry(nextOfJob(followed, outcome.job))) return
  if (isPrelude(nextOfCall(followed, outcome.place.call))) return
  const job = jobIn(engine, outcome, logOf(engine, writing))
  const call = job?.run.calls.get(outcome.place.call)
  if (hasMoved(engine, at) || job === null || call === undefined || !mayThink(call, job.busy) || isStopped(job)) return
  await start(engine, job, { kind: 'think', call })
}

/** Whether a job begins an epoch by recording something: that it runs, or that a worker was lost. */
function beginsWithEntry(entry: Entry | null): boolean {
  if (entry?.type === 'task') return entry.body.status === 'running'
  return entry?.type === 'notice' && entry.body.code === 'RUN_RECOVERED'
}

/** Whether an entry is recorded on the way to a request. */
function isPrelude(entry: Entry | null): boolean {
  return entry?.type === 'summary' || (entry?.type === 'notice' && !isOfModel(entry))
}

/** Starts a model call or a tool, and waits until it waits for the log, has recorded something, or is over. */
async function start(engine: Engine, job: Job, work: Work & { readonly kind: 'think' | 'act' }): Promise<boolean> {
  const { replies, tools } = engine.pending
  const id = work.kind === 'think' ? work.call.place.call : work.id
  const at = engine.followed.came.length
  startWork(work, job)
  return until(engine, at, () => replies.has(id) || tools.has(id) || !job.busy.has(id))
}

/** Tools that ask models themselves count in the budget while they are under way. */
function startAskingTools(engine: Engine, job: Job): void {
  if (job.run === null || ![...job.run.toolCalls.values()].some((one) => asksModels(engine, job, one))) return
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  if (decided.kind !== 'work') return
  for (const work of decided.work)
    if (work.kind === 'act' && asksModels(engine, job, work.toolCall) && isAllowed(job, work.toolCall))
      startWork(work, job)
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
  return next?.type !== 'error' || next.kind !== 'tool' || !notMade.has(next.body.code)
}

/** Goes on with the job of the next entry. True if the log has moved. */
async function goOn(engine: Engine, writing: Writing, next: Entry): Promise<boolean> {
  const at = engine.followed.came.length
  const job = jobIn(engine, next, logOf(engine, writing))
  if (hasMoved(engine, at)) return true
  if (job === null || job.identity.epoch !== next.epoch) return false
  await startTool(engine, job, next)
  if (hasMoved(engine, at)) return true
  const underWay = job.busy.size
  if (!(await give(engine, next))) return doNext(engine, job, next)
  // What ends a job leaves no entry of its own before that of its end. A job that was stopped before still records what it gets.
  await until(engine, at, () => isStopped(job) && job.busy.size < underWay)
  return hasMoved(engine, at) || (isStopped(job) && doNext(engine, job, next))
}

function isStopped({ run, lifecycle }: Job): boolean {
  return run.cancelled || lifecycle.failure !== null
}

/** Starts the tool whose outcome comes next. */
async function startTool(engine: Engine, job: Job, next: Entry): Promise<void> {
  const id = toolOf(engine, next)
  const toolCall = job.run.toolCalls.get(id)
  if (toolCall === undefined || isStopped(job) || !mayAct(toolCall, job.busy)) return
  await start(engine, job, { kind: 'act', toolCall, id })
}

/** The tool call that an entry comes from. What one records of its own model calls stands before its end. */
function toolOf({ followed }: Engine, { type, kind, place, body, job }: Entry): string {
  if (type === 'start' && kind === 'agent') return place.parentCall ?? ''
  if (type !== 'notice' || body.code !== 'USAGE_INCOMPLETE') return place.call
  for (const one of aheadOfJob(followed, job)) if (one.kind === 'tool' && one.type !== 'start') return one.place.call
  return place.call
}

/** Does the step of a job that records the next entry. True if the log has moved. */
async function doNext(engine: Engine, job: Job, next: Entry): Promise<boolean> {
  const { followed } = engine
  const at = followed.came.length
  engine.ids.takeBack()
  const call = job.run.calls.get(next.place.call)
  const think = call === undefined || !mayThink(call, job.busy) ? null : { kind: 'think' as const, call }
  if (think !== null && isRefused(next)) {
    startRefused(engine, job)
    return until(engine, at)
  }
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  if (decided.kind === 'stop') {
    abortAll(job, job.lifecycle.failure ?? 'cancelled')
    await until(engine, at, () => job.busy.size === 0)
    return hasMoved(engine, at) || (job.busy.size === 0 && doNext(engine, job, next))
  }
  if (decided.kind === 'finish' || (decided.kind === 'wait' && next.type === 'task')) {
    numberNext(followed)(job)
    const result = await (decided.kind === 'finish' ? finish(job) : park(job))
    if (result !== null) forget(engine, job)
    return hasMoved(engine, at)
  }
  const short = shortIn(decided)
  if (short.length > 0) {
    for (const work of short) {
      if (hasMoved(engine, at) && !isOwn(engine, job)) break
      while (!isReady(work, job)) await nextTurn()
      recordWork(work, job)
    }
    return hasMoved(engine, at) || (isStopped(job) && doNext(engine, job, next))
  }
  if (stopAsLogged(engine, job, next)) return hasMoved(engine, at) || doNext(engine, job, next)
  if (think !== null) await start(engine, job, think)
  return until(engine, at)
}

/** Asks all models that were to be asked at once, and that the budget had nothing for. Only then the others learn that the run has failed. */
function startRefused({ followed }: Engine, job: Job): void {
  const refused: AgentCall[] = []
  for (const entry of ahead(followed)) {
    const call = job.run.calls.get(entry.place.call)
    if (!isRefused(entry) || call === undefined || !mayThink(call, job.busy)) break
    refused.push(call)
  }
  for (const call of refused) startWork({ kind: 'think', call }, job)
}

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
  return next.kind === 'work' ? next.work.filter(({ kind }) => kind !== 'think' && kind !== 'act') : []
}

/** Stops a job where the log has it stopped by something that leaves no entry: the time of a model call, that of the run, or its process. */
function stopAsLogged({ followed }: Engine, job: Job, next: Entry): boolean {
  if (next.type === 'notice' || !isClosing(next, job.identity.id) || isStopped(job)) return false
  if (isLost(next) && isLeft(followed, next)) {
    endAllModelCalls(job)
    return true
  }
  const under = job.busy.get(next.place.call)
  if (isLost(next) && isOverTime(followed, next) && under !== undefined) {
    under.abort(new ModelCallError(next.body.detail, { retryable: false }))
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
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  const [short] = shortIn(decided)
  if (decided.kind === 'finish') await finish(job)
  else if (short !== undefined) {
    while (!isReady(short, job)) await nextTurn()
    recordWork(short, job)
  }
  stopFollowing(followed)
}
