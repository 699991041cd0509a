/** Who answers at a position of the tree: the agent that was called, or agents that control was handed over to. */
import type { CallView, ConversationView } from './conversation-view.ts'

/**
 * The calls whose texts are the answer at a call's position, in order. The last one has control: it speaks now. A call whose
 * target kept control is not listed, because its text repeats the target's [C33]. Empty for an unknown id.
 */
export function speakersOf(view: ConversationView, callId: string): readonly CallView[] {
  const call = view.calls.get(callId)
  if (call === undefined) return []
  const targets = call.children.flatMap((id) => view.calls.get(id) ?? []).filter((one) => one.handedFrom === callId)
  const before = targets.flatMap(({ callId: target }) => speakersOf(view, target))
  return targets.at(-1)?.returned === false ? before : [...before, call]
}
