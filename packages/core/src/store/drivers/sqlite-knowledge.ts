/** Knowledge of the embedded stores: a file and a thread of its own, which begin with the first ingest. */
import { existsSync } from 'node:fs'
import { WitanError } from '@witan/protocol'
import type { Block, PassageText } from '../../knowledge/document.ts'
import type { DocumentEnd, DocumentForm, KnowledgeRecords, PendingDocument } from '../../knowledge/records.ts'
import type { SentEnd } from './sqlite-knowledge/ends.ts'
import { partsOf } from '../parts.ts'
import { inMemory } from './sqlite-file.ts'
import type { FormPart, SentPassage } from './sqlite-knowledge/forms.ts'
import type { SentPending } from './sqlite-knowledge/ingests.ts'
import { KnowledgeThread } from './sqlite-knowledge/thread.ts'

/** Where knowledge is kept. */
interface KnowledgeSettings {
  /** Null: in memory, until the store is closed. */
  readonly file: string | null
  readonly synchronous: 'full' | 'normal'
  readonly now: () => number
}

/** Knowledge, with its lifetime. */
export interface EmbeddedKnowledge {
  readonly records: KnowledgeRecords
  open(): void
  /** Ends the thread, once what is deleted is overwritten. */
  close(): Promise<void>
}

/** Knowledge of one store. Nothing is there before the first ingest: no thread, and no file. */
export function embeddedKnowledge({ file, synchronous, now }: KnowledgeSettings): EmbeddedKnowledge {
  const thread = new KnowledgeThread({ file: file ?? inMemory, synchronous })
  let isOpen = false
  let isThere = false
  /** Whether anything may be stored: a file of another process of before, or what this one began. */
  const has = () => {
    if (!isOpen) throw new WitanError('STORE_UNAVAILABLE', 'The store is not open.', { hint: 'Call `open()` first.' })
    return isThere
  }
  const records: KnowledgeRecords = {
    countKnowledge: async (database, base) =>
      has() ? thread.call('countKnowledge', { database, base }) : { documents: 0, passages: 0, waiting: 0 },
    listBases: async (database) => (has() ? thread.call('listBases', { database }) : []),
    async listDocuments(database, base, { prefix, after, limit, bound }) {
      if (!has()) return []
      const page = { prefix, after, limit, characters: bound?.characters ?? null }
      const { rows, isCut } = await thread.call('listDocuments', { database, base, page })
      if (isCut) bound?.cut()
      return rows
    },
    readDocument: async (database, base, key) => (has() ? readDocument(thread, { database, base, key }) : null),
    deleteDocument: async (database, base, key) => has() && thread.call('deleteDocument', { database, base, key }),
    async deleteKnowledge(database, base) {
      if (has()) await thread.call('deleteKnowledge', { database, base })
    },
    rankByWords: async (search) => (has() ? thread.call('rankByWords', search) : []),
    rankByNearness: async (search) => (has() ? thread.call('rankByNearness', search) : []),
    readPassages: async (database, scopes, places) =>
      has() ? thread.call('readPassages', { database, scopes, places }) : [],
    async beginIngest(database, { pending, ...ingest }) {
      has()
      isThere = true
      return thread.call('beginIngest', { database, ...ingest, now: now() }, pendingParts(pending))
    },
    beginReread: async (database, again) =>
      has() ? thread.call('beginReread', { database, ...again, now: now() }) : 0,
    readIngest: async (database, base, id) => (has() ? thread.call('readIngest', { database, base, id }) : null),
    claimDocuments: async (claim) => (has() ? thread.call('claimDocuments', { ...claim, now: now() }) : []),
    async endDocument(owner, { number, attempt, digest }, end) {
      if (!has()) return false
      const sent: SentEnd = {
        owner,
        held: { number, attempt, digest },
        end: end.kind === 'stored' ? headOf(end) : end,
        now: now(),
      }
      return thread.call('endDocument', sent, end.kind === 'stored' ? formParts(end.form) : [])
    },
    async renewDocuments(owner, leaseMs) {
      if (has()) await thread.call('renewDocuments', { owner, until: now() + leaseMs })
    },
    async releaseDocuments(owner) {
      if (has()) await thread.call('releaseDocuments', { owner })
    },
  }
  return {
    records,
    open() {
      isOpen = true
      isThere ||= file !== null && existsSync(file)
    },
    async close() {
      isOpen = false
      isThere = false
      await thread.close()
    },
  }
}

/** A document with its blocks, read a piece at a time; from the beginning if it changes meanwhile. */
async function readDocument(
  thread: KnowledgeThread,
  at: { readonly database: string; readonly base: string; readonly key: string },
): ReturnType<KnowledgeRecords['readDocument']> {
  for (;;) {
    const found = await thread.call('readDocument', at)
    if (found === null) return null
    const { row, form, pieces } = found
    const blocks: Block[] = []
    for (let piece = 0; ; piece += 1) {
      if (piece === pieces) return { ...row, blocks }
      const read = await thread.call('readBlocks', { ...at, form, piece })
      if (read === null) break
      for (const block of read) blocks.push(block)
    }
  }
}

function headOf({ form, ...rest }: Extract<DocumentEnd, { readonly kind: 'stored' }>) {
  const { title, uri, mediaType, attributes, digest, reading } = form
  return { ...rest, about: { title, uri, mediaType, attributes }, digest, reading }
}

function* pendingParts(pending: readonly PendingDocument[]): Generator<readonly SentPending[]> {
  for (const part of partsOf(pending, ({ content }) => content?.length ?? 0))
    yield part.map(({ key, content, title, uri, mediaType, attributes, digest }) => {
      return { key, content, about: { title, uri, mediaType, attributes, digest } }
    })
}

function* formParts({ passages, vectors, blocks }: DocumentForm): Generator<FormPart> {
  const length = ({ text, words }: PassageText) => text.length + words.length * 6
  let place = 0
  for (const part of partsOf(passages, length)) {
    yield { passages: part.map((passage, index) => sentPassage(passage, vectors?.[place + index] ?? null)), blocks: [] }
    place += part.length
  }
  for (const part of partsOf(blocks, ({ text }) => text.length)) yield { passages: [], blocks: part }
}

function sentPassage({ heading, text, words }: PassageText, vector: Int8Array | null): SentPassage {
  // A view of a larger buffer would be sent with all of it.
  return { heading, text, words: words.join(' '), vector: vector === null ? null : vector.slice() }
}
