/** Reads a stream of server-sent events, whose other end may be anybody. */
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { TooMuchError } from './too-much.ts'

/** The data of each event, in order. Comments and other fields are left out. Throws `TooMuchError` for an event over `most` bytes. */
export async function* eventData(body: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  /** Pieces of the line that has not ended, so that a line in many pieces is joined once. */
  let pieces: string[] = []
  let lines: string[] = []
  let held = 0
  for await (const bytes of body) {
    held += bytes.byteLength
    if (held > most) throw tooMuch(most)
    let text = decoder.decode(bytes, { stream: true })
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = trimmed([...pieces, text.slice(0, end)].join(''))
      pieces = []
      text = text.slice(end + 1)
      if (line.startsWith('data:')) lines.push(line.slice(line.charCodeAt(5) === 32 ? 6 : 5))
      if (line !== '') continue
      held = text.length
      if (isTurnSpent()) await nextTurn()
      if (lines.length > 0) yield lines.join('\n')
      lines = []
    }
    if (text !== '') pieces.push(text)
  }
  const rest = trimmed([...pieces, decoder.decode()].join(''))
  if (rest.startsWith('data:')) lines.push(rest.slice(rest.charCodeAt(5) === 32 ? 6 : 5))
  if (lines.length > 0) yield lines.join('\n')
}

function tooMuch(most: number): TooMuchError {
  return new TooMuchError(`it sent more than ${most} bytes at once`)
}

function trimmed(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** A whole body as text. Throws `TooMuchError`. */
export async function bodyText(body: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let held = 0
  for await (const bytes of body) {
    held += bytes.byteLength
    if (held > most) throw tooMuch(most)
    pieces.push(decoder.decode(bytes, { stream: true }))
  }
  return pieces.join('') + decoder.decode()
}
