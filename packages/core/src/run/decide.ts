/** Decides from the state of a run what to do next. Pure. */
import {
  dueOfAnswer,
  type CheckDues,
  isAdmitting,
  isAsking,
  isOpening,
  isSettling,
  messageToCheck,
} from '../job/check-dues.ts'
import type { CheckPoint } from '../hook/decision.ts'
import {
  type AgentCall,
  answeredCall,
  asksCritic,
  isAnswered,
  isTop,
  type LiveJob,
  type ToolCall,
} from '../conversation/state.ts'
import { guardingOf, isGuarding } from '../conversation/guards.ts'
import { hasToList } from '../conversation/listed.ts'
import { hasToRemember } from '../conversation/remembered.ts'
import { messageToLookFor } from '../conversation/retrieval.ts'
import { isWorkflow, nextOfCall, type WorkflowCall } from '../conversation/workflow.ts'

/**
 * A unit of work. `admit`, `resume`, `advanceWorkflow`, `criticise`, `guard` and `end` only record entries; `think`, `list`, `remember`, `retrieve` and `act` call a model,
 * MCP servers, the store, a search or a tool. `consult` asks hooks, which may answer at once.
 */
export type Work =
  | { readonly kind: 'think'; readonly call: AgentCall }
  | { readonly kind: 'list'; readonly call: AgentCall }
  | { readonly kind: 'remember'; readonly call: AgentCall }
  | { readonly kind: 'retrieve'; readonly call: AgentCall }
  | { readonly kind: 'admit'; readonly call: AgentCall }
  | { readonly kind: 'act'; readonly toolCall: ToolCall; readonly id: string }
  | { readonly kind: 'resume'; readonly toolCall: ToolCall }
  | { readonly kind: 'advanceWorkflow'; readonly call: WorkflowCall }
  | { readonly kind: 'criticise'; readonly call: AgentCall }
  | { readonly kind: 'guard'; readonly call: AgentCall }
  | { readonly kind: 'end'; readonly call: AgentCall }
  | Consultation

/** Hooks and guardrails are asked what may go on; nothing else of the call or tool call is done before they have answered. */
export interface Consultation {
  readonly kind: 'consult'
  readonly at: CheckPoint
  readonly call: AgentCall
  /** Set for what a tool call waits for or was answered. */
  readonly toolCall: ToolCall | null
}

/** What to do next. `busy`: all possible work is under way. `stop`: abort the work under way, then finish. */
export type Next =
  | { readonly kind: 'work'; readonly work: readonly Work[] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'finish' }

/** What the log does not record: the ids of the effects under way in this process, whose memory it has looked up, and whether the run must fail. */
interface Underway {
  readonly busy: ReadonlyMap<string, unknown>
  readonly remembered: Pick<WeakSet<AgentCall>, 'has'>
  readonly isFailing: boolean
  /** What hooks are still to be asked; null if none ever is, as in a replay. */
  readonly hooks: CheckDues | null
}

/** Decides from the run and the effects under way. At most `maxParallel` effects run at once [C14]. */
export function decide(run: LiveJob, { busy, remembered, isFailing, hooks }: Underway): Next {
  if (run.cancelled || isFailing) return busy.size > 0 ? { kind: 'stop' } : { kind: 'finish' }
  const work: Work[] = []
  let free = run.tree.limits.maxParallel - busy.size
  for (const call of run.calls.values()) {
    if (!call.active) continue
    if (hooks !== null && isOpening(hooks, call)) askHooks({ at: 'beforeRun', call }, busy, work)
    else if (call.guard !== null || isGuardedFirst(call, { busy, hooks })) {
      if (call.guard?.end !== null) work.push({ kind: 'guard', call })
    } else if (call.toolCalls.length > 0) free = decideToolCalls(call, { busy, hooks }, { work, free })
    else if (isAnswered(call) && (call.document.inbox.length === 0 || isHeldAnswer(hooks, call))) {
      const at = hooks === null ? null : dueOfAnswer(hooks, call)
      if (at !== null) askHooks({ at, call }, busy, work)
      else if (isTop(answeredCall(call))) return { kind: 'finish' }
      else work.push({ kind: 'end', call })
    } else if (isWorkflow(call)) {
      if (nextOfCall(call).kind !== 'wait') work.push({ kind: 'advanceWorkflow', call })
    } else if (asksCritic(call)) {
      if (call.critic === null || call.critic.end !== null) work.push({ kind: 'criticise', call })
    } else if (hooks !== null && isIdle(call, busy) && messageToCheck(hooks, call) !== null) {
      askHooks({ at: 'joined', call }, busy, work)
    } else if (free > 0 && isDue(call, busy)) {
      free -= 1
      work.push({ kind: before(call, remembered), call })
    }
  }
  if (work.length > 0) return { kind: 'work', work }
  return busy.size > 0 ? { kind: 'busy' } : { kind: 'wait' }
}

/** Whether an agent is to check something of a call before anything else of it is done. Patterns come before agents, which cost more. */
function isGuardedFirst(call: AgentCall, { busy, hooks }: Pick<Underway, 'busy' | 'hooks'>): boolean {
  const due = guardingOf(call)
  if (due === null) return false
  if (due.part.at !== 'joined') return true
  return isIdle(call, busy) && (hooks === null || messageToCheck(hooks, call) === null)
}

/** What is to be looked up before a model is asked; else that. */
function before(call: AgentCall, remembered: Underway['remembered']): 'list' | 'remember' | 'retrieve' | 'think' {
  if (hasToList(call)) return 'list'
  if (hasToRemember(call) && !remembered.has(call)) return 'remember'
  return messageToLookFor(call) === null ? 'think' : 'retrieve'
}

/** Whether the model of an agent's call is to be asked. */
export function mayThink(call: AgentCall, busy: Underway['busy']): boolean {
  return isDue(call, busy) && messageToLookFor(call) === null && !hasToList(call)
}

/** Whether a model is to be asked, once all is looked for that it is to read. */
function isDue(call: AgentCall, busy: Underway['busy']): boolean {
  return isIdle(call, busy) && !isGuarding(call)
}

/** Whether nothing is under way for a call that has something to read. */
function isIdle(call: AgentCall, busy: Underway['busy']): boolean {
  if (!call.active || call.toolCalls.length > 0 || isWorkflow(call)) return false
  if (busy.has(call.place.call) || busy.has(idOfLook(call))) return false
  if (asksCritic(call)) return false
  return !isAnswered(call) || call.document.inbox.length > 0
}

/** Under what a look into memory, knowledge or the tools of MCP servers is under way for a call: it is no model call of its agent. */
export function idOfLook({ place }: AgentCall): string {
  return `look ${place.call}`
}

/** Whether a tool is to be run. */
export function mayAct({ state, isLast, place }: ToolCall, busy: Underway['busy']): boolean {
  return state === 'started' && !isLast && !busy.has(place?.call ?? '')
}

/** Whether hooks are to be asked of an answer although there is more to read: it stays as an earlier one. */
function isHeldAnswer(hooks: CheckDues | null, call: AgentCall): boolean {
  return hooks !== null && dueOfAnswer(hooks, call) === 'afterRun'
}

/** Hooks that are asked already are waited for. */
function askHooks(
  {
    at,
    call,
    toolCall = null,
  }: { readonly at: CheckPoint; readonly call: AgentCall; readonly toolCall?: ToolCall | null },
  busy: Underway['busy'],
  work: Work[],
): void {
  const asked: Consultation = { kind: 'consult', at, call, toolCall }
  if (!busy.has(idOfConsultation(asked))) work.push(asked)
}

/** Under what a consultation is under way: it is no model call of its agent. */
export function idOfConsultation({ call, toolCall }: Consultation): string {
  return `hooks ${toolCall?.place?.call ?? call.place.call}`
}

function decideToolCalls(
  call: AgentCall,
  { busy, hooks }: Pick<Underway, 'busy' | 'hooks'>,
  into: { readonly work: Work[]; free: number },
): number {
  if (call.toolCalls.some((one) => one.state === 'requested' && hooks?.held.has(one) === true)) return into.free
  if (call.toolCalls.some((toolCall) => toolCall.state === 'requested')) {
    if (hooks !== null && isAdmitting(hooks, call)) askHooks({ at: 'beforeTool', call }, busy, into.work)
    else into.work.push({ kind: 'admit', call })
    return into.free
  }
  for (const toolCall of call.toolCalls) {
    const id = toolCall.place?.call ?? ''
    if (hooks?.held.has(toolCall) === true) continue
    if (hooks !== null && isAsking(hooks, toolCall)) askHooks({ at: 'onInterruption', call, toolCall }, busy, into.work)
    else if (toolCall.state === 'answered' && hooks !== null && isSettling(hooks, toolCall))
      askHooks({ at: 'afterTool', call, toolCall }, busy, into.work)
    else if (toolCall.state === 'answered' || isItsTurn(toolCall, call)) into.work.push({ kind: 'resume', toolCall })
    else if (into.free > 0 && mayAct(toolCall, busy)) {
      into.free -= 1
      into.work.push({ kind: 'act', toolCall, id })
    }
  }
  return into.free
}

/** Whether it is the turn of a call that runs last: all others of its reply are settled, or run last and come after it. */
function isItsTurn(toolCall: ToolCall, { toolCalls }: AgentCall): boolean {
  if (!toolCall.isLast || toolCall.state !== 'started') return false
  const left = toolCalls.filter((one) => one.state !== 'settled')
  return left[0] === toolCall && left.every((one) => one.isLast && one.state === 'started')
}
