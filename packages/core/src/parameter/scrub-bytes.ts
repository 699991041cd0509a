/** The content of files without hidden values, a piece at a time, so that a large one holds nothing up [C17, D15]. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isTextType } from '@witan/protocol/files'
import type { Scrubber } from './scrub.ts'

/** How much is scrubbed at once, in characters. */
const pieceLength = 65_536

/**
 * The content without hidden values. Bytes that are UTF-8 are treated as text, whatever their media type. Text in another encoding is
 * read as Latin-1, which changes no other byte; models never read it. Other bytes stay as they are.
 */
export async function scrubbedBytes(
  given: string | Uint8Array,
  mediaType: string,
  scrub: Scrubber,
): Promise<Uint8Array> {
  if (typeof given === 'string') return Buffer.from(scrub === null ? given : await scrubbedText(given, scrub))
  if (scrub === null) return given
  const utf8 = textIn(given)
  if (utf8 === null && !isTextType(mediaType)) return given
  const text = utf8 ?? Buffer.from(given).toString('latin1')
  const clean = await scrubbedText(text, scrub)
  return clean === text ? given : Buffer.from(clean, utf8 === null ? 'latin1' : 'utf8')
}

async function scrubbedText(text: string, scrub: NonNullable<Scrubber>): Promise<string> {
  const pieces = scrub.inPieces()
  let clean = ''
  for (let from = 0; from < text.length; from += pieceLength) {
    if (from > 0) await nextTurn()
    clean += pieces.push(text.slice(from, from + pieceLength))
  }
  return clean + pieces.flush()
}

/** The text of bytes that are UTF-8, else null. */
export function textIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
