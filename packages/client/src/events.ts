/** A conversation's events over any number of connections, without gap or repeat. */
import type { Event } from '@witan/protocol'
import { isWitanError, WitanError } from '@witan/protocol'
import type { EventQuery } from './conversations.ts'
import { invalidReply, isNotFound, unreachable } from './error.ts'
import { type Frame, readFrames } from './sse.ts'
import { backoffMs, createWatch } from './timing.ts'
import {
  conversationSegment,
  isUnreachable,
  maxTries,
  parseReply,
  type RequestOptions,
  retryAfterMs,
  type Transport,
} from './transport.ts'

/**
 * Follows a conversation: stored events after `from`, then live ones. A lost connection is made again with
 * `Last-Event-ID` after a growing pause, without a limit. Ends on abort and when the conversation is deleted;
 * throws when the server refuses, when what it has yielded is not stored any more (`EVENT_ID_AHEAD`, with `details.from`), and when the very first connection fails three times.
 */
export async function* followEvents(
  transport: Transport,
  conversationId: string,
  query: EventQuery & { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Event, void, undefined> {
  const { from, signal: given, ...filter } = query
  const signal = transport.untilClosed(given)
  const path = `/api/v1/conversations/${conversationSegment(conversationId)}/events`
  let lastSeq = from ?? 0
  let failures = 0
  let connected = false
  while (!signal.aborted) {
    const resume = connected && lastSeq > 0
    const request: RequestOptions = {
      query: resume ? filter : { ...filter, from: lastSeq },
      headers: resume ? { 'last-event-id': String(lastSeq) } : {},
      signal,
    }
    let waitMs = 0
    try {
      for await (const frame of openFrames(transport, { method: 'GET', path, request })) {
        connected = true
        if (frame === opened) continue
        refuseWentBack(frame)
        if (frame.event === takenOver) break
        if (frame.event === 'result') throw invalidReply(transport.address(path), 'it is not an event stream')
        failures = 0
        const event = parseReply(transport.address(path), frame.data) as Event
        if (event.seq !== undefined && event.seq <= lastSeq) continue
        lastSeq = event.seq ?? lastSeq
        yield event
      }
    } catch (error) {
      if (signal.aborted || (connected && isNotFound(error))) return
      if (!mayPass(error) || (!connected && failures === maxTries - 1)) throw error
      if (!isUnreachable(error)) waitMs = retryAfterMs(error)
    }
    failures += 1
    waitMs = Math.max(waitMs, backoffMs(transport.timing, failures))
    await transport.timing.pause(waitMs, signal).catch(() => {})
  }
}

/** The last frame of a stream of a process that is too old to read more: another one goes on. */
export const takenOver = 'taken_over'

/** The last frame of a stream whose reader has what is no longer stored: throws `EVENT_ID_AHEAD`, with the seq to go on from. */
export function refuseWentBack(frame: Frame): void {
  if (frame.event !== 'went_back') return
  const from = Number(frame.id)
  throw new WitanError('EVENT_ID_AHEAD', `What is stored went back: events after ${from} that were read are lost.`, {
    hint: `Drop what came after ${from}, and go on from there.`,
    details: { from },
  })
}

/** Whether the same request may succeed later: a lost connection, or a server in trouble. */
function mayPass(error: unknown): boolean {
  if (isUnreachable(error)) return true
  if (!isWitanError(error)) return false
  return error.retryable || error.details.status === 429 || Number(error.details.status) >= 500
}

/** The first item of `openFrames`: the server has accepted the request. */
export const opened: Frame = { id: '', event: '', data: '' }

/** One request whose reply is a stream. */
interface StreamRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly request: RequestOptions
}

/**
 * Sends one request and yields `opened`, then the frames of its reply; a plain JSON reply is one frame `result`.
 * A connection that breaks, or is quiet for longer than `quietMs`, throws `SERVER_UNREACHABLE`; a stream that the
 * server ends just ends.
 */
export async function* openFrames(
  transport: Transport,
  { method, path, request }: StreamRequest,
): AsyncGenerator<Frame, void, undefined> {
  const given = transport.untilClosed(request.signal)
  const lost = new AbortController()
  const watch = createWatch(transport.timing.quietMs, () => lost.abort(new Error('the stream went quiet')))
  try {
    watch.start()
    const response = await transport.open(method, path, {
      ...request,
      headers: { ...request.headers, accept: 'text/event-stream' },
      signal: AbortSignal.any([given, lost.signal]),
    })
    watch.stop()
    yield opened
    if (!response.headers.get('content-type')?.includes('text/event-stream')) {
      yield { id: '', event: 'result', data: await response.text() }
    } else if (response.body) {
      yield* readFrames(response.body, watch)
    }
  } catch (error) {
    given.throwIfAborted()
    if (error instanceof RangeError) throw invalidReply(transport.address(path), error.message)
    throw lost.signal.aborted || isPlatformError(error) ? unreachable(transport.address(path), error) : error
  } finally {
    watch.stop()
  }
}

/** A broken body comes as a bare `TypeError`, or as what the platform's sockets throw. */
function isPlatformError(error: unknown): boolean {
  return error instanceof Error && !('hint' in error)
}
