/** Records what hooks decided, and does what a refusal means: a replay does the same with the entries of its log [F02, Tb12]. */
import type { CallPlace } from '@witan/protocol/entries'
import { type Decision, entryOfDecision, isRefusal } from '../hook/decision.ts'
import { refusalText } from '../conversation/hooks.ts'
import type { AgentCall } from '../conversation/state.ts'
import { type Job, record } from '../job/job.ts'
import { addWords } from './invalid-reply.ts'
import { closeInterruption, failCall } from './settle.ts'

/** Records them in order. A refusal is the last one. */
export function recordDecisions(job: Job, place: CallPlace, bodies: readonly Decision[]): void {
  for (const body of bodies) recordDecision(job, place, body)
}

/** Records one, and what follows from it at once. What it means for a tool call or a reply is recorded with that. */
export function recordDecision(job: Job, place: CallPlace, body: Decision): void {
  const isAskedAgain = mayAnswerAgain(job.run.calls.get(place.call))
  record(job, place, entryOfDecision(body, place.author))
  if (body.closes === true) return
  const { at, interruption, toolCallId } = body
  if (at === 'beforeTool' && toolCallId !== undefined) forgetPrepared(job, place, toolCallId)
  if (!isRefusal(body)) return
  if (at === 'onInterruption') {
    const toolCall = job.run.toolCalls.get(place.call)
    const isOpen = toolCall?.interruptions.some(({ id }) => id === interruption) === true
    if (isOpen && toolCall !== undefined && interruption !== undefined) closeInterruption(toolCall, job, interruption)
  }
  const call = job.run.calls.get(place.call)
  if (call === undefined) return
  if (at === 'answered' && isAskedAgain) return addWords(call, job, refusedWords(body))
  if (failing.has(at)) failFor(call, job, body)
}

/** Whether an answer that is refused is asked for once more: the first, unless it is a last answer. */
function mayAnswerAgain(call: AgentCall | undefined): boolean {
  return call?.final?.offered === true && (call.checked?.refusedAnswers ?? 0) === 0
}

/** What a model reads that is to reply once more. */
export function refusedWords(decision: Decision): string {
  return `Your reply was not taken: ${refusalText(decision).replace(/\.$/, '')}. Reply again.`
}

/** Where a refusal fails the call of an agent; of a result that stands at the call of the agent that gave it. */
const failing: ReadonlySet<Decision['at']> = new Set<Decision['at']>([
  'beforeRun',
  'joined',
  'answered',
  'beforeModel',
  'afterTool',
  'afterRun',
])

/** Fails a call that a hook or a guardrail refused. */
export function failFor(call: AgentCall, job: Job, decision: Pick<Decision, 'name' | 'reason' | 'action'>): void {
  const [code, what] =
    decision.action === undefined ? (['HOOK_REFUSED', 'hook'] as const) : (['GUARDRAIL_REFUSED', 'guardrail'] as const)
  const hint = `Look at what the ${what} refuses, or ask for something else.`
  failCall(call, job, { code, detail: refusalText(decision), hint })
}

/** Arguments that a hook wrote are prepared anew. */
function forgetPrepared({ run, cache }: Job, place: CallPlace, toolCallId: string): void {
  const toolCall = run.calls.get(place.call)?.toolCalls.find(({ requested }) => requested.id === toolCallId)
  if (toolCall === undefined) return
  cache.prepared.delete(toolCall)
  cache.asked.delete(toolCall)
}
