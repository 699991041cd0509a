/** Records what hooks decided, and does what a refusal means: a replay does the same with the entries of its log [F02, Tb12]. */
import type { CallPlace, HookBody } from '@witan/protocol/entries'
import { refusalText } from '../conversation/hooks.ts'
import type { AgentCall } from '../conversation/state.ts'
import { isRefusal } from '../hook/ask.ts'
import { type Job, record } from '../job/job.ts'
import { closeInterruption, failCall } from './settle.ts'

/** Records them in order. A refusal is the last one. */
export function recordHooks(job: Job, place: CallPlace, bodies: readonly HookBody[]): void {
  for (const body of bodies) recordHook(job, place, body)
}

/** Records one, and what follows from it at once. What it means for a tool call or a reply is recorded with that. */
export function recordHook(job: Job, place: CallPlace, body: HookBody): void {
  record(job, place, { type: 'hook', kind: null, body })
  const { at, hook, reason, interruption, toolCallId } = body
  if (at === 'beforeTool' && toolCallId !== undefined) forgetPrepared(job, place, toolCallId)
  if (!isRefusal(body)) return
  if (at === 'onInterruption') {
    const toolCall = job.run.toolCalls.get(place.call)
    const isOpen = toolCall?.interruptions.some(({ id }) => id === interruption) === true
    if (isOpen && toolCall !== undefined && interruption !== undefined) closeInterruption(toolCall, job, interruption)
  }
  const call = job.run.calls.get(place.call)
  if (call === undefined || !failing.has(at)) return
  failFor(call, job, refusalText(hook, reason))
}

/** Where a refusal fails the call of an agent; of a result that stands at the call of the agent that gave it. */
const failing: ReadonlySet<HookBody['at']> = new Set<HookBody['at']>([
  'beforeRun',
  'beforeModel',
  'afterTool',
  'afterRun',
])

/** Fails a call that a hook refused. */
export function failFor(call: AgentCall, job: Job, detail: string): void {
  const hint = 'Look at what the hook refuses, or ask for something else.'
  failCall(call, job, { code: 'HOOK_REFUSED', detail, hint })
}

/** Arguments that a hook wrote are prepared anew. */
function forgetPrepared({ run, cache }: Job, place: CallPlace, toolCallId: string): void {
  const toolCall = run.calls.get(place.call)?.toolCalls.find(({ requested }) => requested.id === toolCallId)
  if (toolCall === undefined) return
  cache.prepared.delete(toolCall)
  cache.asked.delete(toolCall)
}
