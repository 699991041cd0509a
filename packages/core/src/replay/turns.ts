/** Decides when a job of a replay may go on: no earlier and no later than the log says it did. */
import type { Entry } from '@witan/protocol/entries'
import { liveJob } from '../conversation/state.ts'
import type { PacedJob } from '../job/environment.ts'
import { decide, type Work } from '../run/decide.ts'
import { asksBefore, isHere, isLate } from './late.ts'
import { askedAt, attemptAhead, isBrought, isClosing, type ModelEntry, nextOfJob, outcomeAhead } from './lookahead.ts'
import { toldCodes } from './outcomes.ts'
import type { Pending } from './pending.ts'
import { aheadOfCall, aheadOfJob, isStored, nextIn, numberAhead, type Script } from './script.ts'

/** The turns of the jobs of a replay, and what waits for the log to go on. */
export interface Turns {
  readonly script: Script
  readonly pending: Pending
  /** The jobs at work. */
  readonly jobs: Map<string, PacedJob>
  /** Jobs that have begun and not asked for a turn yet. */
  readonly beginning: Set<string>
  /** What another process brought, and is not folded here yet. */
  late: readonly Entry[]
  /** Counts decisions, so that a caller sees whether anything happened. */
  count: number
  /** Called with each job that decides. */
  decides: (job: string) => void
  waiting: (() => void)[]
  launches: (readonly [job: string, how: Launch])[]
}

/** How a job begins, and whether it notes that it does. */
interface Launch {
  readonly isNoted: boolean
  readonly begin: () => void
}

/** The turns of a script. */
export function createTurns(script: Script, pending: Pending): Turns {
  const none = { count: 0, decides: () => {}, waiting: [], launches: [] }
  return { script, pending, jobs: new Map(), beginning: new Set(), late: [], ...none }
}

/** Null if the job may decide now. Else it stores what it has, and asks again once the log has moved. */
export function turnOf(turns: Turns, job: PacedJob): Promise<void> | null {
  const { id } = job.identity
  turns.jobs.set(id, job)
  turns.beginning.delete(id)
  if (liveJob(job.log.state, id) === null || mayGoOn(turns, job)) {
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
  for (const [job, how] of launches) launch(turns, job, how)
}

/** Begins a job once the log says that it runs. A task that did not run notes that at its beginning; of others nothing is noted. */
export function launch(turns: Turns, job: string, { isNoted, begin }: Launch): void {
  const next = nextIn(turns.script)
  const isNext = next?.type === 'task' && next.job === job
  if (isNoted && next !== null && (!isNext || doesOneAsk(turns, null))) turns.launches.push([job, { isNoted, begin }])
  else {
    turns.beginning.add(job)
    begin()
  }
}

/** Resolves when what another process brought may be folded here. */
export async function untilSeen(turns: Turns): Promise<void> {
  const isSeen = () => turns.late.every((entry) => !isLate(turns, entry))
  while (nextIn(turns.script) !== null && !isSeen()) await moved(turns)
}

/** Resolves when a job may know that all it recorded is stored: if it ends next, it has waited for that, and ends once the log has its end next. */
export async function beforeEnd(turns: Turns, id: string): Promise<void> {
  const job = turns.jobs.get(id)
  const next = nextOfJob(turns.script, id)
  if (job === undefined || next === null || job.busy.size > 0 || next.epoch !== job.identity.epoch) return
  const isEnd = next.kind === 'agent' && next.type !== 'start'
  if (!isEnd && (next.type !== 'notice' || next.body.code !== 'PROTOCOL_UNFINISHED')) return
  while (nextIn(turns.script) !== null && !isTurnOf(turns, job.identity)) await moved(turns)
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
  if (kind === 'model') return type === 'end' || (body.spent && body.code !== 'MODEL_CALL_LOST')
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

/** Whether a job, other than this one, asks a model here, as the log shows, and has not asked yet. */
export function doesOneAsk(turns: Turns, except: string | null): boolean {
  if (turns.beginning.size > 0 && !turns.beginning.has(except ?? '')) return true
  for (const [id, job] of turns.jobs) if (id !== except && asksHere(turns, job)) return true
  return false
}

function asksHere(turns: Turns, job: PacedJob): boolean {
  const { script, pending } = turns
  const { identity, run, lifecycle } = job
  if (!isHere(job) || run.cancelled || lifecycle.failure !== null) return false
  for (const call of run.calls.values()) {
    if (!call.active || call.toolCalls.length > 0 || pending.replies.has(call.place.call)) continue
    if (!isQuiet(script, { kind: 'think', call }, job)) continue
    const outcome = outcomeAhead(script, { call: call.place.call, epoch: identity.epoch, orSummary: true })
    if (outcome !== null && isDue(turns, job, outcome) && outcome.seq > script.at + 1) return true
  }
  return false
}

function mayGoOn(turns: Turns, job: PacedJob): boolean {
  const { script } = turns
  const { id, epoch } = job.identity
  if (script.difference !== null || script.isOpen) return true
  // What is folded next may change the decision.
  if (turns.late.some((entry) => !isLate(turns, entry))) return false
  const decided = decide(job.run, { busy: job.busy, isFailing: job.lifecycle.failure !== null })
  switch (decided.kind) {
    case 'busy':
      return true
    case 'wait':
      return parksNow(turns, job) && !doesOneAsk(turns, id)
    case 'stop':
      return isTurnOf(turns, job.identity)
    case 'finish':
      if (doesOneAsk(turns, id)) return false
      // An end wakes others; the log shows nothing of a park before it.
      return isTurnOf(turns, job.identity) && !doesOnePark(turns, [...turns.jobs.keys()])
    default:
      // What it did until its process died was not stored.
      if ((nextOfJob(script, id)?.epoch ?? epoch) > epoch) return false
      if (!decided.work.every(({ kind }) => kind === 'think' || kind === 'act'))
        return isTurnOf(turns, job.identity) && !doesOneAsk(turns, id)
      return startsNow(turns, job, decided.work)
  }
}

/** Whether models are asked and tools are called now, as far as the log shows. */
function startsNow(turns: Turns, job: PacedJob, all: readonly Work[]): boolean {
  if (!all.every((work) => isQuiet(turns.script, work, job)))
    return isTurnOf(turns, job.identity) && !doesOneAsk(turns, job.identity.id)
  return isAskedNow(turns, job, all)
}

/**
 * Whether models were asked here, as the log shows: each call has its reply, or why it has none, and that says how much came since its request. A job
 * that begins several calls begins all of them at once.
 */
function isAskedNow(turns: Turns, job: PacedJob, all: readonly Work[]): boolean {
  const { script } = turns
  let [isNow, isLater] = [false, false]
  for (const work of all) {
    if (work.kind !== 'think') isNow = true
    else {
      const asked = { call: work.call.place.call, epoch: job.identity.epoch, orSummary: true as const }
      const outcome = outcomeAhead(script, asked)
      if (outcome !== null && isDue(turns, job, outcome)) isNow = true
      else if (outcome !== null) isLater = true
      else if (endsIn(script, asked)) return false
    }
  }
  return isNow || !isLater
}

/** Whether a model is asked here. */
function isDue(turns: Turns, job: PacedJob, outcome: ModelEntry): boolean {
  return askedAt(outcome) <= turns.script.at || asksBefore(turns, job)
}

/** Whether a call is over in this epoch: its model was not asked any more. */
function endsIn(script: Script, { call, epoch }: { readonly call: string; readonly epoch: number }): boolean {
  const next = aheadOfCall(script, call).next().value
  return next !== undefined && next.epoch === epoch
}

/** Whether a job waits, and its next entry shows that it parks before anything wakes it. */
function isParking(turns: Turns, id: string): boolean {
  const job = turns.jobs.get(id)
  if (job === undefined || liveJob(job.log.state, id) === null || job.run.grant !== null) return false
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
  // A history is cut before the model is asked.
  if (entry.type === 'summary') return false
  return entry.type !== 'error' || entry.kind !== 'model' || entry.body.spent
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

/** Whether an entry comes of a model call that is under way: what its adapter says of it. */
function isOfModel({ type, body }: Entry): boolean {
  return type === 'notice' && (body.code === 'USAGE_INCOMPLETE' || toldCodes.has(body.code))
}
