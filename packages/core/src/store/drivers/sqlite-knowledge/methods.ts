/** What the thread of knowledge does, by name: reads at once, writes one after another in short steps. */
import type { KnowledgeRecords, KnowledgeScope, PassagePlace } from '../../../knowledge/records.ts'
import {
  countKnowledge,
  deleteDocument,
  deleteKnowledge,
  listBases,
  type DocumentPage,
  type DocumentPlace,
  listDocuments,
  readBlocks,
  readDocument,
} from './documents.ts'
import { endDocument, type SentEnd } from './ends.ts'
import type { FormPart } from './forms.ts'
import {
  beginIngest,
  beginReread,
  claimDocuments,
  type NewIngest,
  type NewReread,
  readIngest,
  releaseDocuments,
  renewDocuments,
  type SentClaim,
  type SentPending,
  type SentRenewal,
} from './ingests.ts'
import type { Knowledge } from './open.ts'
import { rankByNearness, rankByWords, readPassages } from './search.ts'

/** Where a base is. */
interface BasePlace {
  readonly database: string
  readonly base: string
}

/** Reads: they run between the steps of a write, and see what is committed. */
export const reads = {
  countKnowledge: (knowledge: Knowledge, at: BasePlace) => countKnowledge(knowledge, at.database, at.base),
  listBases: (knowledge: Knowledge, { database }: { readonly database: string }) => listBases(knowledge, database),
  listDocuments: (knowledge: Knowledge, at: BasePlace & { readonly page: DocumentPage }) =>
    listDocuments(knowledge, at, at.page),
  readDocument: (knowledge: Knowledge, at: DocumentPlace) => readDocument(knowledge, at),
  readBlocks: (knowledge: Knowledge, at: Parameters<typeof readBlocks>[1]) => readBlocks(knowledge, at),
  rankByWords: (knowledge: Knowledge, search: Parameters<KnowledgeRecords['rankByWords']>[0]) =>
    rankByWords(knowledge, search),
  rankByNearness: (knowledge: Knowledge, search: Parameters<KnowledgeRecords['rankByNearness']>[0]) =>
    rankByNearness(knowledge, search),
  readPassages: (
    knowledge: Knowledge,
    at: {
      readonly database: string
      readonly scopes: readonly KnowledgeScope[]
      readonly places: readonly PassagePlace[]
    },
  ) => readPassages(knowledge, at, at.places),
  readIngest: (knowledge: Knowledge, at: BasePlace & { readonly id: string }) => readIngest(knowledge, at, at.id),
} as const

/** Writes. What was sent in parts comes as a list. */
export const writes = {
  beginIngest: (knowledge: Knowledge, ingest: NewIngest, parts: readonly unknown[]) =>
    beginIngest(knowledge, ingest, parts as readonly (readonly SentPending[])[]),
  beginReread: once((knowledge, again: NewReread) => beginReread(knowledge, again)),
  endDocument: (knowledge: Knowledge, sent: SentEnd, parts: readonly unknown[]) =>
    endDocument(knowledge, sent, parts as readonly FormPart[]),
  deleteDocument: once((knowledge, at: DocumentPlace) => deleteDocument(knowledge, at)),
  deleteKnowledge: once((knowledge, at: BasePlace) => deleteKnowledge(knowledge, at.database, at.base)),
  claimDocuments: once((knowledge, claim: SentClaim) => claimDocuments(knowledge, claim)),
  renewDocuments: once((knowledge, renewal: SentRenewal) => renewDocuments(knowledge, renewal)),
  releaseDocuments: once((knowledge, { owner }: { readonly owner: string }) => releaseDocuments(knowledge, owner)),
} as const

/** A write of one step. */
function once<Argument, Result>(work: (knowledge: Knowledge, argument: Argument) => Result) {
  // biome-ignore lint/correctness/useYield: it has one step
  return function* (knowledge: Knowledge, argument: Argument): Generator<void, Result> {
    return work(knowledge, argument)
  }
}

type Reads = typeof reads
type Writes = typeof writes
/** The names of what the thread does. */
export type MethodName = keyof Reads | keyof Writes

/** What a method takes. */
export type ArgumentOf<Name extends MethodName> = Name extends keyof Reads
  ? Parameters<Reads[Name]>[1]
  : Name extends keyof Writes
    ? Parameters<Writes[Name]>[1]
    : never

/** What a method gives. */
export type ResultOf<Name extends MethodName> = Name extends keyof Reads
  ? ReturnType<Reads[Name]>
  : Name extends keyof Writes
    ? ReturnType<Writes[Name]> extends Generator<void, infer Result>
      ? Result
      : never
    : never
