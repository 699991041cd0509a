/** Hooks around a model call: before a request for an answer, and before its reply counts [F02]. */
import type { AgentCall } from '../conversation/state.ts'
import type { Verdict } from '../hook/ask.ts'
import { frozen } from '../identity/frozen.ts'
import { type GuardedText, isGuarded } from '../guard/checks.ts'
import { isCheckedReply } from '../conversation/guards.ts'
import { hooksAt, outputRow, replyRow } from '../job/check-dues.ts'
import type { Job } from '../job/job.ts'
import type { ModelToolCall } from '../model/message.ts'
import type { ModelReply } from '../model/model.ts'
import { asksOutput, outputIn, outputIssue, outputToolName, outputValue } from '../model/output.ts'
import { recordDecision } from './decision-effects.ts'
import { lineFor } from '../conversation/line.ts'
import { ask, type ShownRequest, textOfHook } from './hook-question.ts'
import { modelRequest, purposeOf } from './model-request.ts'
import type { PreparedModelCall } from './prepare-model-call.ts'
import type { Outcome, Thinking } from './thinking.ts'

/** Whether hooks are to be asked before the next request of a call: not of what is asked about its answer, and not of what the log has decided. */
export function isToBeAsked(call: AgentCall, job: Job): boolean {
  if (hooksAt(job, 'beforeModel', call).length === 0) return false
  return call.checked?.isRequest !== true && purposeOf(call) === null
}

/**
 * Asks hooks before a request, and records what they decided. False if nothing is to be asked now: it is refused or cancelled, or its agent has
 * something new to read, which may have to be looked up first.
 */
export function askBefore({ call, job, signal }: Thinking): boolean | Promise<boolean> {
  const { document } = call
  const [read, waiting] = [document.said.length, document.inbox.length]
  const decide = (verdict: Verdict<string>): boolean => {
    let before = waiting
    for (const body of verdict.bodies) {
      recordDecision(job, call.place, { ...body, waiting: before })
      if (body.effect === 'rewritten') before += 1
    }
    return verdict.refused === null
  }
  const verdict = askOnce(call, job, signal)
  if (!(verdict instanceof Promise)) return decide(verdict)
  return verdict.then(async (late) => {
    while (job.log.proposals.pending !== null) await job.log.proposals.pending
    if (signal.aborted || job.lifecycle.stopped !== null || job.run.cancelled) return false
    return document.said.length === read && document.inbox.length === waiting && decide(late)
  })
}

function askOnce(call: AgentCall, job: Job, signal: AbortSignal): Verdict<string> | Promise<Verdict<string>> {
  let made: ShownRequest | null = null
  const verdict = ask<string>(call, job, {
    ...{ at: 'beforeModel', row: hooksAt(job, 'beforeModel', call), signal: () => signal },
    about: () => ({ model: call.model }),
    request(note) {
      made ??= shownRequest(call, job)
      return note === undefined ? made : withNote(made, call, note)
    },
    take(rewrite) {
      const taken = textOfHook(call, rewrite, 'note')
      return taken === null || taken.value.length > longestNote ? null : taken
    },
  })
  // Who looks later sees what there was, or nothing.
  const close = <Given>(given: Given): Given => {
    made ??= nothingShown
    return given
  }
  return verdict instanceof Promise ? verdict.then(close) : close(verdict)
}

const nothingShown: ShownRequest = Object.freeze({ messages: Object.freeze([]), tools: Object.freeze([]) })

function shownRequest(call: AgentCall, job: Job): ShownRequest {
  const { messages, tools } = modelRequest(call, job, { offered: true, purpose: null }).request
  return { messages: frozen(messages), tools: frozen(tools) }
}

/** With the line that an earlier hook has written. */
function withNote({ messages, tools }: ShownRequest, { agent }: AgentCall, note: string): ShownRequest {
  const { text } = lineFor(agent.id, 'note', { text: note })
  const last = messages.at(-1)
  const line = { role: 'user', content: last?.role === 'user' ? `${last.content}\n\n${text}` : text } as const
  return { messages: frozen([...(last?.role === 'user' ? messages.slice(0, -1) : messages), line]), tools }
}

/** The longest note to a model, in characters. */
const longestNote = 16_000

/** A reply, and what hooks and guardrails decided of it: what they wrote stands in place of its text, or of its structured form. */
export function checkedReply(
  { call, job, signal }: Thinking,
  { purpose }: PreparedModelCall,
  reply: ModelReply,
): Outcome | Promise<Outcome> {
  if (purpose === 'critique') return { reply }
  // Of the structured form of an answer hooks are not asked.
  const row = purpose === null ? replyRow(job, call) : outputRow(job, call)
  if (row.length === 0) return { reply }
  const form = purpose === 'output' ? formOf(reply) : null
  if (purpose === 'output' && form === null) return { reply: { ...reply, text: '' } }
  const isFit = form === null || outputIssue(call.agent, form.arguments) === null
  const { toolCalls, usage } = reply
  const shown = { toolCalls: frozen(toolCalls), usage: frozen(usage) }
  const verdict = ask<string>(call, job, {
    ...{ at: 'afterModel', row, signal: () => signal },
    about: (text = form?.arguments ?? reply.text) => ({
      ...shown,
      text,
      ...(isFit ? outputOf(call, text, form !== null) : {}),
    }),
    take(rewrite) {
      const taken = textOfHook(call, rewrite, 'text')
      const fits = taken === null || form === null || !isFit || outputIssue(call.agent, taken.value) === null
      return fits ? taken : null
    },
  })
  // Words beside a structured form are no part of the answer, and are not stored.
  const whole = form === null ? reply : { ...reply, text: '' }
  const decide = (given: Verdict<string>) => decided(whole, given, form)
  return verdict instanceof Promise ? verdict.then(decide) : decide(verdict)
}

/** The call of `set_output` that counts. */
function formOf({ toolCalls }: ModelReply): ModelToolCall | null {
  return toolCalls.find(({ name }) => name === outputToolName) ?? null
}

/** The structured answer that a reply gives, for guardrails that look at it. */
function outputOf({ agent }: AgentCall, text: string, isForm: boolean): Pick<GuardedText, 'output'> {
  if (agent.outputSchema === null || !isGuarded(agent, 'output')) return {}
  if (isForm) return { output: { value: outputIn(agent, text) } }
  if (asksOutput(agent)) return {}
  const output = outputValue(agent, text)
  return output === null ? {} : { output }
}

function decided(reply: ModelReply, verdict: Verdict<string>, form: ModelToolCall | null): Outcome {
  const { bodies, written } = verdict
  if (bodies.length === 0) return { reply }
  if (written === undefined) return { reply, verdict }
  // What a model's server keeps of its reply holds the text as it was.
  const { kept: _, ...rest } = reply
  if (form === null) return { reply: { ...rest, text: written }, verdict }
  const toolCalls = reply.toolCalls.map((one) => (one === form ? { ...one, arguments: written } : one))
  return { reply: { ...rest, toolCalls }, verdict }
}

/** Whether the answer of a call is not that of the call above it, too. */
function speaksAlone({ step, handOver }: AgentCall): boolean {
  return step === null && handOver === null
}

/** Whether nothing of a call's replies is shown before they are whole: hooks and guardrails may refuse or rewrite them. */
export function isHeldBack(call: AgentCall, job: Job): boolean {
  if (isCheckedReply(call) || hooksAt(job, 'afterModel', call).length > 0) return true
  for (let at: AgentCall | null = call; at !== null; at = speaksAlone(at) ? null : at.parent)
    if (hooksAt(job, 'afterRun', at).length > 0) return true
  return false
}
