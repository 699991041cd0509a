/** Folds how the model calls of an agent ended. */
import type { CallPlace, Entry, ModelEndBody, ModelErrorBody } from '@witan/protocol/entries'
import { addModelCall, roundCost } from '@witan/protocol/entries'
import { asksOutput, outputIn } from '../model/output.ts'
import { isUnheard } from './guards.ts'
import { checksOf } from './hooks.ts'
import { gatheredText } from './fold-hand-over.ts'
import { readInbox, replyOf } from './inbox.ts'
import { countersOf } from './merge-usage.ts'
import type { AgentCall, LiveJob } from './state.ts'
import { beginStep } from './step.ts'

/** A request for an answer that was made and got none counts as spent; no usage has it. */
export function foldNoReply(run: LiveJob | null, place: CallPlace, { spent, purpose }: ModelErrorBody): void {
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined || !spent || isForUsageAlone(purpose)) return
  run.failedCalls += 1
  call.hasNoReply = true
}

/** Whether nothing of a reply counts but what it used, as long as there is one. */
function isForUsageAlone(purpose: ModelErrorBody['purpose']): boolean {
  return purpose === 'summary' || purpose === 'progress'
}

/** Folds a reply of a model: what it used, and what its agent does with it. */
export function foldReply(run: LiveJob | null, entry: Entry & { readonly body: ModelEndBody }): void {
  const { place, body } = entry
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  run.modelCalls += 1
  addModelCall(countersOf(call), body.usage)
  run.tokens += (body.usage?.inputTokens ?? 0) + (body.usage?.outputTokens ?? 0)
  run.costUsd = roundCost(run.costUsd + (body.usage?.costUsd ?? 0))
  if (call.checked !== null || body.refused === true) noteChecked(call, body)
  if (body.purpose === 'output' && body.refused === true) {
    // The words before it are no answer either.
    call.final = null
    return
  }
  if (body.purpose === 'output') return foldOutput(call, body)
  if (body.purpose !== undefined) return
  const read = body.usage?.inputTokens ?? null
  if (read !== null) call.document.tokens = read + (body.usage?.outputTokens ?? 0)
  if (body.offered && body.toolless !== true) run.toolIterations += 1
  call.iterations += 1
  const asks = body.offered ? body.toolCalls : []
  if (!body.accepted && body.refused !== true) call.failures += 1
  // What was read before a reply that was refused has been read.
  if (body.refused === true) return readInbox(call, body.taken)
  if (!body.accepted && body.text === '') return
  readInbox(call, body.taken)
  if (body.accepted && body.text !== '') call.gathered?.texts.push(gatheredText(call, body.text))
  // What an agent has not let pass was no answer.
  if (call.final !== null && !isUnheard(call)) {
    call.earlierAnswers = [...call.earlierAnswers, call.final.text]
    if (call.checked !== null) call.checked.refusedAnswers = 0
  }
  call.final = null
  const kept = asks.length < body.toolCalls.length ? undefined : body.kept
  const reply = replyOf(call, { text: body.text, calls: asks, kept })
  if (asks.length > 0) {
    call.calledTool = true
    return beginStep(call, reply, body.admitted)
  }
  call.document.said.push(reply)
  if (!body.accepted) return
  const { text, finishReason, offered } = body
  const final = { text, finishReason, offered, reply: entry }
  // A revision stands without a second critique.
  call.final = call.draft === null ? final : { ...final, isCriticised: true }
  call.draft = null
}

/** A reply that was refused is asked for once more. */
function noteChecked(call: AgentCall, { accepted, refused, purpose }: ModelEndBody): void {
  if (purpose !== undefined && purpose !== 'output') return
  const checked = checksOf(call)
  if (purpose === undefined) checked.isRequest = false
  // An answer that comes in two replies is taken with the second.
  const isWhole = purpose === 'output' || !asksOutput(call.agent)
  if (refused === true) checked.refusals += 1
  else if (accepted && isWhole) checked.refusals = 0
}

/** The structured form of the answer before it; what cannot be used is kept for the one request that names the mistake. */
function foldOutput(call: AgentCall, { accepted, text, toolCalls: [asked] }: ModelEndBody): void {
  if (call.final === null) return
  const { invalidOutput: _, ...final } = call.final
  if (accepted && asked !== undefined)
    call.final = { ...final, output: { value: outputIn(call.agent, asked.arguments) } }
  else call.final = { ...final, invalidOutput: { text, asked: asked ?? null } }
}
