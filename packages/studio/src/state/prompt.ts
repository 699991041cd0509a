/** Prompts on their way: sent from any page, shown by the page of their conversation. */
import { useSyncExternalStore } from 'react'
import { refreshConversation } from './queries.ts'
import { witan } from './witan.ts'

/** A prompt that was sent. `error` is what the server refused it with. */
export interface SentPrompt {
  readonly text: string
  /** The conversation's seq when it was sent: a later message of the log stands for it. */
  readonly afterSeq: number
  readonly error: unknown
  readonly stopWaiting: AbortController
}

const sent = new Map<string, SentPrompt>()
const listeners = new Set<() => void>()

/** Sends a prompt and returns at once. The run is read from the conversation's events, never from this request. */
export function sendPrompt(
  conversation: { readonly id: string; readonly agent: string; readonly afterSeq: number },
  text: string,
): void {
  const prompt: SentPrompt = { text, afterSeq: conversation.afterSeq, error: null, stopWaiting: new AbortController() }
  put(conversation.id, prompt)
  const chat = witan.conversation(conversation.agent, { id: conversation.id })
  // Actions are answered by hand, on the page.
  chat.onUnhandledAction(() => {})
  chat
    .run(text, { signal: prompt.stopWaiting.signal })
    .catch((error: unknown) => {
      if (!prompt.stopWaiting.signal.aborted) put(conversation.id, { ...prompt, error })
    })
    .finally(() => refreshConversation(conversation.id))
}

/** The log has the prompt: its request is let go, because a browser has few connections to one server. The run goes on. */
export function releasePrompt(prompt: SentPrompt): void {
  prompt.stopWaiting.abort()
}

/** The last prompt that this page sent into a conversation. */
export function useSentPrompt(conversationId: string): SentPrompt | null {
  return useSyncExternalStore(subscribe, () => sent.get(conversationId) ?? null)
}

function put(conversationId: string, prompt: SentPrompt): void {
  sent.set(conversationId, prompt)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
