/**
 * Begins the work of a call: what its agent demands comes first, as the body of the call until all of it is met; then its initial queries [C21].
 * What is demanded for the whole conversation is asked by one call at a time, and its answer counts for all that wait for it.
 */
import type { Interruption } from '@witan/protocol'
import { isGuarded } from '../guard/checks.ts'
import { readingAgents } from './guards.ts'
import type { CallPlace, ResolvedBody } from '@witan/protocol/entries'
import { type Demand, demandsOf, demandsTool, isAskedFor } from '../tool/demand.ts'
import { policyAnswer } from '../tool/policy.ts'
import { beginBody, endBody, isBody } from './body.ts'
import { readInbox, replyOf } from './inbox.ts'
import { takePlan } from './plan.ts'
import { type AgentCall, type ConversationState, liveJob, type LiveJob, type ToolCall } from './state.ts'
import { beginStep } from './step.ts'

/** Begins with what is demanded and not met yet. Of a hidden run, which nobody asked for, nothing is. */
export function beginWork(state: ConversationState, call: AgentCall, isHidden = false): void {
  takePlan(call)
  const all = isHidden ? [] : demandsOf(call.agent)
  if (all.length === 0) return beginInitial(call)
  const demands = all.flatMap((demand, index) => (isMet(state, call, demand) ? [] : [index]))
  if (demands.length === 0) return beginInitial(call)
  const body = beginBody(state, call, { name: demandsTool, args: { demands } })
  const run = liveJob(state, call.job)
  if (run === null) return
  body.answers = run.told.get(call.place.call) ?? body.answers
  if (body.answers.length === 0 && isAskedElsewhere(state, run, body)) body.state = 'waiting'
}

/** Folds that all of it is met. */
export function foldMet(run: LiveJob, call: AgentCall): void {
  endBody(run, call)
  beginInitial(call)
}

/** Folds the answer to a demand for the whole conversation. Calls of the run that would demand the same get this answer too. */
export function foldDemandAnswer(
  state: ConversationState,
  run: LiveJob | null,
  { place, body }: { readonly place: CallPlace; readonly body: ResolvedBody },
): void {
  const toolCall = run?.toolCalls.get(place.call)
  const given = toolCall?.answers.at(-1)
  if (run === null || toolCall === undefined || !isDemanding(toolCall)) return
  if (given?.kind !== 'interruption' || given.asked.id !== body.id) return
  const { owner } = toolCall
  const demand = commonDemands(toolCall).find((one) => isAskedFor(given.asked, one))
  if (demand === undefined) return
  const hasResolution = 'resolution' in policyAnswer(given.answer)
  if (hasResolution) state.met.set(nameOf(owner, demand), true)
  for (const call of run.calls.values()) {
    if (call === owner || call.agent.id !== owner.agent.id) continue
    const waiting = call.toolCalls.find(waitsForAnother)
    if (waiting !== undefined) {
      waiting.answers = [...waiting.answers, given]
      if (!hasResolution || !isAskedElsewhere(state, run, waiting)) waiting.state = 'answered'
    } else if (!hasResolution && !call.active) {
      // It stands in line for its document, and would ask the same again.
      run.told.set(call.place.call, [...(run.told.get(call.place.call) ?? []), given])
    }
  }
}

/** Lets those go on that waited for the demand of a call which is over: one of them asks itself. */
export function endDemands(state: ConversationState, run: LiveJob, call: AgentCall): void {
  if (!call.toolCalls.some(isDemanding)) return endBody(run, call)
  endBody(run, call)
  for (const toolCall of run.toolCalls.values())
    if (waitsForAnother(toolCall) && !isAskedElsewhere(state, run, toolCall)) toolCall.state = 'started'
}

/** An interruption, and the tool call that waits for it. */
interface Asking {
  readonly toolCall: ToolCall
  readonly asked: Interruption
}

/**
 * What other calls of the conversation ask that is the same demand for all of it: those of one job ask once, but a task in the background is a job
 * of its own.
 */
export function askedAlike(state: ConversationState, { toolCall, asked }: Asking): readonly Asking[] {
  const demand = commonDemand(toolCall, asked)
  if (demand === null) return []
  // Another revision of the agent may let other callers meet it.
  const termsOf = (call: AgentCall, one: Demand) => JSON.stringify([nameOf(call, one), one.of])
  const terms = termsOf(toolCall.owner, demand)
  const isSame = (one: Asking) => {
    const other = commonDemand(one.toolCall, one.asked)
    return other !== null && one.asked.id !== asked.id && termsOf(one.toolCall.owner, other) === terms
  }
  return [state.run, ...state.tasks.values()]
    .flatMap((job) => (job === null ? [] : [...job.toolCalls.values()]))
    .flatMap((other) => other.interruptions.map((one) => ({ toolCall: other, asked: one })))
    .filter(isSame)
}

/** The demand for the whole conversation that an interruption asks; null if it asks anything else. */
function commonDemand(toolCall: ToolCall, asked: Interruption): Demand | null {
  if (!isDemanding(toolCall)) return null
  return commonDemands(toolCall).find((one) => isAskedFor(asked, one)) ?? null
}

/** Whether a tool call is the body of a call whose agent demands something. */
function isDemanding(toolCall: ToolCall): boolean {
  return toolCall.name === demandsTool && isBody(toolCall)
}

/** Whether it waits for what another call has asked. */
function waitsForAnother(toolCall: ToolCall): boolean {
  return toolCall.state === 'waiting' && toolCall.interruptions.length === 0 && isDemanding(toolCall)
}

/** What a call demands for the whole conversation. */
function commonDemands({ requested, owner }: ToolCall): readonly Demand[] {
  const { demands: indexes } = JSON.parse(requested.arguments) as { readonly demands: readonly number[] }
  return demandsOf(owner.agent).filter((demand, index) => demand.per === 'conversation' && indexes.includes(index))
}

/** Whether another call of the run asks, or is about to ask, something that this one demands too and has no answer to. */
function isAskedElsewhere(state: ConversationState, run: LiveJob, body: ToolCall): boolean {
  const wanted = new Set(openNames(state, body))
  if (wanted.size === 0) return false
  for (const other of run.toolCalls.values())
    if (other !== body && isDemanding(other) && !waitsForAnother(other))
      if (openNames(state, other).some((name) => wanted.has(name))) return true
  return false
}

function openNames({ met }: ConversationState, body: ToolCall): readonly string[] {
  const { owner, answers } = body
  const isAnswered = (demand: Demand) =>
    answers.some((one) => one.kind === 'interruption' && isAskedFor(one.asked, demand))
  const names = commonDemands(body).flatMap((demand) => (isAnswered(demand) ? [] : [nameOf(owner, demand)]))
  return names.filter((name) => met.get(name) !== true)
}

function isMet({ met }: ConversationState, call: AgentCall, demand: Demand): boolean {
  return demand.per === 'conversation' && met.get(nameOf(call, demand)) === true
}

/** Other words are another demand. */
function nameOf({ agent }: AgentCall, { kind, message }: Demand): string {
  return JSON.stringify([agent.id, kind, message])
}

/** How many waiting messages stand before the initial queries: all, but where messages are checked first only the one that began the call. */
function readAtOnce(call: AgentCall): number {
  const { opening, document } = call
  const { inbox } = document
  if (!readingAgents(call).some((agent) => isGuarded(agent, 'input'))) return inbox.length
  const at = opening === null ? -1 : inbox.indexOf(opening)
  if (at > 0) inbox.unshift(...inbox.splice(at, 1))
  return at < 0 ? 0 : 1
}

/** Adds the initial queries before the first step. The model reads them as its own calls. */
function beginInitial(call: AgentCall): void {
  const { initial } = call
  if (initial.length === 0) return
  readInbox(call, readAtOnce(call))
  beginStep(call, replyOf(call, { text: '', calls: initial }))
}
