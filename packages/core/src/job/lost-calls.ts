/** Model calls that end without a reply: each is an entry, and where it may be charged for, the log says that no sum has its usage. */
import type { ModelErrorBody, Writable } from '@witan/protocol/entries'
import { type AgentCall, asksCritic, isAnswered } from '../conversation/state.ts'
import { hasToList } from '../conversation/listed.ts'
import { isHeldByGuard } from '../conversation/guards.ts'
import { messageToLookFor } from '../conversation/retrieval.ts'
import { isWorkflow } from '../conversation/workflow.ts'
import { ModelCallError } from '../model/model.ts'
import { isTimeOver } from '../model/time-limit.ts'
import { errorText } from '../parameter/scrub.ts'
import { type OpenModelCall, type Job, record } from './job.ts'

/** Why a model call has no reply. */
export type NoReply = Pick<ModelErrorBody, 'code' | 'detail'>

/** It was stopped from here. */
export const cutOff: NoReply = { code: 'MODEL_CALL_LOST', detail: 'The call was stopped before the model replied.' }

/** Why a request has no reply; null if it has one that somebody waits for. `failure` is what the model threw; undefined for nothing. */
export function noReplyOf(failure: unknown, signal: AbortSignal): NoReply | null {
  if (isTimeOver(signal)) return { ...cutOff, detail: wordsOf(signal.reason) }
  if (signal.aborted) return cutOff
  return failure === undefined ? null : { code: failureCode(failure), detail: wordsOf(failure) }
}

/** What a model that failed said. */
export function wordsOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : 'unknown trouble'
}

/** The code of the failure of a model. */
export function failureCode(
  failure: unknown,
): 'MODEL_CONTEXT_EXCEEDED' | 'MEDIA_TYPE_UNSUPPORTED' | 'MODEL_CALL_FAILED' {
  const trouble = failure instanceof ModelCallError ? failure.trouble : null
  if (trouble === 'context') return 'MODEL_CONTEXT_EXCEEDED'
  return trouble === 'media' ? 'MEDIA_TYPE_UNSUPPORTED' : 'MODEL_CALL_FAILED'
}

/**
 * Ends what `job.lifecycle.modelCalls` knows of a model call. Without a reply the log gets an entry of it. If a request of it may be charged for, its
 * agent's usage is incomplete from here on.
 */
export function endModelCall(job: Job, modelCall: OpenModelCall, noReply: NoReply | null): void {
  if (!takeOut(job.lifecycle.modelCalls, modelCall)) return
  const mayBeCharged = modelCall.isAsking || modelCall.isLost
  modelCall.isAsking = false
  modelCall.isLost = false
  if (job.lifecycle.stopped !== null) return
  if (noReply !== null) recordNoReply(job, modelCall, { ...noReply, spent: true })
  if (mayBeCharged) noteIncomplete(job, modelCall.call)
}

/** Ends all model calls under way, before the process leaves the job. */
export function endAllModelCalls(job: Job): void {
  for (const modelCall of [...job.lifecycle.modelCalls])
    endModelCall(job, modelCall, isMadeByTool(modelCall) ? null : cutOff)
}

/** Whether a tool asks. Whether it has asked by now is known to it alone. */
function isMadeByTool({ purpose, isAsking, isLost }: OpenModelCall): boolean {
  return purpose === 'progress' && !isAsking && !isLost
}

/** False if it was taken out before. */
function takeOut(calls: OpenModelCall[], one: OpenModelCall): boolean {
  const at = calls.indexOf(one)
  if (at < 0) return false
  const last = calls.pop()
  if (last !== undefined && last !== one) calls[at] = last
  return true
}

/** Notes that an earlier owner of the job may have had model calls under way: one of each agent that now waits for its model. */
export function recordLostModelCalls(job: Job): void {
  for (const call of job.run.calls.values()) {
    if (!call.active || call.toolCalls.length > 0 || isWorkflow(call) || isAnswered(call)) continue
    if (asksCritic(call) || isHeldByGuard(call)) continue
    if (messageToLookFor(call) !== null || hasToList(call)) continue
    const detail = 'The process that made the call has left it.'
    const modelCall = { call, purpose: null, modelId: call.model, folded: null }
    recordNoReply(job, modelCall, { code: 'MODEL_CALL_LOST', detail, spent: true })
    noteIncomplete(job, call)
  }
}

/** What is known of a model call without a reply. */
type LostCall = Pick<OpenModelCall, 'call' | 'purpose' | 'modelId' | 'folded' | 'startedAt' | 'offered' | 'digest'>

/** Records a model call without a reply. `spent` is false if it was not made. */
export function recordNoReply(
  job: Job,
  modelCall: LostCall,
  { code, detail, spent }: NoReply & { readonly spent: boolean },
): void {
  const { call, purpose, modelId, folded, startedAt, offered, digest } = modelCall
  const text = errorText(detail)
  const behind = folded === null ? 0 : job.log.state.folded - folded
  const body: Writable<ModelErrorBody> = {
    code,
    detail: call.scrub === null ? text : call.scrub(text),
    model: modelId,
    spent,
  }
  if (purpose !== null) body.purpose = purpose
  if (behind > 0) body.behind = behind
  if (startedAt !== undefined) body.startedAt = startedAt
  if (offered === false) body.offered = false
  if (digest !== undefined) body.digest = digest
  record(job, call.place, { type: 'error', kind: 'model', body })
}

function noteIncomplete(job: Job, { place, agent, model }: AgentCall): void {
  const detail = `A request of \`${agent.id}\` to the model \`${model}\` gave no reply and may be charged for; no sum has what it used.`
  record(job, place, { type: 'notice', kind: null, body: { code: 'USAGE_INCOMPLETE', detail, model } })
}
