/** Fixtures of the conformance tests of knowledge: documents, their forms, and a ranking that is as simple as can be. */
import assert from 'node:assert/strict'
import type { Attributes } from '../../knowledge/document.ts'
import { queryWordsOf, wordsOf } from '../../knowledge/words.ts'
import type {
  DocumentForm,
  HeldDocument,
  KnowledgeScope,
  PassagePlace,
  PendingDocument,
} from '../../knowledge/records.ts'
import type { Store } from '../../store/store.ts'
import { database } from './store-fixtures.ts'

/** A document in short. An empty line stands between passages; `vectors` has one for each. */
export interface Written {
  readonly key: string
  readonly text: string
  readonly attributes?: Attributes
  readonly vectors?: readonly Int8Array[]
  /** Default: `en`. */
  readonly language?: 'en' | 'none'
  /** How its base reads documents. Default: `r1`. */
  readonly reading?: string
}

/** Where documents go. */
interface At {
  readonly database?: string
  readonly base: string
  readonly language?: 'en' | 'none'
}

const home: At = { base: 'handbook' }
let ingests = 0

/** A waiting document. */
export function pendingOf({ key, text, attributes = {} }: Written): PendingDocument {
  const digest = JSON.stringify([text, attributes])
  return { key, title: null, uri: null, mediaType: 'text/plain', content: text, attributes, digest }
}

/** The passages of a text. */
function passagesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n\n')
}

/** The form that a worker makes of a document. */
export function formOf(written: Written): DocumentForm {
  const { key, text, attributes = {}, vectors = null, language = 'en', reading = 'r1' } = written
  const { mediaType, digest } = pendingOf(written)
  const passages = passagesOf(text).map((part, place) => {
    return { place, heading: `part ${place}`, text: part, words: wordsOf(part, language) }
  })
  const blocks = passagesOf(text).map((part) => ({ kind: 'paragraph', text: part }) as const)
  return {
    title: `About ${key}`,
    uri: `file:${key}`,
    mediaType,
    attributes,
    digest,
    blocks,
    passages,
    vectors,
    reading,
  }
}

/** Begins an ingest. */
export async function begun(
  store: Store,
  documents: readonly Written[],
  { at = home, prune = null }: { readonly at?: At; readonly prune?: string | null } = {},
) {
  ingests += 1
  const { database: db = database, base } = at
  const ingest = { base, id: `ingest-${ingests}`, at: 5, prune, failed: [], pending: documents.map(pendingOf) }
  return store.knowledge.beginIngest(db, ingest)
}

/** Claims up to so many documents for a worker; with a lease below 0 they can be claimed again at once. */
export async function claimed(store: Store, owner = 'w1', { limit = 100, leaseMs = 600_000 } = {}) {
  return store.knowledge.claimDocuments({ owner, leaseMs, limit })
}

/** Ends a document as it was read. */
export async function stored(store: Store, held: HeldDocument, written: Written): Promise<boolean> {
  return store.knowledge.endDocument('w1', held, { kind: 'stored', form: formOf(written), at: 7 })
}

/** Ingests documents to the end, and returns the ingest. */
export async function ingested(
  store: Store,
  documents: readonly Written[],
  { at = home, prune = null }: { readonly at?: At; readonly prune?: string | null } = {},
) {
  const { id } = await begun(store, documents, { at, prune })
  for (;;) {
    const held = await claimed(store)
    if (held.length === 0) break
    for (const one of held) {
      const written = documents.findLast(({ key }) => key === one.key) ?? assert.fail(one.key)
      const text = one.content as string
      assert.ok(await stored(store, one, { ...written, text, language: at.language ?? 'en' }))
    }
  }
  return (await store.knowledge.readIngest(at.database ?? database, at.base, id)) ?? assert.fail(id)
}

/** A scope without a filter, or with one value for each name. */
export function scopeOf(
  base: string,
  filter: Readonly<Record<string, string | number | boolean>> = {},
): KnowledgeScope {
  return { base, filter: Object.entries(filter).map(([name, value]) => ({ name, values: [value] })) }
}

/** Searches by words; places in short, as `key/place`. */
export async function found(
  store: Store,
  query: string,
  { scopes = [scopeOf(home.base)], limit = 100, language = 'en' as 'en' | 'none', at = database } = {},
): Promise<string[]> {
  const words = queryWordsOf(query, language)
  return (await store.knowledge.rankByWords({ database: at, scopes, words, limit })).map(short)
}

/** A place in short. */
export function short({ document, place }: PassagePlace): string {
  return `${document}/${place}`
}

/** A passage of the simple ranking. */
interface Candidate {
  readonly name: string
  readonly key: string
  readonly place: number
  readonly words: readonly string[]
}

/** What a search over these documents must find, computed the long way. */
export function expected(documents: readonly Written[], query: string, language: 'en' | 'none' = 'en'): string[] {
  const all: Candidate[] = documents.flatMap(({ key, text }) =>
    passagesOf(text).map((part, place) => ({ name: `${key}/${place}`, key, place, words: wordsOf(part, language) })),
  )
  const average = all.reduce((sum, { words }) => sum + words.length, 0) / all.length
  const asked = queryWordsOf(query, language).map((word) => {
    return { word, holders: all.filter(({ words }) => words.includes(word)).length }
  })
  const scored = all.map((one) => {
    let score = 0
    for (const { word, holders } of asked) {
      const count = one.words.filter((each) => each === word).length
      const rarity = Math.log(1 + (all.length - holders + 0.5) / (holders + 0.5))
      const weight = 1.2 * (1 - 0.75 + (0.75 * one.words.length) / average)
      if (count > 0) score += (rarity * (count * (1.2 + 1))) / (count + weight)
    }
    return { ...one, score }
  })
  const utf8 = ({ key }: Candidate) => Buffer.from(key)
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || Buffer.compare(utf8(a), utf8(b)) || a.place - b.place)
    .map(({ name }) => name)
}
