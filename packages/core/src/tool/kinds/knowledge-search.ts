/** A search of knowledge bases: what an agent, an automatic retrieval and an administrator get, by one way. */
import { isWitanError } from '@witan/protocol'
import type { EmbeddingUse, NoticeBody } from '@witan/protocol/entries'
import type { AttributeValue, KnowledgeBase } from '@witan/protocol/knowledge'
import { baseOfDocuments } from '../../knowledge/records.ts'
import { passageId } from '../../knowledge/digest.ts'
import type { FoundPassage } from '../../knowledge/document.ts'
import { joinRanks } from '../../knowledge/ranking.ts'
import { quantized } from '../../knowledge/vector.ts'
import { queryWordsOf } from '../../knowledge/words.ts'
import type { KnowledgeRecords, KnowledgeScope, PassagePlace, PassageRow } from '../../knowledge/records.ts'
import { type Elsewhere, searchElsewhere } from './knowledge-elsewhere.ts'

/** A base, and the name under which the store has its documents. */
export interface FoundBase {
  readonly base: KnowledgeBase
  readonly documents: string
}

/** A base of a search, what of it may be seen, and how many of its passages may be found. */
export interface SearchedBase extends FoundBase {
  readonly filter: Readonly<Record<string, AttributeValue>>
  readonly limit: number
}

/** One search. The best passages of all bases are found together. */
interface KnowledgeSearch {
  readonly database: string
  readonly bases: readonly SearchedBase[]
  readonly query: string
  readonly signal: AbortSignal
  /** Gets what embedding models use for it, also where it rejects. */
  readonly embedded: EmbeddingUse[]
}

/** What a search found, best first, and what a person is told of it. */
interface FoundPassages {
  readonly passages: readonly FoundPassage[]
  readonly notices: readonly NoticeBody[]
}

/** Searches bases. Rejects if the store cannot be read. A base elsewhere that fails is left out, with a notice. */
export type SearchKnowledge = (search: KnowledgeSearch) => Promise<FoundPassages>

/** Where a text stands by the model of that name; null if it cannot be had. */
type EmbedQuery = (
  model: string,
  text: string,
  of: Pick<KnowledgeSearch, 'database' | 'signal' | 'embedded'>,
) => Promise<readonly number[] | null>

/** What a search reads. */
interface SearchedStores extends Elsewhere {
  records(): KnowledgeRecords
  readonly embed: EmbedQuery
}

/** How many characters of a query count. */
const longestQuery = 10_000

/**
 * How many passages of each base a ranking has. More than any base may give, so a ranking by words finds what one of all passages would, and
 * no base keeps another one out; where two rankings are joined, ranks count among these.
 */
const mostRanked = 100

/** One place of a ranking. What was found elsewhere stands in it whole. */
type Ranked = PassagePlace & { readonly passage?: FoundPassage }

interface Searching extends KnowledgeSearch {
  readonly stores: SearchedStores
  /** The place of the query by each model, once it was asked. */
  readonly vectors: ReadonlyMap<string, readonly number[] | null>
  readonly notices: NoticeBody[]
}

/** Searches the bases of a store, and those elsewhere. */
export function searchOf(stores: SearchedStores): SearchKnowledge {
  return async ({ query, ...rest }) => {
    const search: KnowledgeSearch = { ...rest, query: query.slice(0, longestQuery) }
    const vectors = new Map<string, readonly number[] | null>()
    for (const { base } of search.bases)
      if (base.embedding !== null && !vectors.has(base.embedding))
        vectors.set(base.embedding, await stores.embed(base.embedding, search.query, search))
    const notices = search.bases.flatMap(({ base }) => {
      const isPlaced = base.embedding === null || vectors.get(base.embedding) !== null
      return isPlaced ? [] : [embeddingFailed(base.id, base.embedding ?? '')]
    })
    const searching: Searching = { ...search, stores, vectors, notices }
    const own = search.bases.filter(({ base }) => base.query === null)
    const rankings = [...(await rankOwn(searching, own)), ...(await rankElsewhere(searching))]
    const names = search.bases.map(({ documents }) => documents)
    const places = withinLimits(joinRanks(rankings, names, Number.POSITIVE_INFINITY), search.bases)
    return { passages: await readWhole(searching, own, places), notices }
  }
}

/** The rankings of the bases whose documents are here: by words, those of one language together, and by nearness, those of one model. */
async function rankOwn(
  { stores, database, query, vectors }: Searching,
  own: readonly SearchedBase[],
): Promise<readonly (readonly Ranked[])[]> {
  const rankings: (readonly Ranked[])[] = []
  const scopesOf = (isMeant: (base: KnowledgeBase) => boolean) => own.filter(({ base }) => isMeant(base)).map(scopeOf)
  for (const language of new Set(own.map(({ base }) => base.language))) {
    const words = queryWordsOf(query, language)
    const scopes = scopesOf((base) => base.language === language)
    if (words.length > 0)
      rankings.push(await stores.records().rankByWords({ database, scopes, words, limit: mostRanked }))
  }
  for (const [model, numbers] of vectors) {
    const scopes = scopesOf((base) => base.embedding === model)
    if (numbers === null || scopes.length === 0) continue
    const vector = quantized(numbers)
    rankings.push(await stores.records().rankByNearness({ database, scopes, vector, limit: mostRanked }))
  }
  return rankings
}

async function rankElsewhere(searching: Searching): Promise<readonly (readonly Ranked[])[]> {
  const { stores, bases, database, query, signal, vectors, notices } = searching
  const elsewhere = bases.filter(({ base }) => base.query !== null)
  return Promise.all(
    elsewhere.map(async ({ base, documents, filter, limit }) => {
      const embedding = vectors.get(base.embedding ?? '') ?? null
      try {
        const found = await searchElsewhere(stores, { base, database, query, filter, limit, embedding, signal })
        return found.map((passage, place) => ({ base: documents, document: passage.document, place, passage }))
      } catch (error) {
        signal.throwIfAborted()
        notices.push(notSearched(base.id, error))
        return []
      }
    }),
  )
}

/** What a person is told of a base that was not searched. */
export function notSearched(base: string, error: unknown): NoticeBody {
  const why = isWitanError(error) ? error.message : 'its search failed.'
  return { code: 'KNOWLEDGE_FAILED', detail: `The knowledge base \`${base}\` was not searched: ${why}`, base }
}

function embeddingFailed(base: string, model: string): NoticeBody {
  const detail = `The model \`${model}\` could not place the query, so \`${base}\` was searched by words alone.`
  return { code: 'EMBEDDING_FAILED', detail, base }
}

/** The passages at these places. One that is gone meanwhile is left out. */
async function readWhole(
  { stores, database }: Searching,
  own: readonly SearchedBase[],
  places: readonly Ranked[],
): Promise<readonly FoundPassage[]> {
  const wanted = places.filter(({ passage }) => passage === undefined)
  const rows = wanted.length === 0 ? [] : await stores.records().readPassages(database, own.map(scopeOf), wanted)
  const read = new Map(rows.map((row) => [keyOf(row), asFound(row)]))
  return places.flatMap((place) => place.passage ?? read.get(keyOf(place)) ?? [])
}

function keyOf({ base, document, place }: PassagePlace): string {
  return JSON.stringify([base, document, place])
}

function asFound({ base: name, document, place, title, uri, digest, heading, text }: PassageRow): FoundPassage {
  const base = baseOfDocuments(name)
  return { id: passageId({ base, document, digest, place }), base, document, title, uri, heading, text, digest }
}

function scopeOf({ documents, filter }: SearchedBase): KnowledgeScope {
  return {
    base: documents,
    filter: Object.entries(filter).map(([name, value]) => ({ name, values: Array.isArray(value) ? value : [value] })),
  }
}

/** The first places, of each base no more than its limit. */
function withinLimits(places: readonly Ranked[], bases: readonly SearchedBase[]): readonly Ranked[] {
  const left = new Map(bases.map(({ documents, limit }) => [documents, limit]))
  return places.filter(({ base }) => {
    const more = left.get(base) ?? 0
    left.set(base, more - 1)
    return more > 0
  })
}
