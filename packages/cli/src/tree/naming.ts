/** The words beside a call's name: who handed over to it, and which step of a workflow it is. Pure. */
import type { CallView, ConversationView } from '@witan/client'
import { forWhomWords } from '@witan/protocol/access'
import type { OutsideCaller } from '@witan/protocol/schemas'
import { oneLine } from './width.ts'

/** The name of a call. After a hand-over both agents are named: `desk → billing`. */
export function nameOf(view: ConversationView, { name, handedFrom }: CallView): string {
  const source = view.calls.get(handedFrom ?? '')
  return oneLine(source === undefined ? name : `${source.name} → ${name}`)
}

/** Who called from another server, and for whom: `← @a@b.example for mailto:u@a.example, hop 2`; empty where nobody did. */
export function callerWords(caller: OutsideCaller | null | undefined): string {
  if (caller == null) return ''
  const whom = forWhomWords(caller)
  const who = oneLine(whom === '' ? caller.address : `${caller.address} ${whom}`)
  return `← ${who}${caller.hop === null ? '' : `, hop ${caller.hop}`}`
}

/** How control came back from a call: `billing → desk (back)`; null if it did not. */
export function returnOf(view: ConversationView, { name, handedFrom, returned }: CallView): string | null {
  const source = view.calls.get(handedFrom ?? '')
  return returned && source !== undefined ? oneLine(`${name} → ${source.name} (back)`) : null
}

/** Which step of a workflow a call is: `step 1`, `round 2, step 1`, or its branch of a parallel; empty for every other call. */
export function stepOf(view: ConversationView, { step, branch, parentCallId }: CallView): string {
  if (step === null) return ''
  if (branch !== null && branch !== view.calls.get(parentCallId ?? '')?.branch) return `branch ${oneLine(branch)}`
  const index = `step ${step.index + 1}`
  return step.round === 0 ? index : `round ${step.round + 1}, ${index}`
}

/** Whether a call answers at the root, itself or in the place of the agent that handed over to it. */
export function isAtRoot(view: ConversationView, call: CallView): boolean {
  let at: CallView | undefined = call
  while (at !== undefined && at.handedFrom !== null) at = view.calls.get(at.handedFrom)
  return at?.parentCallId === null
}
