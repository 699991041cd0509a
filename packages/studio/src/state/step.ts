/** Which step of a workflow a call is, in words. */
import type { CallView, ConversationView } from '@witan/client'

/** `step 1`, `round 2, step 1`, or the branch of a parallel's child, such as `panel.0`; null for every other call. */
export function stepWords(view: ConversationView, { step, branch, parentCallId }: CallView): string | null {
  if (step === null) return null
  if (branch !== null && branch !== view.calls.get(parentCallId ?? '')?.branch) return `branch ${branch}`
  const index = `step ${step.index + 1}`
  return step.round === 0 ? index : `round ${step.round + 1}, ${index}`
}
