/** Documents of knowledge bases, their passages, and what an ingest still has to do: the part of a store that knowledge uses. */
import type { AttributeValue } from '@witan/protocol/knowledge'
import type { Attributes, Block, PassageText } from './document.ts'
import type { RowPage } from '../identity/row-page.ts'

/** Why a document could not be read again since its base reads otherwise. Its form of before is found meanwhile. */
export interface RereadFailure {
  readonly code: string
  readonly detail: string
  readonly at: number
  /** How its base was to read it: in another way it is tried anew. */
  readonly reading: string
  readonly attempts: number
  /** Null: not until it or its base changes. */
  readonly retryAt: number | null
}

/** A document as stored. `digest` is that of all that was given; `revision` counts its forms from 1 on. */
export interface DocumentRow {
  readonly key: string
  readonly title: string
  readonly uri: string | null
  readonly mediaType: string
  readonly attributes: Attributes
  readonly digest: string
  readonly revision: number
  readonly passages: number
  readonly ingestedAt: number
  /** Null if it was not tried in vain since it was stored. */
  readonly failure: RereadFailure | null
}

/** A new form of a document. `vectors`: one for each passage, each value in -127…127; null: its base has no embedding. */
export interface DocumentForm {
  readonly title: string
  readonly uri: string | null
  readonly mediaType: string
  readonly attributes: Attributes
  readonly digest: string
  readonly blocks: readonly Block[]
  readonly passages: readonly PassageText[]
  readonly vectors: readonly Int8Array[] | null
  /** How its base reads documents, by which one that was read otherwise is found. */
  readonly reading: string
}

/** A base as a store knows it: in which ways documents of it were read. */
export interface StoredBase {
  readonly base: string
  readonly readings: readonly string[]
}

/** What a search may see: the documents of a base whose attributes equal one of the values, for each name. */
export interface KnowledgeScope {
  readonly base: string
  readonly filter: readonly { readonly name: string; readonly values: readonly (string | number | boolean)[] }[]
}

/** The place of a passage. */
export interface PassagePlace {
  readonly base: string
  readonly document: string
  readonly place: number
}

/** A passage as it was found, with what is told of its document. */
export interface PassageRow extends PassagePlace {
  readonly title: string
  readonly uri: string | null
  readonly digest: string
  readonly heading: string
  readonly text: string
}

/** A document that an ingest has taken and not yet worked on. The content is `text` or `data`; null: the base reads again what it then has. */
export interface PendingDocument {
  readonly key: string
  readonly title: string | null
  readonly uri: string | null
  readonly mediaType: string
  readonly content: string | Uint8Array | null
  readonly attributes: Attributes
  readonly digest: string
}

/** An ingest. `prune`: at its end, documents under that prefix are deleted, but those with one of its `keys`. */
export interface IngestRow {
  readonly base: string
  readonly id: string
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly deleted: number
  readonly failed: readonly { readonly key: string; readonly code: string; readonly detail: string }[]
  readonly startedAt: number
  /** Null while it runs. */
  readonly endedAt: number | null
}

/** A document that a worker holds, until its lease lapses. */
export interface HeldDocument extends PendingDocument {
  readonly database: string
  readonly base: string
  readonly ingest: string
  /** Its place among all that wait, and the number of the claim: both fence what its worker stores. */
  readonly number: number
  readonly attempt: number
}

/**
 * What became of a document. `unchanged`: the base has it with the digest of the held one, or there is nothing to read again. `over`: the
 * digest of the form that was read again. `failure`: kept with that form, if the base still has it.
 */
export type DocumentEnd =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'stored'; readonly form: DocumentForm; readonly at: number; readonly over?: string }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly detail: string
      readonly failure?: RereadFailure
      readonly over?: string
    }

/** What a store does with knowledge. A base has any name; what it means is not the store's. Keys have no lone surrogates. All reads see whole documents: the old form of one until its new form is complete. */
export interface KnowledgeRecords {
  /** How many documents and passages a base has, and how many documents of an ingest wait. */
  countKnowledge(
    database: string,
    base: string,
  ): Promise<{ readonly documents: number; readonly passages: number; readonly waiting: number }>
  /** Every base of a database of which anything is there, a document or an ingest. */
  listBases(database: string): Promise<readonly StoredBase[]>
  /** Documents whose keys begin with a prefix, by key in the order of UTF-8; `after` is a key. The cost of a page does not grow with the others. */
  listDocuments(
    database: string,
    base: string,
    page: RowPage & { readonly prefix: string },
  ): Promise<readonly DocumentRow[]>
  /** A document with its blocks, or null. */
  readDocument(
    database: string,
    base: string,
    key: string,
  ): Promise<(DocumentRow & { readonly blocks: readonly Block[] }) | null>
  /** False if there was none. No later search finds it. What an ingest has taken under its key goes on, but nothing reads it again. */
  deleteDocument(database: string, base: string, key: string): Promise<boolean>
  /** Deletes all documents, ingests and waiting documents of a base, those among them that end meanwhile. */
  deleteKnowledge(database: string, base: string): Promise<void>

  /**
   * The best `limit` passages of each base by words, all of them together, best first: by BM25, with rarity and lengths among what these scopes see together. Equal ones stand
   * by the order of scopes, then by key in the order of UTF-8, then by place. What no scope sees changes nothing.
   */
  rankByWords(search: {
    readonly database: string
    readonly scopes: readonly KnowledgeScope[]
    readonly words: readonly string[]
    readonly limit: number
  }): Promise<readonly PassagePlace[]>
  /** The nearest passages of each base by the cosine of their vectors, nearest first; equal ones as above. Passages without a vector are not found. */
  rankByNearness(search: {
    readonly database: string
    readonly scopes: readonly KnowledgeScope[]
    readonly vector: Int8Array
    readonly limit: number
  }): Promise<readonly PassagePlace[]>
  /** These passages, in this order; those that are gone, or that their scope does not see any more, are left out. */
  readPassages(
    database: string,
    scopes: readonly KnowledgeScope[],
    places: readonly PassagePlace[],
  ): Promise<readonly PassageRow[]>

  /** Stores an ingest with all that it is to read, atomically: from then on it survives a crash. It has ended if nothing waits. */
  beginIngest(
    database: string,
    ingest: {
      readonly base: string
      readonly id: string
      readonly at: number
      readonly prune: string | null
      readonly pending: readonly PendingDocument[]
      readonly failed: IngestRow['failed']
    },
  ): Promise<IngestRow>
  /**
   * Lets documents of a base be read again that were read otherwise than by `reading`: up to `limit` whose keys are behind `after`, but none that
   * failed so and is not due `at` that time. Returns how
   * many; 0 while any of the base waits for that. Until then each is found in its old form, and what is read is what the base has by then, so
   * that nothing comes back that was replaced or deleted meanwhile.
   */
  beginReread(
    database: string,
    again: {
      readonly base: string
      readonly id: string
      readonly at: number
      readonly reading: string
      readonly after: string
      readonly limit: number
    },
  ): Promise<number>
  /** An ingest, or null. Ended ones are kept for at least a day. */
  readIngest(database: string, base: string, id: string): Promise<IngestRow | null>
  /**
   * Waiting documents of any database that nobody holds, each of which is held for `leaseMs` from now on. Bases take turns, and those of one
   * database share its turns; of a base the oldest comes first. One whose key has an older waiting document in its base is not among them.
   */
  claimDocuments(claim: {
    readonly owner: string
    readonly leaseMs: number
    readonly limit: number
  }): Promise<readonly HeldDocument[]>
  /**
   * Stores what became of a document and counts it in its ingest, atomically: either its new form is found from now on and its old one no
   * more, or nothing has changed. The last document of an ingest ends it, and prunes; what another ingest waits for or began later with
   * stays, but not what is only read again. False if this claim does not hold it any more: it was claimed again, given back or deleted.
   * False, too, and gives the document back: `unchanged` of one with a content, if the base has none of that key and digest any more; and
   * `stored` with `over`, if the base has none of that key with that digest. A lease that lapsed, but was not claimed, still holds.
   */
  endDocument(owner: string, held: HeldDocument, end: DocumentEnd): Promise<boolean>
  /** Holds what an owner holds for `leaseMs` from now on. What has lapsed and was claimed by another stays with that one. */
  renewDocuments(owner: string, leaseMs: number): Promise<void>
  /** Gives back what an owner holds: others can claim it at once. */
  releaseDocuments(owner: string): Promise<void>
}

/** Bases from rows, each with one reading; null for none. */
export function storedBases(rows: readonly (readonly [base: string, reading: string | null])[]): StoredBase[] {
  return Array.from(
    Map.groupBy(rows, ([base]) => base),
    ([base, of]) => ({ base, readings: of.flatMap(([, reading]) => reading ?? []) }),
  )
}

/** Whether a document is to be read again at a time: it was not tried in vain, or in another way, or is due. */
export function isDue(
  failure: RereadFailure | null | undefined,
  { reading, at }: { readonly reading: string; readonly at: number },
): boolean {
  if (failure == null || failure.reading !== reading) return true
  return failure.retryAt !== null && failure.retryAt <= at
}

/** How long an ended ingest is kept at least, in ms. */
export const keptIngestMs = 86_400_000

/** The value of an attribute as a store compares it: strings, numbers and booleans are never equal to each other. */
export function comparedValues(value: AttributeValue): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map((one) => JSON.stringify(one))
}

/** The attributes of a document as a store compares them: by name, each with its values in order, once. */
export function comparedAttributes(
  attributes: Attributes,
): readonly (readonly [name: string, values: readonly string[]])[] {
  return Object.entries(attributes)
    .map(([name, value]) => [name, [...new Set(comparedValues(value))].sort()] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The least text behind all that begin with a prefix, in the order of UTF-8; null if there is none, as behind the empty prefix. */
export function afterPrefix(prefix: string): string | null {
  const characters = Array.from(prefix)
  for (;;) {
    const last = characters.pop()?.codePointAt(0)
    if (last === undefined) return null
    if (last < 0x10ffff) return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
  }
}

/** The id of the base whose documents have that name. */
export function baseOfDocuments(name: string): string {
  return name.split('~', 1)[0] ?? name
}
