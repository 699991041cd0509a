/** Detects deadlocks between peers: a message whose answer would wait for its own sender is answered in a fresh document [T10]. */
import { childAddress, type ChildName, freeDocument } from './address.ts'
import { type AgentCall, type ConversationState, type DocumentState, isTop } from './state.ts'

/**
 * Whether a message would wait forever for the peer's document: the peer is above the sender, or a call that waits for the sender
 * holds that document.
 */
export function wouldDeadlock(
  state: ConversationState,
  sender: AgentCall,
  to: ChildName & { readonly job: string },
): boolean {
  for (let above: AgentCall | null = sender; above !== null; above = isTop(above) ? null : above.parent)
    if (above.agent.id === to.agent) return true
  const document = freeDocument(state, childAddress(state, sender, to).key, to.job)
  if (document === null || document.calls.length === 0) return false
  const waiting = waitingFor(sender)
  return document.calls.some((call) => waiting.has(call))
}

/** A call and all calls that wait for it: those above it, and those behind it on its document, and those that wait for these. */
function waitingFor(call: AgentCall): ReadonlySet<AgentCall> {
  const found = new Set([call])
  const looked = new Map<DocumentState, number>()
  for (const one of found) {
    if (one.parent !== null && !isTop(one)) found.add(one.parent)
    const { document } = one
    const from = document.calls.indexOf(one) + 1
    const upTo = looked.get(document) ?? document.calls.length
    for (const behind of document.calls.slice(from, upTo)) found.add(behind)
    if (from < upTo) looked.set(document, from)
  }
  return found
}
