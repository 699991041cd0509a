/** Knowledge bases over HTTP: list, read, save, search, their documents, and how far an ingest has come. */
import type {
  Ingest,
  IngestRequest,
  KnowledgeBaseInput,
  KnowledgeDocument,
  KnowledgeDocumentInput,
  KnowledgeDocumentLine,
  KnowledgeSearchInput,
  FoundPassages,
  Passage,
  StoredKnowledgeBase,
} from '@witan/protocol/knowledge'
import { followIngest } from './follow-ingest.ts'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { type Revisions, revisionCalls } from './revisions.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** A base to save. A stored one may be sent back as it is: what the store adds, such as its counts, is ignored. */
export type KnowledgeBaseToSave = KnowledgeBaseInput & Partial<Omit<StoredKnowledgeBase, keyof KnowledgeBaseInput>>

/** Which documents of a base: those whose key begins with `prefix`, by default all. */
type KnowledgeDocumentQuery = PageQuery & { readonly prefix?: string }

/** What to ingest. `prune`: delete the documents under this prefix that are not given. `wait: false`: answer at once. */
interface IngestOptions extends Omit<IngestRequest, 'documents'> {
  /** Ends the wait; what was taken is still read. */
  readonly signal?: AbortSignal
}

/** The documents of knowledge bases. Writing needs the role `admin`. */
interface KnowledgeDocuments {
  /** One page, by key, without texts. */
  list(base: string, query?: KnowledgeDocumentQuery): Promise<Page<KnowledgeDocumentLine>>
  /** Every document, page after page. */
  all(base: string, query?: KnowledgeDocumentQuery): AsyncGenerator<KnowledgeDocumentLine, void, undefined>
  /** One document with its text as it was read. */
  get(base: string, key: string): Promise<KnowledgeDocument>
  /** One page of its passages in their order, as a search finds them. */
  passages(base: string, key: string, query?: PageQuery): Promise<Page<Passage>>
  /** Deletes one document: no later search finds it. `NOT_FOUND` if there is none. */
  delete(base: string, key: string): Promise<void>
  /**
   * Gives at most 1,000 documents to read, 16 MiB in all; they survive a crash of the server. Resolves when all are read, or after 20 s, or at once
   * with `wait: false`; `status` says whether it has ended. A bad document fails alone. `KNOWLEDGE_NOT_OURS` for a base over a query.
   */
  ingest(base: string, documents: readonly KnowledgeDocumentInput[], options?: IngestOptions): Promise<Ingest>
}

/** Ingests by id. */
interface Ingests {
  get(base: string, ingestId: string): Promise<Ingest>
  /** The ingest now, and after each change; the last one is `completed`. A lost connection is made again. Ends on abort. */
  follow(
    base: string,
    ingestId: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Ingest, void, undefined>
}

/** The knowledge bases of the database that the token picks. Reading needs the role `read` or `admin`, writing `admin`. */
export interface Knowledge {
  /** One page. */
  list(query?: PageQuery): Promise<Page<StoredKnowledgeBase>>
  /** Every base, page after page. */
  all(query?: PageQuery): AsyncGenerator<StoredKnowledgeBase, void, undefined>
  get(id: string): Promise<StoredKnowledgeBase>
  /** Creates or replaces; documents stay. With `ifMatch` only if the stored revision is that one, else `REVISION_MISMATCH`. Never sent twice. */
  save(base: KnowledgeBaseToSave, options?: { readonly ifMatch?: number }): Promise<StoredKnowledgeBase>
  /** Deletes a base with its documents; `KNOWLEDGE_REFERENCED` while an agent lists it, unless `force`. */
  delete(id: string, options?: { readonly force?: boolean; readonly ifMatch?: number }): Promise<void>
  readonly revisions: Revisions<StoredKnowledgeBase>
  /**
   * The passages that an agent with this filter gets, best first; at most `limit` (1 to 20, default 6). `KNOWLEDGE_FILTER_MISSING` without a value
   * for each of the base's `requiredFilters`. `notices` say what a person should know of it, such as `KNOWLEDGE_PENDING`.
   */
  search(id: string, search: KnowledgeSearchInput, options?: { readonly signal?: AbortSignal }): Promise<FoundPassages>
  readonly documents: KnowledgeDocuments
  readonly ingests: Ingests
}

/** The knowledge calls over one transport. */
export function knowledgeCalls(transport: Transport): Knowledge {
  const at = (id: string) => `/api/v1/knowledge/${segment(id)}`
  const list = (query: PageQuery = {}): Promise<Page<StoredKnowledgeBase>> =>
    transport.json('GET', '/api/v1/knowledge', { query: { ...query } })
  return {
    list,
    all: (query) => eachItem(list, query),
    get: (id) => transport.json('GET', at(id)),
    save: (base, { ifMatch } = {}) =>
      transport.json('PUT', at(base.id), { body: base, headers: revisionHeader(ifMatch) }),
    delete: (id, { force, ifMatch } = {}) =>
      transport.json('DELETE', at(id), { query: force ? { force: true } : {}, headers: revisionHeader(ifMatch) }),
    revisions: revisionCalls(transport, at),
    search: (id, search, { signal } = {}) =>
      transport.json('POST', `${at(id)}/search`, { body: search, signal, onlyReads: true }),
    documents: knowledgeDocumentCalls(transport, at),
    ingests: {
      get: (base, ingestId) => transport.json('GET', `${at(base)}/ingests/${segment(ingestId)}`),
      follow: (base, ingestId, { signal } = {}) =>
        followIngest(transport, `${at(base)}/ingests/${segment(ingestId)}`, signal),
    },
  }
}

function knowledgeDocumentCalls(transport: Transport, at: (id: string) => string): KnowledgeDocuments {
  const list = (base: string, query: KnowledgeDocumentQuery = {}): Promise<Page<KnowledgeDocumentLine>> =>
    transport.json('GET', `${at(base)}/documents`, { query: { ...query } })
  return {
    list,
    all: (base, query = {}) => eachItem((page) => list(base, { ...query, ...page }), query),
    get: (base, key) => transport.json('GET', `${at(base)}/documents/${segment(key)}`),
    passages: (base, key, query = {}) =>
      transport.json('GET', `${at(base)}/documents/${segment(key)}/passages`, { query: { ...query } }),
    delete: (base, key) => transport.json('DELETE', `${at(base)}/documents/${segment(key)}`),
    ingest: (base, documents, { signal, ...options } = {}) =>
      transport.json('POST', `${at(base)}/documents`, { body: { documents, ...options }, signal }),
  }
}
