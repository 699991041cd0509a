/** The chat as it is read from top to bottom: what people said, what came of it, and who joined or left. */
import type { ChatMessage, ConversationView } from '@witan/client'

type Change = ConversationView['changes'][number]

/** One item of the chat. A run comes after its messages. */
type ChatItem =
  | { readonly kind: 'message'; readonly key: string; readonly message: ChatMessage }
  | { readonly kind: 'run'; readonly key: string; readonly runId: string }
  | { readonly kind: 'change'; readonly key: string; readonly change: Change }

/** Runs in order, each after its messages; a message whose run has not begun comes last. A change stands before the next run. */
export function chatItems(view: ConversationView): ChatItem[] {
  const byRun = new Map<string, ChatMessage[]>(view.runs.map((runId) => [runId, []]))
  for (const message of view.messages) {
    const messages = byRun.get(message.rootCallId)
    if (messages === undefined) byRun.set(message.rootCallId, [message])
    else messages.push(message)
  }
  const changes = [...view.changes]
  const before = (seq: number): ChatItem[] => {
    const next = changes.findIndex((change) => change.seq > seq)
    return changes.splice(0, next < 0 ? changes.length : next).map(changeItem)
  }
  const items = [...byRun].flatMap(([runId, messages]) => [
    ...before(messages[0]?.seq ?? 0),
    ...messages.map((message): ChatItem => ({ kind: 'message', key: `message ${message.seq}`, message })),
    ...(view.calls.has(runId) ? [{ kind: 'run', key: `run ${runId}`, runId } as const] : []),
  ])
  return [...items, ...changes.map(changeItem)]
}

function changeItem(change: Change): ChatItem {
  return { kind: 'change', key: `change ${change.seq}`, change }
}
