/** Bases whose documents are kept elsewhere: in a table that a query reads, or behind a search of the program's own. */
import { createHash } from 'node:crypto'
import { WitanError } from '@witan/protocol'
import type { AttributeValue, KnowledgeBase, KnowledgeBaseInput } from '@witan/protocol/knowledge'
import { passageId } from '../../knowledge/digest.ts'
import { cutTo } from '../../parameter/scrub.ts'
import type { QuerySource, QueryValue } from '../source.ts'
import { codeSource, type FoundPassage } from '../../knowledge/document.ts'

/** What a search of the program's own is asked. `filter` has a value for each attribute that the agent binds. */
export interface SourceSearch {
  readonly query: string
  readonly filter: Readonly<Record<string, AttributeValue>>
  readonly limit: number
  readonly signal: AbortSignal
  readonly database: string
}

/** What it finds, best first. `id` names the document there. */
export interface SourceHit {
  readonly id: string
  readonly title?: string | null
  readonly uri?: string | null
  readonly heading?: string
  readonly text: string
}

/** A base whose search is a function of the program: 5 s at most. */
export interface KnowledgeSource {
  readonly base: KnowledgeBaseInput
  search(search: SourceSearch): Promise<readonly SourceHit[]>
}

/** Makes a base of a search function, such as of a search server. The other keys are those of a base; it has no documents here. */
export function defineKnowledgeSource({
  search,
  ...base
}: Omit<KnowledgeBaseInput, 'query' | 'embedding' | 'language' | 'passageCharacters'> & {
  search: KnowledgeSource['search']
}): KnowledgeSource {
  return Object.freeze({ base: { ...base, query: { source: codeSource, query: base.id } }, search })
}

/** The base of what code lists: data, or a base with a search of its own. */
export function baseIn(one: KnowledgeBaseInput | KnowledgeSource): KnowledgeBaseInput {
  return 'search' in one ? one.base : one
}

/** What is searched in place of documents of our own. */
export interface Elsewhere {
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly functions: ReadonlyMap<string, KnowledgeSource>
}

/** One search of such a base. `embedding` is the place of the query, if the base has a model for it. */
interface ElsewhereSearch extends Omit<SourceSearch, 'signal'> {
  readonly base: KnowledgeBase
  readonly embedding: readonly number[] | null
  readonly signal: AbortSignal
}

const mostSeconds = 5
const longestText = 4_000
const longestName = 300

/** The passages of such a base, best first. Rejects with what a person may be told if it could not be searched. */
export async function searchElsewhere(from: Elsewhere, search: ElsewhereSearch): Promise<readonly FoundPassage[]> {
  const signal = AbortSignal.any([search.signal, AbortSignal.timeout(mostSeconds * 1000)])
  const hits = await hitsOf(from, { ...search, signal })
  return hits.slice(0, search.limit).flatMap((hit) => passageOf(search.base.id, hit) ?? [])
}

async function hitsOf(from: Elsewhere, search: ElsewhereSearch): Promise<readonly unknown[]> {
  const { base, signal } = search
  const query = base.query as NonNullable<KnowledgeBase['query']>
  if (query.source !== codeSource) return rowsOf(from, query, search)
  const own = from.functions.get(base.id)
  if (own === undefined) throw notSearched('this process has no search of that name')
  const { database, query: words, filter, limit } = search
  const found = await Promise.race([
    Promise.resolve().then(() => own.search({ database, query: words, filter, limit, signal })),
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    }),
  ]).catch(() => {
    throw notSearched(signal.aborted ? `it took longer than ${mostSeconds} s` : 'its search failed')
  })
  return Array.isArray(found) ? found : []
}

async function rowsOf(
  { sources }: Elsewhere,
  { source: name, query: sql }: NonNullable<KnowledgeBase['query']>,
  { query, filter, limit, embedding, signal }: ElsewhereSearch,
): Promise<readonly unknown[]> {
  const source = sources.get(name)
  if (source === undefined) throw notSearched(`the source \`${name}\` is not configured`)
  const bindings = new Map<string, QueryValue>(Object.entries(filter))
  bindings.set('query', query)
  bindings.set('limit', limit)
  if (embedding !== null) bindings.set('embedding', JSON.stringify(embedding))
  const answer = await source.run({ sql, bindings }, { signal })
  if (!answer.ok) throw notSearched(answer.reason === 'timeout' ? 'it took longer than 5 s' : 'its query failed')
  return answer.rows
}

function notSearched(why: string): WitanError {
  return new WitanError('KNOWLEDGE_NOT_OURS', `${why}.`)
}

/** A hit as a passage; null for one that has no text. Whoever searches elsewhere may give anything. */
function passageOf(base: string, hit: unknown): FoundPassage | null {
  const { id, title, uri, heading, text } = (hit ?? {}) as Readonly<Record<string, unknown>>
  if (typeof text !== 'string' || text === '') return null
  const document = nameIn(id) ?? nameIn(title) ?? ''
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  return {
    id: passageId({ base, document, digest, place: 0 }),
    base,
    document,
    title: nameIn(title) ?? document,
    uri: nameIn(uri),
    heading: nameIn(heading) ?? '',
    text: cutTo(text.toWellFormed(), longestText),
    digest,
  }
}

function nameIn(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? cutTo(value.toWellFormed(), longestName) : null
}
