/** One run as frames: its events as they come, then its result. */
import type { AcceptedRun, Witan } from '@witan/core'
import type { Event } from '@witan/protocol'
import { encodeFrame } from './sse.ts'

/** An event as a frame; a delta has no id, so that a reader resumes after the last stored event [D8]. */
export function eventFrame(event: Event): string {
  const data = JSON.stringify(event)
  return encodeFrame(
    event.seq === undefined ? { event: event.type, data } : { id: String(event.seq), event: event.type, data },
  )
}

/** The last frame of a run's stream, also where it waits or failed. */
export function resultFrame(result: string): string {
  return encodeFrame({ event: 'result', data: result })
}

/** Follows the run live until its result is known, reads what is stored beyond that point, and ends with the result. No result if `signal` aborts first. */
export async function* runFrames(
  witan: Witan,
  accepted: AcceptedRun,
  options: { readonly verbose: boolean; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const { runId, conversationId, fromSeq } = accepted
  const settled = new AbortController()
  const onAbort = (): void => settled.abort()
  options.signal.addEventListener('abort', onAbort)
  accepted.result.then(onAbort, onAbort)
  const { verbose } = options
  let from = fromSeq
  let ended = false
  try {
    for await (const event of witan.followEvents(conversationId, { from, verbose, signal: settled.signal })) {
      if (event.seq !== undefined) from = event.seq
      if (event.rootCallId !== runId) continue
      yield eventFrame(event)
      ended = isEnd(event, runId)
      if (ended) break
    }
  } finally {
    options.signal.removeEventListener('abort', onAbort)
  }
  if (options.signal.aborted) return
  const result = await accepted.result
  while (!ended) {
    const page = await witan.readEvents(conversationId, { from, verbose })
    for (const event of page.events) if (event.rootCallId === runId) yield eventFrame(event)
    from = page.events.at(-1)?.seq ?? from
    ended = !page.more || page.events.length === 0
  }
  yield resultFrame(JSON.stringify(result))
}

/** The one event that nothing of its run follows. */
function isEnd(event: Event, runId: string): boolean {
  return event.callId === runId && event.kind === 'agent' && (event.type === 'end' || event.type === 'error')
}
