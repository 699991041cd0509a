/** Server-sent events, read and written again: each message is looked at before the protocol's library gets it. */
import { bytesText } from '../identity/json-pieces.ts'
import { createLines, maxAnswerBytes, tooLong } from './read-message.ts'

/** One event. */
interface Frame {
  readonly id: string | null
  readonly event: string | null
  readonly data: string | null
  readonly retry: string | null
}

const empty: Frame = { id: null, event: null, data: null, retry: null }

/** The events of a stream. A line, and the data of an event, hold 16 MiB at most. */
export async function* framesIn(body: AsyncIterable<Buffer>): AsyncGenerator<Frame, void, void> {
  const lines = createLines()
  let frame = empty
  for await (const chunk of body)
    for (const bytes of lines(chunk)) {
      const line = (bytes.length > 65_536 ? await bytesText(bytes) : bytes.toString('utf8')).replace(/\r$/, '')
      if (line === '') {
        if (frame !== empty) yield frame
        frame = empty
      } else frame = withLine(frame, line)
    }
}

function withLine(frame: Frame, line: string): Frame {
  const colon = line.indexOf(':')
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
  if (name !== 'id' && name !== 'event' && name !== 'data' && name !== 'retry') return frame
  if (name !== 'data') return { ...frame, [name]: value.slice(0, 4_096) }
  const data = frame.data === null ? value : `${frame.data}\n${value}`
  if (data.length > maxAnswerBytes) throw tooLong()
  return { ...frame, data }
}

/** An event as text; `data` may stand for what it had. */
export function frameText({ id, event, retry }: Frame, data: string): string {
  const head = [
    id === null ? '' : `id: ${id}\n`,
    event === null ? '' : `event: ${event}\n`,
    retry === null ? '' : `retry: ${retry}\n`,
  ]
  return `${head.join('')}data: ${data}\n\n`
}
