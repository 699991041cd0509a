/** Words that come into a document, and the ended tasks that they tell of. */
import type { Entry, MessageBody } from '@witan/protocol/entries'
import { documentAt } from './place.ts'
import type { ConversationState, EndedTask, RunState } from './state.ts'

/**
 * Puts a message where its reader will find it: a root's may come before its run. One for a call below it that has ended has no
 * reader, and what it tells of stays untold, as where the call ends with it unread: either may be folded first [F22].
 */
export function foldMessage(
  state: ConversationState,
  run: RunState | null,
  { place, body }: Entry & { body: MessageBody },
): void {
  const { text, artificialActions, id, tasks } = body
  if (id !== undefined) run?.heard.add(id)
  const reader = run?.calls.get(place.call)
  if (reader === undefined && place.parentCall !== null) return
  const document = reader?.document ?? documentAt(state, place.document, place.document)
  document.inbox.push({
    text,
    ...(artificialActions === undefined ? {} : { calls: artificialActions }),
    ...(id === undefined ? {} : { id }),
    ...(tasks === undefined ? {} : { told: told(state, tasks) }),
  })
}

function told(state: ConversationState, tasks: readonly string[]): EndedTask[] {
  return tasks.flatMap((id) => {
    const ended = state.untold.get(id)
    state.untold.delete(id)
    return ended === undefined ? [] : [ended]
  })
}
