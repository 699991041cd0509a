/** The text of a file, by its mark, the charset of its media type, or what an HTML page says of itself. */
import { UnreadableError } from './reading.ts'

const metaBytes = 1_024

/** The media type without parameters, in lower case. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** The text of a file. Without a mark and a charset it is UTF-8. Refuses bytes that are no text of that charset, and texts with NUL. */
export function decode(bytes: Uint8Array, mediaType: string): string {
  const charset = markOf(bytes) ?? charsetOf(mediaType) ?? metaOf(bytes, mediaType) ?? 'utf-8'
  const text = decoded(bytes, charset)
  if (text.includes('\0')) throw new UnreadableError('It is not text: it has NUL characters.')
  return text.replace(/\r\n?/g, '\n')
}

function decoded(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof RangeError)
      throw new UnreadableError('Its charset is unknown. The Encoding Standard names them, such as `utf-8`.')
    const fix = 'If it is text, name its charset in the media type, such as `text/plain; charset=windows-1252`.'
    throw new UnreadableError(`It is not text in ${charset}. ${fix}`)
  }
}

function markOf([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : null
}

function charsetOf(mediaType: string): string | null {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(mediaType.slice(0, 500))?.[1] ?? null
}

/** A page that can be read so far is not UTF-16, whatever it says. */
function metaOf(bytes: Uint8Array, mediaType: string): string | null {
  if (essenceOf(mediaType) !== 'text/html') return null
  const head = Buffer.from(bytes.subarray(0, metaBytes)).toString('latin1')
  const charset = /<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1] ?? null
  return charset !== null && /^utf-?16/i.test(charset) ? 'utf-8' : charset
}
