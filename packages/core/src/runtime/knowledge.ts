/** The knowledge bases of one principal's database: their definitions, and what a search of one finds. */
import { WitanError } from '@witan/protocol'
import type { EmbeddingUse, NoticeBody } from '@witan/protocol/entries'
import {
  type FoundPassages,
  type KnowledgeBase,
  knowledgeSearchSchema,
  type StoredKnowledgeBase,
} from '@witan/protocol/knowledge'
import { shownName } from '@witan/protocol/names'
import { deleteBase, getBase } from '../agent/admin/admin.ts'
import { type SavedBase, saveTogether } from '../agent/admin/save.ts'
import { type BaseRow, documentsOf } from '../agent/records.ts'
import { shownChange } from '../identity/changed.ts'
import { frozen } from '../identity/frozen.ts'
import { notFound, nothingHere } from '../identity/not-found.ts'
import { hasRole } from '../identity/rights.ts'
import { parseBody } from './body.ts'
import type { KnowledgeAdmin, SavedKnowledge } from './contract.ts'
import { knowledgeDocuments } from './knowledge-documents.ts'
import { pageOf } from './page.ts'
import { listRevisions, readRevision } from './revisions.ts'
import type { Scope } from './scope.ts'

/** The knowledge of one principal; every method waits until the runtime is ready. */
export function knowledgeAdmin(scope: Scope): KnowledgeAdmin {
  const { parts, database } = scope
  const admin = parts.adminOf(database, scope.principal)
  const admitted = knowledgeAdmission(scope)
  const base = async (role: 'read' | 'admin', id: string) => {
    await admitted(role, notFound('knowledge base', id))
    return getBase(admin, id)
  }
  return {
    async list(options = {}) {
      await admitted('read')
      await parts.registry.ensure(database)
      const rows = [...parts.registry.current(database).bases.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return pageOf(rows, options, { item: (row) => toStoredBase(scope, row), id: ({ data }) => data.id })
    },
    get: async (id) => toStoredBase(scope, await base('read', id)),
    async save(input, options = {}) {
      await admitted('admin')
      const { knowledge } = await saveTogether(admin, { knowledge: [input] }, options)
      return savedBase(scope, knowledge[0] as SavedBase)
    },
    async delete(id, options = {}) {
      await admitted('admin', notFound('knowledge base', id))
      await deleteBase(admin, id, options)
    },
    revisions: {
      list: async (id, options = {}) => listRevisions(admin, (await base('read', id)).id, options),
      async get(id, revision) {
        const row = await base('read', id)
        return toStoredBase(scope, await readRevision<BaseRow>(admin, row.id, revision))
      },
    },
    documents: knowledgeDocuments(scope, base),
    async search(id, request) {
      const row = await base('read', id)
      const { data } = row
      const { query, limit, filter } = await parseBody(knowledgeSearchSchema, request)
      checkFilter(data, request.filter)
      const missing = data.requiredFilters.find((name) => !Object.hasOwn(filter, name))
      if (missing !== undefined) {
        const detail = `Knowledge base \`${id}\` demands a filter by \`${missing}\`.`
        throw new WitanError('KNOWLEDGE_FILTER_MISSING', detail, {
          path: `filter.${missing}`,
          hint: `Write "filter": { "${missing}": … }.`,
        })
      }
      const { signal } = new AbortController()
      const embedded: EmbeddingUse[] = []
      const bases = [{ base: data, documents: documentsOf(row), filter, limit }]
      const { passages, notices } = await parts
        .search({ database, bases, query, signal, embedded })
        .finally(() => parts.spent(database, embedded))
      return {
        passages: passages.map(({ digest: _, ...passage }) => passage),
        notices: [...notices.flatMap((one) => toldOf(one)), ...(await pendingOf(scope, row))],
      }
    },
  }
}

type SearchNotice = FoundPassages['notices'][number]

function toldOf({ code, detail, ...facts }: NoticeBody): readonly SearchNotice[] {
  return code === 'EMBEDDING_FAILED' || code === 'KNOWLEDGE_FAILED'
    ? [{ code, detail, base: (facts as { readonly base: string }).base }]
    : []
}

/** What is said of a base while documents of it wait to be read. */
async function pendingOf({ parts, database }: Scope, row: BaseRow): Promise<readonly SearchNotice[]> {
  const { id, query } = row.data
  if (query !== null) return []
  const { waiting } = await parts.store.knowledge.countKnowledge(database, documentsOf(row))
  if (waiting === 0) return []
  const what = waiting === 1 ? '1 document' : `${waiting} documents`
  const detail = `${what} of \`${id}\` wait to be read by a process that takes work: what is new in them is not found yet.`
  return [{ code: 'KNOWLEDGE_PENDING', detail, base: id }]
}

/** Throws `KNOWLEDGE_INVALID` for a filter by what the base does not declare: it would see nothing, or everything. */
function checkFilter({ id, attributes }: KnowledgeBase, filter: Readonly<Record<string, unknown>> = {}): void {
  const unknown = Object.keys(filter).find((name) => !Object.hasOwn(attributes, name))
  if (unknown === undefined) return
  const names = Object.keys(attributes)
  throw new WitanError('KNOWLEDGE_INVALID', `Knowledge base \`${id}\` has no attribute \`${shownName(unknown)}\`.`, {
    path: 'filter',
    hint: names.length === 0 ? 'It declares none: leave `filter` out.' : `Attributes: ${names.join(', ')}.`,
  })
}

/** Waits until the runtime is ready. Throws `missing` for a principal without the role. */
function knowledgeAdmission({ principal, ready }: Scope) {
  return async (role: 'read' | 'admin', missing = nothingHere()) => {
    await ready()
    if (!hasRole(principal, role, 'admin')) throw missing
  }
}

/** A base that was saved, as its readers get it. */
export async function savedBase(scope: Scope, { row, created }: SavedBase): Promise<SavedKnowledge> {
  return { base: await toStoredBase(scope, row), created }
}

async function toStoredBase({ parts, database }: Scope, row: BaseRow): Promise<StoredKnowledgeBase> {
  const { data, revision, source, warnings, changed } = row
  const counts =
    data.query === null
      ? await parts.store.knowledge.countKnowledge(database, documentsOf(row))
      : { documents: null, passages: null, waiting: null }
  return { ...frozen(data), revision, source, warnings: warnings.map(frozen), ...shownChange(changed), ...counts }
}
