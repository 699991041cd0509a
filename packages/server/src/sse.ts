/** Server-sent events: the frame encoder, and a response that never queues more than a megabyte for a slow reader, nor too much over all. */
import { channel } from 'node:diagnostics_channel'
import { createFrameQueue, type FrameQueue } from './frame-queue.ts'
import { count, join, leave, mostUnreadBytes, type Unread, wasRead } from './unread.ts'

/** One frame. `id` and `event` are single lines. */
interface Frame {
  readonly id?: string
  readonly event?: string
  readonly data: string
}

/** A frame as text. A line break of any kind in `data` (CR, LF, CRLF) arrives as LF. */
export function encodeFrame(frame: Frame): string {
  const id = frame.id === undefined ? '' : `id: ${oneLine(frame.id)}\n`
  const event = frame.event === undefined ? '' : `event: ${oneLine(frame.event)}\n`
  const data = frame.data.split(/\r\n|\r|\n/).join('\ndata: ')
  return `${id}${event}data: ${data}\n\n`
}

/** A comment, which readers skip. */
export function encodeComment(text: string): string {
  return `: ${oneLine(text)}\n\n`
}

function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error('an SSE field must be one line without NUL')
  return text
}

/** Why a stream ended: its source ended, its reader disconnected or was too slow, the server stops, or the source failed. */
export type StreamEnd = 'done' | 'disconnected' | 'slow' | 'stopped' | 'failed'

/** The options of a stream. The limits have defaults; tests make them small. */
interface StreamOptions {
  /** Ends the stream for good when it aborts. */
  readonly stop: AbortSignal
  /** Called once, with the reason. */
  readonly onEnd?: (end: StreamEnd, error?: unknown) => void
  /** Closes the connection of a reader that does not even take the last comment. */
  readonly destroy?: () => void
  readonly limits?: StreamLimits
}

/**
 * At most `maxQueuedBytes` (1 MB) are queued; a reader that then takes less than `minBytes` (64 kB) in `stallMs` (10 s) is disconnected, and
 * so is one that does not take the rest of a stream that has ended. All long replies and streams hold `mostBytes` (256 MiB) together.
 */
interface StreamLimits {
  readonly mostBytes?: number
  readonly pingMs: number
  readonly maxQueuedBytes: number
  readonly stallMs: number
  readonly minBytes: number
}

/** The default limits. */
export const defaultLimits: StreamLimits = Object.freeze({
  pingMs: 15_000,
  maxQueuedBytes: 1_000_000,
  stallMs: 10_000,
  minBytes: 64_000,
})

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}
const LAST_WORD_MS = 5_000

/** Publishes the queue of each stream that starts, for tests that measure queued bytes. */
const opened = channel('witan.stream')

/** A response of frames. `source` starts with the first read; its signal aborts when the stream ends for any reason. */
export function streamResponse(
  source: (signal: AbortSignal) => AsyncIterable<Buffer<ArrayBuffer> | string>,
  options: StreamOptions,
): Response {
  const queue = createFrameQueue((options.limits ?? defaultLimits).maxQueuedBytes)
  let stream: Stream | null = null
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        stream ??= startStream(source, queue, options)
        const chunk = await queue.take()
        stream.taken()
        if (chunk === null) controller.close()
        else controller.enqueue(chunk)
      },
      cancel: () => (stream === null ? options.onEnd?.('disconnected') : stream.left()),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers })
}

/** A stream that has begun. */
interface Stream {
  /** Its reader took what was first in the queue. */
  taken(): void
  /** Its reader has left. */
  left(): void
}

/** Starts the source, the pings and the watch on the reader, who is watched until nothing is queued any more. */
function startStream(
  source: (signal: AbortSignal) => AsyncIterable<Buffer<ArrayBuffer> | string>,
  queue: FrameQueue,
  options: StreamOptions,
): Stream {
  const limits = options.limits ?? defaultLimits
  opened.publish(queue)
  const abort = new AbortController()
  let ended = false
  const unread: Unread = {
    bytes: 0,
    cut() {
      close()
      if (ended) cutShort(queue, options)
      else end('slow')
    },
  }
  const close = (): void => {
    clearInterval(watch)
    leave(unread)
  }
  const end = (reason: StreamEnd, error?: unknown): void => {
    if (ended) return
    ended = true
    clearInterval(ping)
    options.stop.removeEventListener('abort', onStop)
    abort.abort()
    if (reason === 'slow') cutShort(queue, options)
    else queue.close()
    watch.unref()
    if (queue.empty()) close()
    options.onEnd?.(reason, error)
  }
  const onStop = (): void => end('stopped')
  const queued = (): void => count(unread, queue.heldBytes(), limits.mostBytes ?? mostUnreadBytes)
  const ping = setInterval(() => {
    if (queue.hungry()) void queue.push(encodeComment('ping'))
  }, limits.pingMs)
  const watch = setInterval(
    watchReader(queue, limits, { isOver: () => ended, tooSlow: () => unread.cut() }),
    limits.stallMs,
  )
  join(unread)
  options.stop.addEventListener('abort', onStop)
  if (options.stop.aborted) onStop()
  else
    pump(source(abort.signal), queue, { signal: abort.signal, queued }).then(
      () => end('done'),
      (error: unknown) => end(abort.signal.aborted ? 'done' : 'failed', error),
    )
  return {
    taken() {
      wasRead(unread)
      queued()
      if (ended && queue.empty()) close()
    },
    left() {
      end('disconnected')
      close()
    },
  }
}

async function pump(
  frames: AsyncIterable<Buffer<ArrayBuffer> | string>,
  queue: FrameQueue,
  { signal, queued }: { readonly signal: AbortSignal; readonly queued: () => void },
): Promise<void> {
  for await (const frame of frames) {
    if (signal.aborted) return
    const room = queue.push(frame)
    queued()
    if (room !== undefined) await room
  }
}

/** Looks whether a reader who could take enough has taken too little. */
function watchReader(
  queue: FrameQueue,
  { minBytes }: StreamLimits,
  { isOver, tooSlow }: { readonly isOver: () => boolean; readonly tooSlow: () => void },
): () => void {
  let takenBefore: number | null = null
  return () => {
    const taken = queue.takenBytes()
    const waits = isOver() ? !queue.empty() : queue.full()
    if (takenBefore !== null && waits && taken - takenBefore < minBytes) tooSlow()
    takenBefore = waits ? taken : null
  }
}

function cutShort(queue: FrameQueue, options: StreamOptions): void {
  queue.cut(encodeComment('slow_consumer'))
  const { destroy } = options
  if (destroy === undefined) return
  const timer = setTimeout(() => {
    if (!queue.empty()) destroy()
  }, LAST_WORD_MS)
  timer.unref()
}
