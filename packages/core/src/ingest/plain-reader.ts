/** Reads plain text, where no other readers are configured. */
import { pause } from '../identity/turn.ts'
import type { Block, DocumentReader } from '../knowledge/document.ts'

const mostParagraphs = 200_000
/** Paragraphs between two pauses. */
const pieceParagraphs = 1_000

/** Paragraphs of UTF-8 text, between blank lines. Gives way to other work. */
export const plainReader: DocumentReader = Object.freeze({
  mediaTypes: ['text/plain'],
  async read(content: Uint8Array) {
    const text = decoded(content)
    const blocks: Block[] = []
    const gap = /\r?\n[\t ]*\r?\n/g
    for (let [from, piece] = [0, 1]; from < text.length; from = gap.lastIndex || text.length, piece += 1) {
      if (piece % pieceParagraphs === 0) await pause()
      const end = gap.exec(text)?.index ?? text.length
      if (end > from) blocks.push({ kind: 'paragraph', text: text.slice(from, end) })
      if (blocks.length > mostParagraphs) throw new Error(`It has more than ${mostParagraphs} parts. Divide it.`)
    }
    return { title: null, blocks }
  },
  close: async () => {},
})

function decoded(content: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // Refused below.
  }
  throw new Error('It is not text in UTF-8.')
}
