/** Prompts on their way: sent from any page, shown by the page of their conversation. */
import { useSyncExternalStore } from 'react'
import { untilAnswered } from './connection.ts'
import { draftOf, putDraft } from './drafts.ts'
import { newKey } from './new-key.ts'
import { refreshConversation } from './queries.ts'
import { witan } from './witan.ts'

/** A prompt that was sent. `error` is what the server refused it with. */
export interface SentPrompt {
  readonly text: string
  /** The conversation's last seq when it was sent: a later message of the log replaces it. */
  readonly afterSeq: number
  readonly error: unknown
  readonly stopWaiting: AbortController
}

interface Place {
  readonly id: string
  readonly agent: string
  readonly afterSeq: number
}

const sent = new Map<string, SentPrompt>()
const listeners = new Set<() => void>()

/** Sends a prompt and returns at once. While the server is away the prompt waits, and is sent when it is back. */
export function sendPrompt(place: Place, text: string): void {
  const prompt: SentPrompt = { text, afterSeq: place.afterSeq, error: null, stopWaiting: new AbortController() }
  put(place.id, prompt)
  deliver(place, prompt)
    .catch((error: unknown) => {
      if (prompt.stopWaiting.signal.aborted) return
      put(place.id, { ...prompt, error })
      if (draftOf(place.id) === '') putDraft(place.id, text)
    })
    .finally(() => refreshConversation(place.id))
}

/**
 * Streams the run until the page's own reader has it: a model whose first reply nobody reads is called without a stream. What is
 * read here is dropped; the page shows the events of the conversation.
 */
async function deliver({ id, agent }: Place, { text, stopWaiting: { signal } }: SentPrompt): Promise<void> {
  const idempotencyKey = newKey()
  await untilAnswered(async () => {
    const chat = witan.conversation(agent, { id })
    // Actions are answered by hand, on the page.
    chat.onUnhandledAction(() => {})
    await chat.stream(text, { signal, idempotencyKey }).result()
  }, signal)
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
