/** Long replies: written as their reader takes them, bounded over all connections, and cut off for a reader that takes nothing. */
import { count, isOpen, join, leave as stopCounting, mostUnreadBytes, type Unread, wasRead } from './unread.ts'

/** The bounds of long replies. Tests make them small. */
interface Pacing {
  /** How many bytes all long replies and streams hold together; beyond it, the one whose reader took nothing for longest is cut off. */
  readonly mostBytes: number
  /** A reader that takes less than `minBytes` in this time is disconnected. */
  readonly stallMs: number
  readonly minBytes: number
}

const defaults: Pacing = Object.freeze({ mostBytes: mostUnreadBytes, stallMs: 10_000, minBytes: 65_536 })

/** How many bytes are written at once. Shorter replies are written whole. */
export const pieceBytes = 65_536

/** The body of a reply: complete, or made chunk by chunk as its reader takes it. */
export type Body = Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array<ArrayBuffer>>

/** What a reply needs of its connection. */
interface PacedOptions {
  /** Closes the connection. */
  readonly destroy: () => void
  /** Called once: when everything was taken, when the reader was gone or too slow, or with the error of what makes the chunks. */
  readonly onEnd: (end: 'done' | 'gone' | 'slow' | 'failed', error?: unknown) => void
  readonly pacing?: Pacing
}

/** A body in pieces that wait for the reader. It holds one chunk, and asks for the next one when that is taken. */
export function paced(
  body: Body,
  { destroy, onEnd, pacing = defaults }: PacedOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = chunksOf(body)[Symbol.asyncIterator]()
  let rest = new Uint8Array()
  let taken = 0
  let takenBefore = 0
  let isMaking = false
  const unread: Unread = {
    bytes: 0,
    cut() {
      leave('slow')
      destroy()
    },
  }
  const leave = (...end: Parameters<PacedOptions['onEnd']>): void => {
    clearInterval(watch)
    if (!stopCounting(unread)) return
    rest = new Uint8Array()
    onEnd(...end)
  }
  const watch = setInterval(() => {
    if (!isMaking && taken - takenBefore < pacing.minBytes) unread.cut()
    takenBefore = taken
  }, pacing.stallMs).unref()
  /** The next chunk, for which the reader has the whole time; null after the last. */
  const make = async (): Promise<Uint8Array<ArrayBuffer> | null> => {
    isMaking = true
    const { value, done } = await chunks.next()
    isMaking = false
    takenBefore = taken
    watch.refresh()
    return done === true ? null : value
  }
  join(unread)
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          while (isOpen(unread) && rest.byteLength === 0) {
            const chunk = await make()
            if (chunk === null) {
              leave('done')
              return controller.close()
            }
            if (!isOpen(unread)) break
            rest = chunk
            count(unread, chunk.byteLength, pacing.mostBytes)
          }
        } catch (error) {
          leave('failed', error)
          throw error
        }
        if (!wasRead(unread)) return controller.error(new Error('The reader of a reply was too slow.'))
        controller.enqueue(rest.subarray(0, pieceBytes))
        taken += Math.min(pieceBytes, rest.byteLength)
        rest = rest.subarray(pieceBytes)
        if (rest.byteLength === 0) count(unread, 0)
      },
      cancel: () => leave('gone'),
    },
    { highWaterMark: 0 },
  )
}

async function* chunksOf(body: Body): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}
