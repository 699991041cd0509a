/** What a document of a base, and a passage of it, is known by. */
import { createHash } from 'node:crypto'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { textPieces } from '../identity/json-pieces.ts'
import type { Pausable } from '../identity/pausable.ts'
import type { Attributes } from './document.ts'

/** Counted up when the same file gives other passages than before: all documents are then read again. */
const form = 1
const pieceBytes = 262_144

/** What decides how a base reads documents, beside what these are. */
type Reads = Pick<KnowledgeBase, 'passageCharacters' | 'language' | 'embedding'>

function readingParts({ passageCharacters, language, embedding }: Reads) {
  return [form, passageCharacters, language, embedding]
}

/** How a base reads documents: one that was read otherwise is to be read again. */
export function readingOf(base: Reads): string {
  return createHash('sha256')
    .update(JSON.stringify(readingParts(base)))
    .digest('base64url')
}

/** The digest of a document that a base has read again: what is ingested later differs from it, as it may be read in another way. */
export function digestAgain(old: string, base: Reads): string {
  return `sha256:${createHash('sha256')
    .update(`${old} ${readingOf(base)}`)
    .digest('hex')}`
}

/** What a digest stands for. */
interface DigestedDocument {
  readonly title: string | null
  readonly uri: string | null
  readonly mediaType: string
  readonly content: string | Uint8Array
  readonly attributes: Attributes
}

/**
 * The digest of all that decides how a document is found: what was given, and how its base reads it. `sha256:` and 64 hexadecimal digits.
 * A text and the same text as bytes have different ones.
 */
export function* documentDigest(base: Reads, document: DigestedDocument): Pausable<string> {
  const { title, uri, mediaType, content } = document
  const attributes = Object.entries(document.attributes).sort(([one], [other]) => (one < other ? -1 : 1))
  const read = readingParts(base)
  const hash = createHash('sha256')
  hash.update(`${JSON.stringify([...read, title, uri, mediaType, attributes, typeof content])}\n`)
  for (const piece of typeof content === 'string' ? textPieces(content) : bytePieces(content)) {
    hash.update(piece)
    yield
  }
  return `sha256:${hash.digest('hex')}`
}

function* bytePieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** The id of a passage: `k` and 8 characters of a-z and 2-7, the same for as long as its document is unchanged. */
export function passageId(passage: {
  readonly base: string
  readonly document: string
  readonly digest: string
  readonly place: number
}): string {
  const { base, document, digest, place } = passage
  const hash = createHash('sha256')
    .update(JSON.stringify([base, document, digest, place]))
    .digest()
  return `k${Array.from(hash.subarray(0, 8), (byte) => letters[byte & 31]).join('')}`
}
