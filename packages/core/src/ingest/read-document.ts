/** What becomes of a document that waits: it is read, cut into passages, and placed. */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { textBytes } from '../identity/json-pieces.ts'
import { runWithPauses } from '../identity/pausable.ts'
import { mapInTurns } from '../identity/turn.ts'
import type { Block, DocumentReader, ReadDocument } from '../knowledge/document.ts'
import { digestAgain, readingOf } from '../knowledge/digest.ts'
import { withFailure } from './retry-later.ts'
import { dividedBlocks, type PassagePiece, splitPassages } from '../knowledge/passages.ts'
import { isRead, parseAlready, readAlready } from '../knowledge/read-already.ts'
import { quantized } from '../knowledge/vector.ts'
import { wordsOf } from '../knowledge/words.ts'
import type { DocumentEnd, HeldDocument, KnowledgeRecords } from '../knowledge/records.ts'

/** Places up to 16 texts for a database by an embedding model: a list of numbers for each, all of one length. Rejects where the model fails. */
export type Embed = (
  model: string,
  texts: readonly string[],
  of: { readonly database: string; readonly signal: AbortSignal },
) => Promise<readonly (readonly number[])[]>

/** What reading a document needs. */
export interface Reading {
  readonly knowledge: KnowledgeRecords
  readonly readers: DocumentReader
  /** Null where no connection has embedding models. */
  readonly embed: Embed | null
  now(): number
  /** Reports a problem that nobody else sees. */
  report(error: unknown): void
}

const mostPassages = 100_000
/** Of all passages, each with its title and its path of headings, which count as words of it. */
const mostCharacters = 32_000_000
const embedAtOnce = 16
/** What reads files and places texts has limits of its own; these are for what has none. */
const mostReadSeconds = 60
const mostPlacedSeconds = 180
const mostTitle = 300
const mostDetail = 300

function lengthOf(pieces: readonly PassagePiece[], title: string): number {
  return pieces.reduce((sum, { heading, text }) => sum + title.length + heading.length + text.length, 0)
}

/**
 * Reads a document; `unchanged` if the base has it with this digest, or has it no more and was to read it again. Whatever its reader or its
 * model throws fails it. Rejects only if the store fails, or at an abort.
 */
export async function readDocument(
  reading: Reading,
  { base, held }: { readonly base: KnowledgeBase; readonly held: HeldDocument },
  signal: AbortSignal,
): Promise<DocumentEnd> {
  const { database, key, digest, content } = held
  if (content === null) {
    const row = await reading.knowledge.readDocument(database, held.base, key)
    if (row === null) return { kind: 'unchanged' }
    const about = { ...row, digest: digestAgain(row.digest, base) }
    const end = await endOf(reading, { database, base, about, read: async () => row }, signal)
    if (end.kind === 'stored') return { ...end, over: row.digest }
    if (
      end.kind === 'failed' &&
      end.code === 'EMBEDDING_FAILED' &&
      (await isModelAway(reading, { database, base }, signal))
    )
      return end
    return withFailure(reading, { base, row }, end)
  }
  const page = { prefix: key, after: null, limit: 1 }
  const [known] = await reading.knowledge.listDocuments(database, held.base, page)
  if (known?.key === key && known.digest === digest) return { kind: 'unchanged' }
  const read = () => readContent(reading, { ...held, content }, signal)
  return endOf(reading, { database, base, about: held, read }, signal)
}

/** What becomes of a document whose reading was interrupted too often. Rejects only if the store fails. */
export async function endInterrupted(
  reading: Reading,
  { base, held }: { readonly base: KnowledgeBase; readonly held: HeldDocument },
  detail: string,
): Promise<DocumentEnd> {
  const end = unreadable(detail)
  if (held.content !== null) return end
  const page = { prefix: held.key, after: null, limit: 1 }
  const [row] = await reading.knowledge.listDocuments(held.database, held.base, page)
  return row?.key === held.key ? withFailure(reading, { base, row }, end) : end
}

/** A document to be read: what is known of it, and how it is read. */
interface Task {
  readonly database: string
  readonly base: KnowledgeBase
  readonly about: Pick<HeldDocument, 'key' | 'title' | 'uri' | 'mediaType' | 'attributes' | 'digest'>
  read(): Promise<ReadDocument>
}

async function endOf(reading: Reading, task: Task, signal: AbortSignal): Promise<DocumentEnd> {
  try {
    return await formOf(reading, task, signal)
  } catch (error) {
    signal.throwIfAborted()
    return unreadable(error instanceof Error ? error.message : 'It cannot be read.')
  }
}

async function formOf(
  reading: Reading,
  { database, base, about, read: readIt }: Task,
  signal: AbortSignal,
): Promise<DocumentEnd> {
  const read = await readIt()
  if (!(await runWithPauses(isRead(read)))) throw new Error('Its reader gave no list of blocks.')
  const blocks = await runWithPauses(dividedBlocks(read.blocks))
  const pieces = await runWithPauses(splitPassages(blocks, base.passageCharacters))
  if (pieces.length > mostPassages) return unreadable(`It has more than ${mostPassages} passages. Divide it.`)
  const { key, uri, attributes, digest } = about
  const title = about.title ?? read.title ?? headingOf(blocks)
  if (lengthOf(pieces, title ?? '') > mostCharacters)
    return unreadable(`Its passages with their headings have more than ${mostCharacters} characters. Divide it.`)
  const texts = pieces.map((piece) => textOf(piece, title))
  const vectors = await vectorsOf(reading, { database, model: base.embedding, texts }, signal)
  if (vectors === 'failed')
    return {
      kind: 'failed',
      code: 'EMBEDDING_FAILED',
      detail: `The model \`${base.embedding}\` could not place its passages.`,
    }
  const words = await mapInTurns(texts, (text) => wordsOf(text, base.language))
  const passages = pieces.map((piece, at) => ({ ...piece, words: words[at] ?? [] }))
  const mediaType = 'mediaType' in read ? String(read.mediaType) : about.mediaType
  const form = {
    title: title ?? key,
    uri,
    mediaType,
    attributes,
    digest,
    blocks,
    passages,
    vectors,
    reading: readingOf(base),
  }
  return { kind: 'stored', form, at: reading.now() }
}

function unreadable(detail: string): DocumentEnd {
  return { kind: 'failed', code: 'DOCUMENT_UNREADABLE', detail: detail.slice(0, mostDetail) }
}

type Content = Pick<HeldDocument, 'mediaType'> & { readonly content: string | Uint8Array }

/** Reads the content. What an import brings was read before. */
async function readContent({ readers }: Reading, held: Content, signal: AbortSignal): Promise<ReadDocument> {
  if (held.mediaType !== readAlready || typeof held.content !== 'string')
    return inTime(mostReadSeconds, signal, async (limit) => readers.read(...(await contentOf(held)), limit))
  const read = await runWithPauses(parseAlready(held.content))
  if (read === null) throw new Error('It is not in the form of an export.')
  return read
}

/** What code that is not ours gives, which may never settle. Rejects after so many seconds, and at an abort. */
async function inTime<Result>(
  seconds: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const time = AbortSignal.timeout(seconds * 1000)
  const limit = AbortSignal.any([signal, time])
  const over = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true })
  })
  try {
    return await Promise.race([work(limit), over])
  } catch (error) {
    throw time.aborted ? new Error(`It took longer than ${seconds} s.`) : error
  }
}

/** The bytes of a document and their type. A text is UTF-8 here, whatever its type says. */
async function contentOf({ content, mediaType }: Content): Promise<[Uint8Array, string]> {
  if (typeof content !== 'string') return [content, mediaType]
  return [await textBytes(content), `${mediaType.split(';', 1)[0]}; charset=utf-8`]
}

function headingOf(blocks: readonly Block[]): string | null {
  const first = blocks.find(({ kind, text }) => kind === 'heading' && text.trim() !== '')
  return (
    first?.text
      .slice(0, mostTitle * 4)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, mostTitle)
      .toWellFormed() ?? null
  )
}

/** What a passage is found by: the title of its document and its headings, too. */
function textOf({ heading, text }: PassagePiece, title: string | null): string {
  const above = title === null || heading.startsWith(title) ? [heading] : [title, heading]
  return [...above.filter((line) => line !== ''), text].join('\n')
}

/** Whether the model of a base places nothing at all now, so that no document is to blame. */
async function isModelAway(
  { embed }: Reading,
  { database, base: { embedding } }: Pick<Task, 'database' | 'base'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (embed === null || embedding === null) return true
  try {
    await inTime(mostPlacedSeconds, signal, (limit) => embed(embedding, ['Test.'], { database, signal: limit }))
    return false
  } catch {
    signal.throwIfAborted()
    return true
  }
}

async function vectorsOf(
  { embed, report }: Reading,
  {
    database,
    model,
    texts,
  }: { readonly database: string; readonly model: string | null; readonly texts: readonly string[] },
  signal: AbortSignal,
): Promise<readonly Int8Array[] | null | 'failed'> {
  if (model === null) return null
  try {
    if (embed === null) throw new Error(`No connection has the embedding model \`${model}\`.`)
    const vectors: Int8Array[] = []
    while (vectors.length < texts.length) {
      const batch = texts.slice(vectors.length, vectors.length + embedAtOnce)
      const placed = await inTime(mostPlacedSeconds, signal, (limit) =>
        embed(model, batch, { database, signal: limit }),
      )
      if (placed.length !== batch.length)
        throw new Error(`\`${model}\` placed ${placed.length} of ${batch.length} texts.`)
      const length = vectors[0]?.length ?? placed[0]?.length
      if (placed.some((numbers) => numbers.length !== length || length === 0))
        throw new Error(`\`${model}\` gave vectors of several lengths.`)
      vectors.push(...(await mapInTurns(placed, quantized)))
    }
    return vectors
  } catch (error) {
    signal.throwIfAborted()
    report(error)
    return 'failed'
  }
}
