/** Reads plain text, where no other readers are configured. */
import { bytesText } from '../identity/json-pieces.ts'
import { type Pausable, runWithPauses } from '../identity/pausable.ts'
import type { Block, DocumentReader } from '../knowledge/document.ts'

const mostParagraphs = 200_000
/** How much is looked at between two pauses: so many characters, of which each line counts for some more. */
const pieceCharacters = 65_536
const lineCharacters = 50

/** Paragraphs of UTF-8 text, between blank lines. Gives way to other work. */
export const plainReader: DocumentReader = Object.freeze({
  mediaTypes: ['text/plain'],
  async read(content: Uint8Array) {
    const text = await bytesText(content, { fatal: true }).catch(() => null)
    if (text === null || text.includes('\0')) throw new Error('It is not text in UTF-8.')
    const marked = text.startsWith('\ufeff') ? text.slice(1) : text
    return { title: null, blocks: await runWithPauses(paragraphsOf(marked)) }
  },
  close: async () => {},
})

const [tab, lineEnd, carriageReturn, space] = [9, 10, 13, 32]

function* paragraphsOf(text: string): Pausable<Block[]> {
  const blocks: Block[] = []
  let [begin, at, work] = [0, 0, 0]
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end < 0) break
    work += end - at + lineCharacters
    at = end + 1
    for (let code = text.charCodeAt(at); code === tab || code === space; code = text.charCodeAt(at)) {
      at += 1
      work += 1
      if (work > pieceCharacters) {
        yield
        work = 0
      }
    }
    const isReturned = text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === lineEnd
    if (isReturned || text.charCodeAt(at) === lineEnd) {
      addParagraph(blocks, text.slice(begin, text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end))
      at += isReturned ? 2 : 1
      begin = at
    }
    if (work > pieceCharacters) {
      yield
      work = 0
    }
  }
  addParagraph(blocks, text.slice(begin))
  return blocks
}

function addParagraph(blocks: Block[], text: string): void {
  if (text !== '') blocks.push({ kind: 'paragraph', text })
  if (blocks.length > mostParagraphs) throw new Error(`It has more than ${mostParagraphs} parts. Divide it.`)
}
