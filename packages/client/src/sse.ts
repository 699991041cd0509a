/** Reads server-sent events, as the HTML standard says. */
import type { Watch } from './timing.ts'

/** One event of a stream. `id` and `event` are empty where the frame has none. */
export interface Frame {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Parses text in pieces of any size. A frame longer than `maxFrameLength` characters throws a `RangeError`. */
interface FrameParser {
  /** The frames that this piece completes. */
  push(piece: string): Frame[]
}

const maxFrameLength = 16 * 1024 * 1024

/** Makes a parser for one stream. A frame that the stream's end cuts off is never given out. */
export function createFrameParser(): FrameParser {
  const lines = createLineSplitter()
  let frame = emptyFrame()
  return {
    push: (piece) => {
      const frames: Frame[] = []
      for (const line of lines.push(piece)) {
        if (line !== '') {
          takeLine(frame, line)
          continue
        }
        if (frame.data.length > 0) frames.push({ id: frame.id, event: frame.event, data: frame.data.join('\n') })
        frame = emptyFrame()
      }
      if (frame.length + lines.pending() > maxFrameLength) {
        throw new RangeError(`an event is longer than ${maxFrameLength} characters`)
      }
      return frames
    },
  }
}

interface OpenFrame {
  id: string
  event: string
  data: string[]
  length: number
}

const emptyFrame = (): OpenFrame => ({ id: '', event: '', data: [], length: 0 })

function takeLine(frame: OpenFrame, line: string): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon === -1 ? line : line.slice(0, colon)
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1
  const value = colon === -1 ? '' : line.slice(start)
  if (name === 'data') frame.data.push(value)
  else if (name === 'event') frame.event = value
  else if (name === 'id' && !value.includes('\0')) frame.id = value
  else return
  frame.length += line.length
}

/** Lines end with CR, LF or CRLF, and a CRLF may be cut between two pieces. */
function createLineSplitter(): { push(piece: string): string[]; pending(): number } {
  let rest: string[] = []
  let pending = 0
  let afterReturn = false
  let atStart = true
  return {
    pending: () => pending,
    push: (piece) => {
      if (piece === '') return []
      let from = 0
      if (atStart && piece.charCodeAt(0) === 0xfeff) from = 1
      else if (afterReturn && piece[0] === '\n') from = 1
      atStart = false
      afterReturn = piece.endsWith('\r')
      const lines: string[] = []
      const ends = /\r\n|\r|\n/g
      ends.lastIndex = from
      for (let end = ends.exec(piece); end; end = ends.exec(piece)) {
        lines.push(rest.join('') + piece.slice(from, end.index))
        rest = []
        pending = 0
        from = end.index + end[0].length
      }
      if (from < piece.length) {
        rest.push(piece.slice(from))
        pending += piece.length - from
      }
      return lines
    },
  }
}

/** The frames of a reply's body. Leaving the loop cancels the body; `watch` runs only while bytes are awaited, not while the caller works. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  watch: Watch = { start: () => {}, stop: () => {} },
): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const parser = createFrameParser()
  try {
    for (;;) {
      watch.start()
      const { done, value } = await reader.read()
      watch.stop()
      if (done) return
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    // A body that already failed rejects the cancel with the same error.
    await reader.cancel().catch(() => {})
  }
}
