/** What hooks are still to be asked of, in this process: what the log does not decide and what they have not allowed yet. */
import type { HookPoint } from '@witan/protocol/entries'
import {
  endingAgents,
  heardAgents,
  isBegunByRuntime,
  isCheckedReply,
  isJoining,
  readingAgents,
} from '../conversation/guards.ts'
import { type AgentCall, answeredCall, type ToolCall, type WaitingMessage } from '../conversation/state.ts'
import { type Guards, isGuarded } from '../guard/checks.ts'
import type { HookRow, HookRows } from '../hook/rows.ts'

/** The hooks of a job, and what they have let pass. */
export interface CheckDues {
  readonly rows: HookRows
  readonly guards: Guards
  /** Calls that may go on, tool calls that may begin, interruptions that may stay open, and answers that may end their calls. */
  readonly allowed: WeakSet<object>
  /** Tool calls that have been answered, and answers of agents, whose results may be read. */
  readonly passed: WeakSet<object>
  /** Tool calls of whose interruptions hooks are being asked: an answer that comes meanwhile waits for theirs. */
  readonly held: WeakSet<ToolCall>
  /** The call whose guardrails have let a message that joins it pass. */
  readonly joined: WeakMap<WaitingMessage, AgentCall>
}

/** Nothing has passed yet. */
export function checkDues(rows: HookRows, guards: Guards): CheckDues {
  return { rows, guards, allowed: new WeakSet(), passed: new WeakSet(), held: new WeakSet(), joined: new WeakMap() }
}

/** The hooks and then the guardrails that are asked of what begins a call. */
export function openingRow({ rows, guards }: CheckDues, call: AgentCall): HookRow {
  const { agent } = call
  if (isBegunByRuntime(call)) return rows.at('beforeRun', agent)
  const [hooks, checks] = [rows.at('beforeRun', agent), guards.of([agent], 'input')]
  return checks.length === 0 ? hooks : [...hooks, ...checks]
}

/** The hooks and then the guardrails that are asked of a reply: of its agent, and of those that handed over to it. None in a replay. */
export function replyRow(job: { readonly hooks: CheckDues | null }, call: AgentCall): HookRow {
  const [hooks, checks] = [hooksAt(job, 'afterModel', call), outputRow(job, call)]
  return checks.length === 0 ? hooks : [...hooks, ...checks]
}

/** The guardrails that are asked of what a call says. None in a replay. */
export function outputRow({ hooks }: { readonly hooks: CheckDues | null }, call: AgentCall): HookRow {
  return hooks === null || !isCheckedReply(call) ? noRow : hooks.guards.of(heardAgents(call), 'output')
}

/** The message that joins the work of a call and that its guardrails are still to be asked of; null for none. */
export function messageToCheck({ joined }: CheckDues, call: AgentCall): WaitingMessage | null {
  const { document, place } = call
  if (document.inbox.length === 0 || !readingAgents(call).some((agent) => isGuarded(agent, 'input'))) return null
  const isDue = (one: WaitingMessage) =>
    isJoining(call, one) && one.guardedFor !== place.call && joined.get(one) !== call
  return document.inbox.find(isDue) ?? null
}

/** Whether a call may not go on yet: hooks are to be asked, or an agent lists some that this process may lack. */
export function isOpening({ rows, allowed }: CheckDues, call: AgentCall): boolean {
  const { agent } = call
  const isListing = agent.hooks !== undefined && agent.hooks.length > 0
  const isChecking = isListing || isGuarded(agent, 'input')
  if (rows.isEmpty && !isChecking) return false
  return !allowed.has(call) && (isChecking || rows.at('beforeRun', agent).length > 0)
}

/** Whether tool calls of the last reply may not begin yet. */
export function isAdmitting(dues: CheckDues, call: AgentCall): boolean {
  return !dues.rows.isEmpty && call.toolCalls.some((one) => isBeginning(dues, one))
}

/** Whether hooks are to be asked of a tool call: one that its model has asked for, or with other arguments that a person has approved. */
export function isBeginning({ rows, allowed }: CheckDues, toolCall: ToolCall): boolean {
  const { state, passed, checked, owner, name } = toolCall
  if (state !== 'requested' || checked?.refused !== undefined) return false
  if (passed === null ? checked !== null || allowed.has(toolCall) : allowed.has(passed) || !hasOtherArguments(passed))
    return false
  return rows.at('beforeTool', owner.agent, name).length > 0
}

function hasOtherArguments({ answer }: NonNullable<ToolCall['passed']>): boolean {
  const given = 'value' in answer ? answer.value : null
  return typeof given === 'object' && given !== null && 'arguments' in given && given.arguments != null
}

/** Whether hooks are to be told of what a tool call waits for. */
export function isAsking({ rows, allowed }: CheckDues, { state, interruptions, owner, name }: ToolCall): boolean {
  if (rows.isEmpty || state !== 'waiting' || interruptions.every((one) => allowed.has(one))) return false
  return rows.at('onInterruption', owner.agent, name).length > 0
}

/** Whether hooks are to be asked of what a person or a client has answered. */
export function isSettling({ rows, passed }: CheckDues, toolCall: ToolCall): boolean {
  if (rows.isEmpty || toolCall.checked?.result !== undefined || passed.has(toolCall)) return false
  return rows.at('afterTool', toolCall.owner.agent, toolCall.name).length > 0
}

/** At which point hooks are to be asked of the answer of a call: as its end, and as the result that its caller reads. Null for none. */
export function dueOfAnswer({ rows, allowed, passed }: CheckDues, call: AgentCall): 'afterRun' | 'afterTool' | null {
  const { final } = call
  if (rows.isEmpty || final === null) return null
  if (final.isChecked !== true && !allowed.has(final) && rows.atAny('afterRun', endingAgents(call)).length > 0)
    return 'afterRun'
  const { askedBy } = answeredCall(call)
  if (askedBy?.state !== 'child' || final.isPassed === true || passed.has(final)) return null
  return rows.at('afterTool', askedBy.owner.agent, askedBy.name).length > 0 ? 'afterTool' : null
}

/** The hooks that are asked of a call at a point; none in a replay. */
export function hooksAt(
  { hooks }: { readonly hooks: CheckDues | null },
  point: HookPoint,
  { agent, tool }: Pick<AgentCall, 'agent'> & { readonly tool?: string },
): HookRow {
  return hooks === null ? noRow : hooks.rows.at(point, agent, tool)
}

const noRow: HookRow = []
