/** Folds hand-overs: which call has control of a position, and what its answer may say [C33]. */
import type { Entry } from '@witan/protocol/entries'
import { takePlan } from './plan.ts'
import type { AgentCall, LiveJob } from './state.ts'
import type { SharedHistory } from './shared-history.ts'

/** Gives a call the control of the one that hands over to it: it works in the same document, before its turn ends [C33]. */
export function takeControl(run: LiveJob, source: AgentCall, call: AgentCall): void {
  const { calls, handOverTargets } = call.document
  source.active = false
  source.handedTo = call
  calls.splice(calls.indexOf(source), 0, call)
  run.calls.set(call.place.call, call)
  if (!handOverTargets.includes(call.agent.id)) call.document.handOverTargets = [...handOverTargets, call.agent.id]
  call.active = true
}

/** Folds a hand-over, and the return of control to the call that had handed over. */
export function foldTransfer(run: LiveJob | null, { place, body }: Entry & { type: 'transfer' }): void {
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  const { from, to, returned } = body
  if (returned) {
    call.active = true
    call.handedTo = null
    takePlan(call)
    return
  }
  run.transfers += 1
  call.document.handOvers = [...call.document.handOvers, pairOf(from, to)]
}

/** What the target of a hand-over reads of the document that its position shares. */
export function inheritedHistory(
  { shared }: AgentCall,
  reader: Pick<SharedHistory, 'scrub' | 'naming'>,
): SharedHistory | null {
  return shared === null ? null : { ...shared, ...reader }
}

/** A hand-over as the document notes it. */
export function pairOf(from: string, to: string): string {
  return `${from}>${to}`
}

/** Notes that a person or a tool has said something in a call's document: every hand-over may be made again [E40]. */
export function allowHandOvers({ document }: AgentCall): void {
  if (document.handOvers.length > 0) document.handOvers = nothingNoted
}

const nothingNoted: readonly string[] = []

/** A text that answers a call, without the values bound to it and to those that it handed over to [C17]. */
export function answerText(call: AgentCall, text: string): string {
  const clean = call.handedTo === null ? text : answerText(call.handedTo, text)
  return call.scrub === null ? clean : call.scrub(clean)
}

/**
 * A text of a call that speaks in the place of others, for the caller that collects it: without the values bound to each of them [C17].
 * Those of the child itself are removed where its answer is read.
 */
export function gatheredText(call: AgentCall, text: string): string {
  let clean = text
  for (let at = call; at.parent !== null && at.parent.gathered === at.gathered; at = at.parent)
    if (at.scrub !== null) clean = at.scrub(clean)
  return clean
}
