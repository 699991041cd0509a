/** Looks ahead in the log: what the calls and jobs at work do next, and when. */
import type { AgentStartBody, Entry, ModelErrorBody } from '@witan/protocol/entries'
import { acceptedEntries } from '../job/writer.ts'
import { readJson } from '@witan/protocol/schemas'
import { firstDifference } from './difference.ts'
import { toldCodes } from './outcomes.ts'
import { ahead, aheadOfCall, aheadOfJob, nextIn, type FollowedLog } from './followed-log.ts'

/**
 * Whether this entry came from outside a job: a message, an answer, a cancel, the start of a run, a person who joins or leaves. Reports
 * of ended tasks, and the runs that begin with them, come from the runtime.
 */
export function isBrought({ followUps }: FollowedLog, { type, kind, appendNo, epoch, body, job }: Entry): boolean {
  if (type === 'participant') return true
  if (!bringable.has(type) && (type !== 'start' || kind !== 'agent')) return false
  if (type === 'message' && body.tasks !== undefined && appendNo < 0) return false
  return appendNo < 0 || (appendNo <= acceptedEntries && epoch <= 1 && !followUps.has(job))
}

/** What a request can bring, beside the start of a run. Anything else in an export is compared with what the engine records. */
const bringable: ReadonlySet<Entry['type']> = new Set(['message', 'resolved', 'cancel', 'notice'])

/** A job in one epoch. */
interface Owned {
  readonly job: string
  readonly epoch: number
}

/**
 * The attempt of a job in an epoch if it begins there by reporting a lost worker: 2 after one loss. Null otherwise. A task that had not
 * begun records its status `running` first.
 */
export function attemptAhead(followed: FollowedLog, { job, epoch }: Owned): number | null {
  for (const { type, body, epoch: at } of aheadOfJob(followed, job)) {
    if (at !== epoch) return null
    if (type === 'task' && body.status === 'running') continue
    return type === 'notice' && body.code === 'RUN_RECOVERED' ? body.attempt : null
  }
  return null
}

/** Whether a process takes a job up again that it had let go: it notes first which model calls it had under way. */
export function isTakenUpAgain(followed: FollowedLog, { job, epoch }: Owned): boolean {
  const next = nextIn(followed)
  if (next === null || next.job !== job || next.epoch !== epoch || epoch === 1) return false
  return next.type === 'error' && next.kind === 'model' && isUnasked(next.body)
}

function isUnasked({ code, behind }: ModelErrorBody): boolean {
  return code === 'MODEL_CALL_LOST' && behind === undefined
}

/** The next entry that a job records; null if there is none. */
export function nextOfJob(followed: FollowedLog, job: string): Entry | null {
  for (const entry of aheadOfJob(followed, job)) return entry
  return null
}

/** The next entry of a call; null if there is none. */
export function nextOfCall(followed: FollowedLog, call: string): Entry | null {
  for (const entry of aheadOfCall(followed, call)) return entry
  return null
}

/** Whether an entry is the error of a tool call that is not made. */
export function isNotMade({ type, kind, body }: Entry): boolean {
  return type === 'error' && kind === 'tool' && (body.code === 'BUDGET_EXCEEDED' || body.code === 'OUTCOME_UNKNOWN')
}

/** Whether an entry is what the adapter of a model says of a call that is under way. */
export function isOfModel({ type, body }: Entry): boolean {
  return type === 'notice' && (body.code === 'USAGE_INCOMPLETE' || toldCodes.has(body.code))
}

/** Whether an entry only closes what a job has begun, since it was cancelled or has failed. */
export function isClosing({ type, kind, place, body }: Entry, job: string): boolean {
  if (type === 'resolved') return true
  if (type === 'notice' && body.code === 'GUARDRAIL_HIT') return body.decision?.closes === true
  if (type === 'notice') return body.code === 'USAGE_INCOMPLETE' || body.code === 'PROTOCOL_UNFINISHED'
  if (type === 'task') return place.call === job && endedAs.has(body.status)
  if (type === 'error' && kind === 'model') return body.code === 'MODEL_CALL_LOST'
  if (type === 'error') return body.code === 'RUN_CANCELLED' || (kind === 'agent' && place.call === job)
  return type === 'end' && kind === 'agent' && body.finishReason === 'cancelled'
}

const endedAs: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** Whether the next call of an agent elsewhere that is waited for has a part of the budget, or is refused for want of one. */
export function sharesAhead(followed: FollowedLog, remote: string): boolean {
  for (const { type, kind, body } of ahead(followed)) {
    if (type === 'error' && kind === 'tool' && body.code === 'BUDGET_EXCEEDED') return true
    const isCall = type === 'start' && kind === 'agent' && body.remote === remote && body.background === undefined
    if (isCall) return body.share !== undefined
  }
  return false
}

/** The next start of a run; null if there is none. */
export function nextRunStart(followed: FollowedLog): AgentStartBody | null {
  for (const { type, kind, place, body } of ahead(followed))
    if (type === 'start' && kind === 'agent' && place.call === place.run) return body
  return null
}

/** Whether the log notes the request of a call as lost: before the reply or the end of that call, and right behind the error of the request. */
export function isLostAhead(followed: FollowedLog, call: string): boolean {
  let last: number | null = null
  let hasFailed = false
  for (const { type, kind, body, epoch } of aheadOfCall(followed, call)) {
    last ??= epoch
    if (epoch > last) return false
    if (type === 'notice' && body.code === 'USAGE_INCOMPLETE') return true
    if (hasFailed || (kind === 'agent' && type !== 'start')) return false
    if (kind !== 'model' || body.purpose === 'progress') continue
    if (type === 'end') return false
    hasFailed = true
  }
  return false
}

/** A tool call of an agent's call, before it starts. */
interface Attempted {
  readonly caller: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The error with which a tool refused the arguments of a call, as the log says; null if it took them. */
export function refusalAhead(followed: FollowedLog, { caller, tool, args }: Attempted): string | null {
  const refused = new Set<string>()
  for (const { type, kind, place, body } of ahead(followed)) {
    if (type === 'start' && kind === 'tool' && place.parentCall === caller && body.name === tool) {
      if (isPartOf(args, body.arguments)) refused.add(place.call)
    } else if (refused.has(place.call)) {
      return type === 'error' && kind === 'tool' && body.code === 'TOOL_ARGS_INVALID' ? body.detail : null
    }
    // The calls behind the next reply belong to another step.
    if (place.call === caller && type === 'end' && (kind === 'model' || kind === 'agent')) return null
  }
  return null
}

function isPartOf(args: Readonly<Record<string, unknown>>, raw: unknown): boolean {
  const all = typeof raw === 'string' ? parsed(raw) : raw
  if (typeof all !== 'object' || all === null) return false
  const known = all as Readonly<Record<string, unknown>>
  return Object.keys(args).every((name) => firstDifference(args[name], known[name]) === null)
}

/** The log keeps refused arguments as the model wrote them. */
function parsed(text: string): unknown {
  if (text.trim() === '') return {}
  const read = readJson(text)
  return read.ok ? read.value : null
}
