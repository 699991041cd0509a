/** Begins the work of a call: what its agent demands comes first, as the body of the call until all of it is met; then its initial queries [C21]. */
import { type Demand, demandsOf, demandsTool } from '../tool/demand.ts'
import { beginBody, endBody } from './body.ts'
import { readInbox, replyOf } from './inbox.ts'
import type { AgentCall, ConversationState, LiveJob } from './state.ts'
import { beginStep } from './step.ts'

/** Begins with what is demanded and not met yet. Of a hidden run, which nobody asked for, nothing is. */
export function beginWork(state: ConversationState, call: AgentCall, isHidden = false): void {
  const all = isHidden ? [] : demandsOf(call.agent)
  if (all.length === 0) return beginInitial(call)
  const demands = all.flatMap((demand, index) => (isMet(state, call, demand) ? [] : [index]))
  if (demands.length > 0) beginBody(state, call, { name: demandsTool, args: { demands } })
  else beginInitial(call)
}

/** Folds that all of it is met. */
export function foldMet(state: ConversationState, run: LiveJob, call: AgentCall): void {
  endBody(run, call)
  for (const demand of demandsOf(call.agent)) if (demand.per === 'conversation') state.met.add(nameOf(call, demand))
  beginInitial(call)
}

function isMet({ met }: ConversationState, call: AgentCall, demand: Demand): boolean {
  return demand.per === 'conversation' && met.has(nameOf(call, demand))
}

/** Other words are another demand. */
function nameOf({ agent }: AgentCall, { kind, message }: Demand): string {
  return JSON.stringify([agent.id, kind, message])
}

/** Adds the initial queries before the first step. The model reads them as its own calls. */
function beginInitial(call: AgentCall): void {
  const { document, initial } = call
  if (initial.length === 0) return
  readInbox(call, document.inbox.length)
  beginStep(call, replyOf(call, { text: '', calls: initial }))
}
