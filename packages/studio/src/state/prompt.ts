/** Prompts on their way: sent from any page, shown by the page of their conversation. */
import type { FilePart } from '@witan/client'
import { useSyncExternalStore } from 'react'
import { putFiles } from './attachments.ts'
import { untilAnswered } from './connection.ts'
import { draftOf, putDraft } from './drafts.ts'
import { newKey } from './new-key.ts'
import { refreshConversation } from './queries.ts'
import { witan } from './witan.ts'

/** A prompt that was sent. `error` is what the server refused it with. */
interface SentPrompt {
  readonly text: string
  readonly files: readonly FilePart[]
  /** The person in whose name it is sent; null for the user of this page. */
  readonly author: string | null
  /** The conversation's last seq when it was sent: a later message of the log replaces it. */
  readonly afterSeq: number
  /** Closes the open actions of the run: else they refuse it. */
  readonly cancelsActions: boolean
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

/** What a person says. */
export type Said = Pick<SentPrompt, 'text' | 'files' | 'author'> & Partial<Pick<SentPrompt, 'cancelsActions'>>

/** Sends a prompt and returns at once. While the server is away the prompt waits, and is sent when it is back. */
export function sendPrompt(place: Place, said: Said): void {
  const prompt: SentPrompt = {
    cancelsActions: false,
    ...said,
    afterSeq: place.afterSeq,
    error: null,
    stopWaiting: new AbortController(),
  }
  put(place.id, prompt)
  deliver(place, prompt)
    .catch((error: unknown) => {
      if (prompt.stopWaiting.signal.aborted) return
      put(place.id, { ...prompt, error })
      if (draftOf(place.id) === '') putDraft(place.id, said.text)
      if (said.files.length > 0) putFiles(place.id, said.files)
    })
    .finally(() => refreshConversation(place.id))
}

/**
 * Streams the run until the page's own reader has it: a model whose first reply nobody reads is called without a stream. What is
 * read here is dropped; the page shows the events of the conversation.
 */
async function deliver(
  { id, agent }: Place,
  { text, files, author, cancelsActions, stopWaiting: { signal } }: SentPrompt,
): Promise<void> {
  const words = text.trim() === '' ? [] : [{ type: 'text' as const, text }]
  const prompt = files.length === 0 ? text : [...words, ...files]
  const idempotencyKey = newKey()
  await untilAnswered(async () => {
    const chat = witan.conversation(agent, { id })
    // Actions are answered by hand, on the page.
    chat.onUnhandledAction(() => {})
    await chat
      .stream(prompt, {
        signal,
        idempotencyKey,
        ...(author === null ? {} : { author }),
        ...(cancelsActions ? { cancelPendingActions: true } : {}),
      })
      .result()
  }, signal)
}

/** What a page shows of a prompt on its way: its text, and the names of its files. */
export function wordsOf({ text, files }: SentPrompt): string {
  const names = files.map(({ name, mediaType }) => `+ ${name ?? mediaType}`)
  return [...(text === '' ? [] : [text]), ...names].join('\n')
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
