/** The documents of knowledge bases: listed, read, ingested and deleted. */
import { WitanError } from '@witan/protocol'
import { type Ingest, ingestRequestSchema, type KnowledgeDocumentLine, type Passage } from '@witan/protocol/knowledge'
import { type BaseRow, documentsOf } from '../agent/records.ts'
import { baseOfDocuments } from '../knowledge/records.ts'
import { isoDate } from '../event/project.ts'
import { notFound } from '../identity/not-found.ts'
import { passageId } from '../knowledge/digest.ts'
import { pageStart } from '../store/cursor.ts'
import type { DocumentRow, IngestRow, PassageRow, RereadFailure } from '../knowledge/records.ts'
import type { KnowledgeDocuments } from './contract.ts'
import { parseBody } from './body.ts'
import { rowPage } from './page.ts'
import type { Scope } from './scope.ts'

/** Finds a base for a principal with a role. */
type FindOwn = (role: 'read' | 'admin', id: string) => Promise<BaseRow>

/** The documents of the bases of one database. */
export function knowledgeDocuments({ parts, database }: Scope, find: FindOwn): KnowledgeDocuments {
  const records = () => parts.store.knowledge
  /** A base whose documents are kept here, and their name. */
  const own = async (role: 'read' | 'admin', id: string) => {
    const row = await find(role, id)
    const { data } = row
    if (data.query === null) return { base: data, name: documentsOf(row) }
    const detail = `Knowledge base \`${id}\` searches the source \`${data.query.source}\`, and has no documents here.`
    throw new WitanError('KNOWLEDGE_NOT_OURS', detail, { hint: 'Change the documents in that database.' })
  }
  return {
    async list(id, { prefix = '', ...options } = {}) {
      const { name } = await own('read', id)
      return rowPage(options, (page) => records().listDocuments(database, name, { ...page, prefix }), {
        item: lineOf,
        id: ({ key }) => key,
      })
    },
    async get(id, key) {
      const { name } = await own('read', id)
      const row = await records().readDocument(database, name, key)
      if (row === null) throw notFound('knowledge document', key)
      return { ...lineOf(row), text: row.blocks.map(({ text }) => text).join('\n\n') }
    },
    async passages(id, key, options = {}) {
      const { name } = await own('read', id)
      // The first document under its own key is itself; its text is not read.
      const [row] = await records().listDocuments(database, name, { prefix: key, limit: 1, after: null })
      if (row?.key !== key) throw notFound('knowledge document', key)
      const scope = { base: name, filter: [] }
      return rowPage(
        options,
        ({ limit, after }) => {
          const from = after === null ? 0 : pageStart(placeOf(after, row.passages)) + 1
          const length = Math.min(limit, row.passages - from)
          const places = Array.from({ length }, (_, index) => ({ base: name, document: key, place: from + index }))
          return records().readPassages(database, [scope], places)
        },
        { item: passageOf, id: ({ place }) => String(place) },
      )
    },
    async delete(id, key) {
      const { name } = await own('admin', id)
      if (!(await records().deleteDocument(database, name, key))) throw notFound('knowledge document', key)
    },
    async ingest(id, request) {
      const { documents, prune, wait } = await parseBody(ingestRequestSchema, request)
      const { base, name } = await own('admin', id)
      const row = await parts.ingests.begin({ database, base: name }, base, { documents, prune })
      if (!wait || row.endedAt !== null) return ingestOf(row)
      return ingestOf((await endOf(parts.ingests.follow({ database, base: name, id: row.id }, waiting()))) ?? row)
    },
    async readIngest(id, ingest) {
      const { name } = await own('read', id)
      const row = await records().readIngest(database, name, ingest)
      if (row === null) throw notFound('ingest', ingest)
      return ingestOf(row)
    },
    async *followIngest(id, ingest, signal) {
      const { name } = await own('read', id)
      for await (const row of parts.ingests.follow({ database, base: name, id: ingest }, signal)) yield ingestOf(row)
    },
  }
}

function lineOf(row: DocumentRow): KnowledgeDocumentLine {
  const { key, title, uri, mediaType, attributes, digest, revision, passages, ingestedAt, failure } = row
  return {
    ...{ key, title, uri, mediaType, attributes: { ...attributes }, digest, revision, passages },
    ingestedAt: isoDate(ingestedAt),
    failure: failure === null ? null : failureOf(failure),
  }
}

function failureOf({ code, detail, at, attempts, retryAt }: RereadFailure): KnowledgeDocumentLine['failure'] {
  return { code, detail, at: isoDate(at), attempts, retryAt: retryAt === null ? null : isoDate(retryAt) }
}

/** The place that a cursor names; null for none. */
function placeOf(cursor: string, passages: number): number | null {
  const place = Number(cursor)
  return /^\d{1,9}$/.test(cursor) && place < passages ? place : null
}

function passageOf({ base: name, document, place, digest, title, uri, heading, text }: PassageRow): Passage {
  const base = baseOfDocuments(name)
  return { id: passageId({ base, document, digest, place }), base, document, title, uri, heading, text }
}

/** How long a request waits for the end of its ingest. */
const mostWaitMs = 20_000

function waiting(): AbortSignal {
  return AbortSignal.timeout(mostWaitMs)
}

/** The last row; null for none. */
async function endOf(rows: AsyncIterable<IngestRow>): Promise<IngestRow | null> {
  let last: IngestRow | null = null
  for await (const row of rows) last = row
  return last
}

function ingestOf(row: IngestRow): Ingest {
  const { id, total, added, changed, unchanged, deleted, failed, startedAt, endedAt } = row
  return {
    id,
    status: endedAt === null ? 'running' : 'completed',
    total,
    done: added + changed + unchanged + failed.length,
    ...{ added, changed, unchanged, deleted, failed: failed.map((one) => ({ ...one })) },
    startedAt: isoDate(startedAt),
    endedAt: endedAt === null ? null : isoDate(endedAt),
  }
}
