/** Events of a conversation in short, and the view that they give. */
import type { AnyEvent } from '@witan/protocol'
import { createConversationFold } from '../conversation-fold.ts'
import type { ConversationView } from '../conversation-view.ts'

/** An event, in short. */
export type Given = readonly [type: string, callId: string, content?: object, kind?: AnyEvent['kind']]

/** Events one second apart, numbered in their order; deltas carry no number. `a.b` is a call below `a`. */
export function events(...given: readonly Given[]): AnyEvent[] {
  return eventsOf(given)
}

/** The same of a list. */
export function eventsOf(given: readonly Given[]): AnyEvent[] {
  let seq = 0
  return given.map(([type, callId, content = {}, kind = null], index) => {
    if (type !== 'delta') seq += 1
    const parent = callId.split('.').slice(0, -1).join('.')
    const event = {
      ...(type === 'delta' ? {} : { seq }),
      type,
      kind,
      callId,
      parentCallId: parent === '' ? null : parent,
      rootCallId: callId.split('.')[0],
      conversationId: 'chats/1',
      document: 'chats/1',
      author: 'somebody',
      agentPath: callId.replaceAll('.', '/'),
      invocationId: callId,
      branch: null,
      branchPath: [],
      authorKind: 'agent' as const,
      at: new Date(index * 1000).toISOString(),
      content,
      actions: {},
    }
    return event as AnyEvent
  })
}

/** The view that they give. */
export function viewOf(given: readonly AnyEvent[]): ConversationView {
  const fold = createConversationFold()
  for (const event of given) fold.take(event)
  return fold.view
}
