/** Folds the calls of agents on other servers: a running tool is the body of such a call, where another has a model or a workflow. */
import type { UsageCounters } from '@witan/protocol'
import type { RemoteAnswer } from '@witan/protocol/entries'
import { addRemoteUsage, roundCost } from '@witan/protocol/entries'
import { countersOf } from './merge-usage.ts'
import { beginBody, endBody } from './body.ts'
import type { AgentCall, ConversationState, LiveJob } from './state.ts'

/** Starts the body of a call that is active from now on, or that has more to tell the other server. */
export function beginRemote(state: ConversationState, call: AgentCall, note?: unknown): void {
  beginBody(state, call, { name: call.agent.id, args: { message: call.message }, note })
}

/** Folds the answer: the call ends with it, unless words have come that the other server does not know. */
export function foldAnswered(state: ConversationState, run: LiveJob, { call, answered }: Answered): void {
  const { text, output, taken, usage } = answered
  const note = call.toolCalls[0]?.note
  foldSpent(run, call, usage)
  endBody(run, call)
  if (call.final !== null) call.earlierAnswers = [...call.earlierAnswers, call.final.text]
  call.final = { text, finishReason: 'stop', offered: true, output: { value: output } }
  call.document.inbox.splice(0, taken)
  if (call.document.inbox.length > 0) beginRemote(state, call, note)
}

/** Counts what a call has spent elsewhere, as model calls of this tree; null: that is unknown. */
export function foldSpent(run: LiveJob, call: AgentCall, usage: UsageCounters | null): void {
  addRemoteUsage(countersOf(call), { usage })
  if (usage === null) return
  run.modelCalls += usage.modelCalls
  run.tokens += usage.totalTokens
  run.costUsd = roundCost(run.costUsd + (usage.costUsd ?? 0))
}

interface Answered {
  readonly call: AgentCall
  readonly answered: RemoteAnswer
}
