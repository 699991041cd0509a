/** Which agents are still to check what a call reads and says: a function of the fold alone. */
import type { AgentData } from '@witan/protocol'
import type { GuardedPart, Guardrail, GuardrailSide, Writable } from '@witan/protocol/entries'
import { isGuarded } from '../guard/checks.ts'
import { verdictIn } from '../guard/verdict.ts'
import type { Decision } from '../hook/decision.ts'
import type { AgentAnswer } from '../tool/tool.ts'
import { type AgentCall, answeredCall, isAnswered, type WaitingMessage } from './state.ts'

/** A guardrail that asks an agent. */
export type AgentCheck = Guardrail & { readonly kind: 'agent' }

/** What is to be checked next of a call, and by whom. */
export interface Guarding {
  readonly part: GuardedPart
  readonly check: AgentCheck
}

const noChecks: readonly AgentCheck[] = []
const known: Readonly<Record<GuardrailSide, WeakMap<AgentData, readonly AgentCheck[]>>> = {
  input: new WeakMap(),
  output: new WeakMap(),
}

function agentChecks(agent: AgentData, side: GuardrailSide): readonly AgentCheck[] {
  const { guardrails } = agent as Partial<Pick<AgentData, 'guardrails'>>
  if (guardrails === undefined || guardrails[side].length === 0) return noChecks
  const found = known[side].get(agent) ?? guardrails[side].flatMap((one) => (one.kind === 'agent' ? [one] : []))
  known[side].set(agent, found)
  return found
}

/** The agents whose calls end with the answer of a call: its own, and those that handed over to it. */
export function endingAgents(call: AgentCall): readonly AgentCall['agent'][] {
  const agents = [call.agent]
  const last = answeredCall(call)
  for (let at = call; at !== last && at.parent !== null; at = at.parent) agents.push(at.parent.agent)
  return agents
}

/**
 * The agents in whose place a call speaks: its own, those that handed over to it for good, and those whose workflow it is a step of. What it says is theirs, and
 * their checks hold for it.
 */
export function heardAgents(call: AgentCall): readonly AgentCall['agent'][] {
  const agents = [call.agent]
  let at = call
  while (at.parent !== null && (at.step !== null || at.handOver?.returns === false)) {
    at = at.parent
    agents.push(at.agent)
  }
  return agents
}

/** The agents that read what is said to a call: its own, and those that handed over to it, which may have control again. */
export function readingAgents(call: AgentCall): readonly AgentCall['agent'][] {
  const agents = [call.agent]
  for (let at = call; at.handOver !== null && at.parent !== null; at = at.parent) agents.push(at.parent.agent)
  return agents
}

/** Whether what a call says is checked before it is heard, by anything. */
export function isCheckedReply(call: AgentCall): boolean {
  return heardAgents(call).some((agent) => isGuarded(agent, 'output'))
}

/** Whether agents check what this one says. */
export function isJudged(agent: AgentData | undefined): boolean {
  return agent !== undefined && agentChecks(agent, 'output').length > 0
}

/** Whether agents check what a call says before it is heard. */
export function isHeardLate(call: AgentCall): boolean {
  return heardAgents(call).some(isJudged)
}

/** Whether an agent has still to check what a call has answered, also if that is no whole answer yet. */
export function isUnheard(call: AgentCall): boolean {
  return call.final !== null && call.workflow === null && call.remote === null && pendingCheck(call) !== null
}

/** What begins a call, to be checked: its message, and for the target of a hand-over all that was said in its document since that began. */
export function openingWords(call: AgentCall): string {
  const { document, handOver, message } = call
  if (handOver === null) return message
  const from = document.callStarts.at(-1)?.from ?? 0
  const said = document.said.slice(from).flatMap((one) => {
    return one.kind === 'words' && one.only === undefined && one.author !== 'witan' ? [one.text] : []
  })
  return said.includes(message) ? said.join('\n') : [message, ...said].join('\n')
}

/** Whether nobody but the runtime began a call: there is nobody whose words are to be checked. */
export function isBegunByRuntime({ parent, opening }: AgentCall): boolean {
  return parent === null && opening?.author === 'witan'
}

/** What an agent is to check next of a call; null for nothing, also while one is at work on it. */
export function guardingOf(call: AgentCall): Guarding | null {
  if (call.guard !== null || call.remote !== null || call.workflow !== null) return null
  return openingDue(call) ?? answerDue(call) ?? joinedDue(call)
}

/** Whether a call waits for an agent that checks something of it, or is to be asked. */
export function isGuarding(call: AgentCall): boolean {
  return call.guard !== null || guardingOf(call) !== null
}

/** Whether a call has asked its model for nothing, since something of it is to be checked. A message may have joined it while that was asked. */
export function isHeldByGuard(call: AgentCall): boolean {
  return call.guard !== null || (guardingOf(call)?.part.at ?? 'joined') !== 'joined'
}

function openingDue(call: AgentCall): Guarding | null {
  const { agent, iterations, final, handedTo, checked } = call
  const checks = agentChecks(agent, 'input')
  if (checks.length === 0 || iterations > 0 || final !== null || handedTo !== null || isBegunByRuntime(call))
    return null
  const check = checks.find(({ name }) => checked?.passed.has(keyOf(agent.id, name)) !== true)
  return check === undefined ? null : { check, part: { of: agent.id, name: check.name, at: 'beforeRun' } }
}

function answerDue(call: AgentCall): Guarding | null {
  return call.final === null || !isAnswered(call) ? null : pendingCheck(call)
}

function pendingCheck(call: AgentCall): Guarding | null {
  const passed = call.final?.passed
  for (const agent of heardAgents(call))
    for (const check of agentChecks(agent, 'output'))
      if (passed?.has(keyOf(agent.id, check.name)) !== true)
        return { check, part: { of: agent.id, name: check.name, at: 'answered' } }
  return null
}

/** The check that an answer which is to be closed has not passed. */
export function unheardCheck(call: AgentCall): Guarding | null {
  return isUnheard(call) ? pendingCheck(call) : null
}

/** Of a call that does nothing else. */
function joinedDue(call: AgentCall): Guarding | null {
  const { document, toolCalls, critic } = call
  if (document.inbox.length === 0 || toolCalls.length > 0 || critic !== null) return null
  const checks = readingAgents(call).flatMap((agent) =>
    agentChecks(agent, 'input').map((check) => ({ check, of: agent.id })),
  )
  if (checks.length === 0) return null
  for (const [waiting, message] of document.inbox.entries()) {
    if (!isJoining(call, message)) continue
    const due = checks.find(({ check, of }) => message.passed?.has(joinedKey(call, of, check.name)) !== true)
    if (due !== undefined)
      return { check: due.check, part: { of: due.of, name: due.check.name, at: 'joined', waiting } }
  }
  return null
}

/** Whether a message has come to a call that was at work, from somebody else than the runtime. */
export function isJoining({ opening }: AgentCall, message: WaitingMessage): boolean {
  return message !== opening && message.author !== 'witan'
}

function keyOf(agent: string, name: string): string {
  return `${agent} ${name}`
}

/** Another call may read the same message, and check it for itself. */
function joinedKey({ place }: AgentCall, of: string, name: string): string {
  return `${place.call} ${of} ${name}`
}

/** The check that a call which checks its parent was started for; null if its agent does not have it any more. */
export function checkOf(call: AgentCall, { of, name, at }: GuardedPart): AgentCheck | null {
  const owner = (at === 'answered' ? heardAgents : readingAgents)(call).find(({ id }) => id === of)
  const side = at === 'answered' ? 'output' : 'input'
  return owner === undefined ? null : (agentChecks(owner, side).find((one) => one.name === name) ?? null)
}

/** Folds that an agent begins to check something of a call. */
export function beginGuard(call: AgentCall, part: GuardedPart, passedOpening: () => Set<string>): void {
  call.guard = { part, passed: passedOf(call, part, passedOpening), end: null }
}

function passedOf(call: AgentCall, { at, waiting }: GuardedPart, passedOpening: () => Set<string>): Set<string> {
  const subject: Writable<{ passed?: Set<string> }> | null | undefined =
    at === 'answered' ? call.final : at === 'joined' ? call.document.inbox[waiting ?? 0] : null
  if (subject === null || subject === undefined) return passedOpening()
  subject.passed ??= new Set()
  return subject.passed
}

/** Folds what it said: what it allows is not checked by it again, and leaves no entry. */
export function endGuard(call: AgentCall, end: AgentAnswer): void {
  if (call.guard === null) return
  call.guard = { ...call.guard, end }
  if (allows(end) === true) passGuard(call)
}

/** Whether an agent allows what it checked; null if it failed to say so. */
export function allows(end: AgentAnswer): boolean | null {
  if ('error' in end) return null
  return verdictIn(end.output === null ? end.text : JSON.stringify(end.output))
}

function passGuard(call: AgentCall): void {
  const { guard } = call
  if (guard === null) return
  const { of, name, at } = guard.part
  guard.passed.add(at === 'joined' ? joinedKey(call, of, name) : keyOf(of, name))
  call.guard = null
}

/** Folds what was decided where an agent did not allow something. */
export function foldGuardDecision(call: AgentCall, { name, at, effect }: Decision): void {
  const { guard } = call
  if (guard === null || guard.end === null || guard.part.name !== name || guard.part.at !== at) return
  if (effect === 'flagged') passGuard(call)
  else call.guard = null
}
