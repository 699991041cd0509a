/** Follows a conversation: its events from the first one, then live, folded in batches into what the page shows. */
import type { Event } from '@witan/protocol'
import { useEffect, useReducer, useState } from 'react'
import { foldEvents } from './fold-events.ts'
import { type ConversationView, emptyConversation } from './run-view.ts'
import { witan } from './witan.ts'

const batchMs = 40

const deleted = Object.assign(new Error('This conversation was deleted.'), {
  code: 'NOT_FOUND',
  hint: 'What you see is what was read before; a new conversation begins anew.',
})

/** The conversation so far; `error` once the stream is lost for good. `retry` begins again from the first event. */
export interface Followed {
  readonly view: ConversationView
  readonly error: unknown
  readonly retry: () => void
}

type Change = { readonly events: readonly Event[] } | 'again'

/** Follows until the page is left. A lost connection is taken up again by the client without a gap. */
export function useEvents(conversationId: string): Followed {
  const [view, change] = useReducer(applyChange, emptyConversation)
  const [error, setError] = useState<unknown>(null)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` is what asks for a new beginning.
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    change('again')
    follow(conversationId, stop.signal, (events) => change({ events }))
      .then(() => {
        if (!stop.signal.aborted) setError(deleted)
      })
      .catch((reason: unknown) => {
        if (!stop.signal.aborted) setError(reason)
      })
    return () => stop.abort()
  }, [conversationId, attempt])
  return { view, error, retry: () => setAttempt((before) => before + 1) }
}

function applyChange(view: ConversationView, change: Change): ConversationView {
  return change === 'again' ? emptyConversation : foldEvents(view, change.events)
}

async function follow(id: string, signal: AbortSignal, give: (events: readonly Event[]) => void): Promise<void> {
  let batch: Event[] = []
  let scheduled = false
  const flush = () => {
    scheduled = false
    const events = batch
    batch = []
    if (!signal.aborted) give(events)
  }
  for await (const event of witan.events(id, { from: 0, verbose: true, signal })) {
    batch.push(event)
    if (scheduled) continue
    scheduled = true
    setTimeout(flush, batchMs)
  }
}
