/** Asks another agent to criticise an answer, and records what it says [F08]. */
import { allowModelCall } from '../budget/budget.ts'
import { messageAsRead } from '../conversation/inbox.ts'
import type { AgentCall } from '../conversation/state.ts'
import type { Job } from '../job/job.ts'
import { circumstances } from '../job/task.ts'
import { jsonForModel } from '../model/attribution.ts'
import { critiqueIn, recordCritique, skipCritique } from './reflect.ts'
import { startChild } from './spawn.ts'
import { unchosenChild } from './unchosen-child.ts'

/** Starts the critic of a call, or records what it came to. */
export function criticise(call: AgentCall, job: Job): void {
  const { critic } = call
  const by = call.agent.reflection.agent
  if (by === null || critic?.end === null) return
  if (critic === null) return startCritic(call, job, by)
  const { end } = critic
  if ('error' in end) return skipCritique(call, job, { reason: 'agent', why: `\`${by}\` failed: ${end.error}` })
  const text = end.output === null ? end.text : jsonForModel(end.output)
  recordCritique(call, job, { found: critiqueIn(text), by })
}

/** Records the start of a critic. Where there can be none, the answer stands as it is, or the call fails. */
function startCritic(call: AgentCall, job: Job, agent: string): void {
  const spending = { agent: call.agent, iterations: 0, isToolless: true, isForOutput: true, room: 2 }
  const allowance = allowModelCall(job.run, spending, circumstances(job))
  if (allowance.kind === 'refused')
    return skipCritique(call, job, { reason: 'budget', why: `the budget has no room for it (${allowance.detail})` })
  const pinned = unchosenChild(call, job, agent)
  if ('why' in pinned) return skipCritique(call, job, pinned)
  const { scrub, final, agent: criticised } = call
  const answer = final?.text ?? ''
  const asked = {
    question: messageAsRead(call),
    answer: scrub === null ? answer : scrub(answer),
    criteria: criticised.reflection.criteria,
  }
  const child = { agent, message: jsonForModel(asked), generated: null, map: {}, history: 'isolated' as const }
  const more = { toolCallId: null, critique: true as const }
  startChild({ parent: call, child, pinned, callId: job.env.ids.call(), parentCall: call.place.call, more }, job)
}
