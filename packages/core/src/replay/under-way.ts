/** What is under way in a replay: requests to models and tools. The log says when they end, and with what. */
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import type { Job } from '../job/job.ts'
import { beginTool, reserve, type ToolRun } from '../run/act.ts'
import { endRequest, firstStep, type Outcome, type Request, takeStep, type Thinking } from '../run/thinking.ts'
import type { FollowedLog } from './followed-log.ts'
import { isLostAhead } from './lookahead.ts'

/** The thinking of an agent's call: its request under way, or the step that comes next. */
interface FollowedThinking {
  readonly thinking: Thinking
  next: Request | 'cut' | 'answer'
}

/** The calls under way, by the id of the agent's or the tool's call. */
export interface UnderWay {
  readonly thinkings: Map<string, FollowedThinking>
  readonly tools: Map<string, ToolRun>
}

/** The request of a call that is under way; null if there is none. */
export function requestOf({ thinkings }: UnderWay, call: string): Request | null {
  const next = thinkings.get(call)?.next
  return next === undefined || typeof next === 'string' ? null : next
}

/** A call begins to think. Its first step is to come. */
export function beginThinking({ thinkings }: UnderWay, call: AgentCall, job: Job): FollowedThinking {
  const id = call.place.call
  const thinking = { call, job, signal: begun(job, id).signal, refused: null }
  const known = { thinking, next: firstStep(thinking) }
  thinkings.set(id, known)
  return known
}

/** Takes the next step of a call's thinking, which may be its first: its history is cut, or its model is asked. */
export function thinkOn({ underWay, followed }: Following, call: AgentCall, job: Job): void {
  const id = call.place.call
  const known = underWay.thinkings.get(id) ?? beginThinking(underWay, call, job)
  if (typeof known.next !== 'string') return
  const next = takeStep(known.thinking, known.next)
  if (next === null) forgetThinking(underWay, id, job)
  else known.next = next
  if (next === null || typeof next === 'string') return
  next.isAsking = isLostAhead(followed, id)
  next.isLost = next.isAsking
}

interface Following {
  readonly underWay: UnderWay
  readonly followed: FollowedLog
}

/** Ends the request of a call. What it had asked for is over, or its thinking goes on. */
export function endThinking(underWay: UnderWay, call: string, outcome: Outcome): void {
  const known = underWay.thinkings.get(call)
  if (known === undefined || typeof known.next === 'string') return
  const { thinking } = known
  const next = endRequest(thinking, known.next, outcome)
  if (next !== null) known.next = next
  else forgetThinking(underWay, call, thinking.job)
}

/** A call's thinking is over. */
export function forgetThinking({ thinkings }: UnderWay, call: string, { busy }: Job): void {
  thinkings.delete(call)
  busy.delete(call)
}

/** Begins a tool. Null if it cannot run: then its outcome is recorded. */
export function startTool({ tools }: UnderWay, toolCall: ToolCall, job: Job): ToolRun | null {
  const id = toolCall.place?.call ?? ''
  const run = beginTool(toolCall, job, begun(job, id))
  if (run === null || !reserve(run)) {
    job.busy.delete(id)
    return null
  }
  tools.set(id, run)
  return run
}

/** A tool is over. */
export function forgetTool({ tools }: UnderWay, { toolCall, job }: ToolRun): void {
  const id = toolCall.place?.call ?? ''
  tools.delete(id)
  job.busy.delete(id)
}

/** Ends the requests that a job still has under way, and forgets its tools. */
export function endAll(underWay: UnderWay, job: Job, outcome: Outcome): void {
  for (const id of [...job.busy.keys()]) endThinking(underWay, id, outcome)
  drop(underWay, job)
}

/** Forgets what a job has under way, without an entry. */
export function drop({ thinkings, tools }: UnderWay, { busy }: Job): void {
  for (const id of busy.keys()) {
    thinkings.delete(id)
    tools.delete(id)
  }
  busy.clear()
}

function begun(job: Job, id: string): AbortController {
  const controller = new AbortController()
  job.busy.set(id, controller)
  return controller
}
