/** One run as frames: its events as they come, then its result. */
import type { AcceptedRun, Witan } from '@witan/core'
import type { Event } from '@witan/protocol'
import { type EncodedFrame, eventFrame, lastFrame } from './event-frame.ts'
import { encodeFrame } from './sse.ts'

/** The last frame of a run's stream, also where it waits or failed. */
export function resultFrame(result: string): string {
  return encodeFrame({ event: 'result', data: result })
}

/** A reader of a conversation who was there before the run was accepted: only then is its first model call asked for deltas. */
interface Follower {
  readonly events: AsyncIterable<Event>
  /** What is stored from here on, filtered as the follower is. */
  readonly witan: Witan
  readonly verbose: boolean
  leave(): void
}

/** Joins a conversation at its end. Throws `NOT_FOUND`. */
export async function joinConversation(witan: Witan, id: string, verbose: boolean): Promise<Follower> {
  const { lastSeq } = await witan.getConversation(id)
  const abort = new AbortController()
  const iterator = witan.followEvents(id, { from: lastSeq, verbose, signal: abort.signal })[Symbol.asyncIterator]()
  const first = iterator.next() // the reader joins with its first question, and that must be before the run
  first.catch(() => undefined)
  return { witan, verbose, leave: () => abort.abort(), events: resumed(first, iterator) }
}

async function* resumed(first: Promise<IteratorResult<Event>>, iterator: AsyncIterator<Event>): AsyncGenerator<Event> {
  for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value
}

/** A run's live events until its result is known, then the remaining stored events, then the result. No result if `signal` aborts first. */
export async function* runFrames(
  follower: Follower,
  accepted: AcceptedRun,
  signal: AbortSignal,
): AsyncGenerator<EncodedFrame | string> {
  const place = { from: accepted.fromSeq }
  try {
    yield* liveFrames(follower, { ...accepted, place }, signal)
  } catch (error) {
    const last = lastFrame(error, place.from)
    if (last === null) throw error
    yield last
  }
}

async function* liveFrames(
  follower: Follower,
  accepted: AcceptedRun & { readonly place: { from: number } },
  signal: AbortSignal,
): AsyncGenerator<EncodedFrame | string> {
  const { runId, conversationId, place } = accepted
  const { witan, verbose, leave } = follower
  const isNews = (event: Event): boolean => event.rootCallId === runId && (event.seq ?? place.from + 1) > place.from
  let ended = false
  signal.addEventListener('abort', leave, { once: true })
  accepted.result.then(leave, leave)
  for await (const event of follower.events) {
    if (isNews(event)) yield eventFrame(event)
    place.from = Math.max(place.from, event.seq ?? 0)
    ended = isEnd(event, runId)
    if (ended) break
  }
  if (signal.aborted) return
  const result = await accepted.result
  while (!ended) {
    const page = await witan.readEvents(conversationId, { from: place.from, verbose })
    for (const event of page.events) if (isNews(event)) yield eventFrame(event)
    place.from = page.events.at(-1)?.seq ?? place.from
    ended = !page.more || page.events.length === 0
  }
  yield resultFrame(JSON.stringify(result))
}

/** The one event that nothing of its run follows. */
function isEnd(event: Event, runId: string): boolean {
  return event.callId === runId && event.kind === 'agent' && (event.type === 'end' || event.type === 'error')
}
