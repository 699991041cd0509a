/** A document that was read before, as text: what an import brings, so that it is cut and placed as its base wants it now. */
import type { Pausable } from '../identity/pausable.ts'
import type { Block, ReadDocument } from './document.ts'

/** The media type of a document that was read before. No reader takes it, so only an import brings it. */
export const readAlready = 'application/vnd.witan.document+json'

/** A document with the media type that it had. */
interface AlreadyRead extends ReadDocument {
  readonly mediaType: string
}

/** The text of a document: a line of JSON for what it is, and one for each block. */
export function writeAlready({ blocks, mediaType, title }: AlreadyRead): string {
  return [{ mediaType, title }, ...blocks].map((one) => JSON.stringify(one)).join('\n')
}

const kinds: ReadonlySet<unknown> = new Set(['heading', 'paragraph', 'list', 'code', 'row'])
/** Characters between two pauses. */
const pieceCharacters = 200_000
/** Blocks between two pauses. */
const blocksAtOnce = 10_000

/** The document of a text, in pieces; null for any other text. */
export function* parseAlready(text: string): Pausable<AlreadyRead | null> {
  const end = lineEnd(text, 0)
  const { mediaType, title } = objectIn(text.slice(0, end))
  if (typeof mediaType !== 'string' || (title !== null && typeof title !== 'string')) return null
  const blocks: Block[] = []
  let work = 0
  for (let from = end + 1; from < text.length; ) {
    const to = lineEnd(text, from)
    const block = objectIn(text.slice(from, to))
    if (!isBlock(block)) return null
    blocks.push(block)
    work += to - from
    from = to + 1
    if (work > pieceCharacters) yield
    work %= pieceCharacters
  }
  return { mediaType, title, blocks }
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}

function objectIn(line: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(line)) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** Whether a document has the form of one, in pieces: a reader from code can give anything. Levels of headings are bounded where they are used. */
export function* isRead(read: unknown): Pausable<boolean> {
  const { title, blocks } = Object(read) as Readonly<Record<string, unknown>>
  if (!Array.isArray(blocks) || typeof (title ?? '') !== 'string') return false
  for (const [at, block] of blocks.entries()) {
    if (!isKindOfText(Object(block))) return false
    if (at % blocksAtOnce === blocksAtOnce - 1) yield
  }
  return true
}

function isBlock(value: object): value is Block {
  const { kind, level } = value as Readonly<Record<string, unknown>>
  if (!isKindOfText(value)) return false
  return kind !== 'heading' || (Number.isInteger(level) && Number(level) >= 1 && Number(level) <= 6)
}

function isKindOfText(value: object): boolean {
  const { kind, text } = value as Readonly<Record<string, unknown>>
  return kinds.has(kind) && typeof text === 'string'
}
