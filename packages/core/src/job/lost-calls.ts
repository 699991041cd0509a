/** Model calls that ended without a reply and may have cost something: the log says so, since no sum has their usage. */
import { type AgentCall, isAnswered } from '../conversation/state.ts'
import { isWorkflow } from '../conversation/workflow.ts'
import { type CallUnderWay, type Job, record } from './job.ts'

/** Ends what `job.lifecycle.modelCalls` knows of a model call. If a request of it was lost, its agent's usage is incomplete from here on. */
export function endAsking(job: Job, asked: CallUnderWay): void {
  takeOut(job.lifecycle.modelCalls, asked)
  if (!asked.isAsking && !asked.isLost) return
  asked.isAsking = false
  asked.isLost = false
  if (job.lifecycle.stopped === null) noteLost(job, asked.call)
}

/** Ends all model calls under way, before the process leaves the job. */
export function endAllAsking(job: Job): void {
  for (const asked of [...job.lifecycle.modelCalls]) endAsking(job, asked)
}

function takeOut(calls: CallUnderWay[], one: CallUnderWay): void {
  const at = calls.indexOf(one)
  const last = calls.pop()
  if (last === undefined || last === one) return
  if (at < 0) calls.push(last)
  else calls[at] = last
}

/**
 * Notes that an earlier owner of the job may have had model calls under way: of each agent that now waits for its model. Returns
 * their number.
 */
export function noteWaiting(job: Job): number {
  let count = 0
  for (const call of job.run.calls.values()) {
    if (!call.active || call.slots.length > 0 || isWorkflow(call) || isAnswered(call)) continue
    noteLost(job, call)
    count += 1
  }
  return count
}

function noteLost(job: Job, { place, agent, model }: AgentCall): void {
  const detail = `A request of \`${agent.id}\` to the model \`${model}\` gave no reply and may be charged for; no sum has what it used.`
  record(job, place, { type: 'notice', kind: null, body: { code: 'USAGE_INCOMPLETE', detail, model } })
}
