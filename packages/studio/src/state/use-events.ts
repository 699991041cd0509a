/** Follows a conversation: its events from the first one, then live, folded in batches into what the page shows. */
import { type ConversationView, createConversationFold } from '@witan/client'
import type { Event } from '@witan/protocol'
import { createDiagram, type Diagram, type DiagramFold } from '@witan/protocol/protocols'
import { useEffect, useState } from 'react'
import { comesBack, onReopened, whenOpen } from './connection.ts'
import { witan } from './witan.ts'

const batchMs = 40

const lost = Object.assign(new Error('The server does not have this conversation any more.'), {
  code: 'NOT_FOUND',
  hint: 'It was deleted, or its store was in memory and the server restarted. This page shows what it read before.',
})

/** The conversation so far; `error` once the stream is lost for good. `retry` goes on after the last event that was read. */
interface Followed {
  readonly view: ConversationView
  /** Who said what to whom in a run so far; null for a run that is not known. */
  readonly diagramOf: (runId: string) => Diagram | null
  readonly error: unknown
  /** The server has it no more: nothing can be written into it. */
  readonly isGone: boolean
  readonly retry: () => void
}

/** Follows until the page is left. A server that goes away is waited for, and nothing that was read goes meanwhile. */
export function useEvents(conversationId: string): Followed {
  const [fold] = useState(createConversationFold)
  const [diagrams] = useState(() => new Map<string, DiagramFold>())
  const [view, setView] = useState(fold.view)
  const [error, setError] = useState<unknown>(null)
  const [attempt, setAttempt] = useState(0)
  const [reading] = useState({ from: 0 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` is what asks for another try.
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    // The fold changes in place: a copy of its head says that something did.
    const show = () => setView({ ...fold.view })
    const give = (events: readonly Event[]) => {
      for (const event of events) {
        if (event.seq !== undefined && event.seq > fold.view.lastSeq) draw(diagrams, event)
        fold.take(event)
      }
      show()
    }
    follow({ id: conversationId, reading, signal: stop.signal, give })
      .then(() => {
        if (stop.signal.aborted) return
        fold.close()
        show()
        setError(lost)
      })
      .catch((reason: unknown) => {
        if (!stop.signal.aborted) setError(reason)
      })
    return () => stop.abort()
  }, [conversationId, attempt])
  const diagramOf = (runId: string) => diagrams.get(runId) ?? null
  return { view, diagramOf, error, isGone: error === lost, retry: () => setAttempt((before) => before + 1) }
}

function draw(diagrams: Map<string, DiagramFold>, event: Event): void {
  const known = diagrams.get(event.rootCallId) ?? createDiagram(event.rootCallId)
  diagrams.set(event.rootCallId, known)
  known.take(event)
}

interface Following {
  readonly id: string
  /** The last seq that was delivered; a new reader starts after it. */
  readonly reading: { from: number }
  readonly signal: AbortSignal
  give(events: readonly Event[]): void
}

/** Ends when the conversation is gone. Throws what the server refuses. */
async function follow(following: Following): Promise<void> {
  const { signal, reading } = following
  while (!signal.aborted) {
    // The client waits longer and longer between its tries; once the server answers, nothing is to be waited for.
    const anew = new AbortController()
    const leave = onReopened(() => anew.abort())
    try {
      await read(following, AbortSignal.any([signal, anew.signal]))
      if (!anew.signal.aborted) return
    } catch (error) {
      if (signal.aborted) return
      if (!anew.signal.aborted) {
        if (reading.from > 0 && isNotFound(error)) return
        if (!comesBack(error)) throw error
        await whenOpen(signal).catch(() => {})
      }
    } finally {
      leave()
    }
  }
}

/** How many stored events are read at once. The server compresses pages, and never a stream. */
const pageSize = 1000

/** What is stored comes in pages, and only what is new as a stream. */
async function read(following: Following, signal: AbortSignal): Promise<void> {
  const { id, reading, give } = following
  for (let more = true; more && !signal.aborted; ) {
    const page = await witan.conversations.events(id, { from: reading.from, verbose: true, limit: pageSize })
    if (signal.aborted) return
    more = page.more && page.events.length > 0
    reading.from = page.events.at(-1)?.seq ?? reading.from
    if (page.events.length > 0) give(page.events)
  }
  if (!signal.aborted) await stream(following, signal)
}

async function stream({ id, reading, signal: left, give }: Following, signal: AbortSignal): Promise<void> {
  let batch: Event[] = []
  let scheduled = false
  const flush = () => {
    scheduled = false
    const events = batch
    batch = []
    if (left.aborted) return
    reading.from = events.findLast(({ seq }) => seq !== undefined)?.seq ?? reading.from
    give(events)
  }
  for await (const event of witan.events(id, { from: reading.from, verbose: true, signal })) {
    batch.push(event)
    if (scheduled) continue
    scheduled = true
    setTimeout(flush, batchMs)
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NOT_FOUND'
}
