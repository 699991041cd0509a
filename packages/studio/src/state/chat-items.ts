/** The chat as it is read from top to bottom: what people said, and what came of it. */
import type { ChatMessage, ConversationView } from '@witan/client'

/** One item of the chat. A run comes after its messages. */
export type ChatItem =
  | { readonly kind: 'message'; readonly key: string; readonly message: ChatMessage }
  | { readonly kind: 'run'; readonly key: string; readonly runId: string }

/** Runs in order, each after its messages; a message whose run has not begun comes last. */
export function chatItems(view: ConversationView): ChatItem[] {
  const byRun = new Map<string, ChatMessage[]>(view.runs.map((runId) => [runId, []]))
  for (const message of view.messages) {
    const messages = byRun.get(message.rootCallId)
    if (messages === undefined) byRun.set(message.rootCallId, [message])
    else messages.push(message)
  }
  return [...byRun].flatMap(([runId, messages]) => [
    ...messages.map((message): ChatItem => ({ kind: 'message', key: `message ${message.seq}`, message })),
    ...(view.calls.has(runId) ? [{ kind: 'run', key: `run ${runId}`, runId } as const] : []),
  ])
}
