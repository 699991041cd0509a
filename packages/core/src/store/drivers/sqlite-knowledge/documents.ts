/** Documents and their forms, in the thread of knowledge. */
import type { Attributes, Block } from '../../../knowledge/document.ts'
import {
  afterPrefix,
  type DocumentRow,
  type RereadFailure,
  type StoredBase,
  storedBases,
} from '../../../knowledge/records.ts'
import { compareKeys } from '../../../knowledge/ranking.ts'
import { documentSql, droppedSql, groupSql, ingestSql } from '../../sql/knowledge.ts'
import { boundedRows } from '../../../identity/row-page.ts'
import { textIn } from '../sqlite-file.ts'
import type { Row } from '../sqlite-rows.ts'
import { changeGroup } from './groups.ts'
import type { Knowledge } from './open.ts'

/** Where a document is. */
export interface DocumentPlace {
  readonly database: string
  readonly base: string
  readonly key: string
}

/** What is stored of a document as one text. */
export interface DocumentAbout {
  readonly title: string
  readonly uri: string | null
  readonly mediaType: string
  readonly attributes: Attributes
  /** Absent for none. */
  readonly failure?: RereadFailure
}

/** What the row of a document has as one text. */
export function aboutOf(row: Row): DocumentAbout {
  return JSON.parse(row.about as string) as DocumentAbout
}

function documentOf(row: Row): DocumentRow {
  return {
    key: row.key as string,
    failure: null,
    ...aboutOf(row),
    digest: row.digest as string,
    revision: row.revision as number,
    passages: row.passages as number,
    ingestedAt: row.ingested_at as number,
  }
}

/** How much a base has. */
export function countKnowledge(knowledge: Knowledge, database: string, base: string) {
  const number = knowledge.baseOf(database, base)
  const row = number === null ? null : knowledge.get(groupSql.count, number)
  const waiting = number === null ? 0 : (knowledge.tuple(ingestSql.countWaiting, number)?.[0] as number)
  return { documents: (row?.documents as number) ?? 0, passages: (row?.passages as number) ?? 0, waiting }
}

/** The bases of a database. */
export function listBases({ tuples }: Knowledge, database: string): readonly StoredBase[] {
  return storedBases(tuples(groupSql.listBases, database) as unknown as Parameters<typeof storedBases>[0])
}

/** A page of documents, as the thread gets it: `characters` bounds it. */
export interface DocumentPage {
  readonly prefix: string
  readonly after: string | null
  readonly limit: number
  readonly characters: number | null
}

/** Sorts behind every text. */
const behindAll = new Uint8Array([0xff])

/** A page of documents, and whether it ended before its limit for its length. */
export function listDocuments(
  knowledge: Knowledge,
  at: { readonly database: string; readonly base: string },
  { prefix, after, limit, characters }: DocumentPage,
): { readonly rows: readonly DocumentRow[]; readonly isCut: boolean } {
  const base = knowledge.baseOf(at.database, at.base)
  if (base === null) return { rows: [], isCut: false }
  let isCut = false
  const bound =
    characters === null
      ? undefined
      : {
          characters,
          cut: () => {
            isCut = true
          },
        }
  const from = after !== null && compareKeys(after, prefix) > 0 ? after : prefix
  const end = afterPrefix(prefix) ?? behindAll
  const rows = boundedRows(knowledge.all(documentSql.list, base, from, end, after ?? '', limit), bound, (row) =>
    textIn(Object.values(row)),
  )
  return { rows: rows.map(documentOf), isCut }
}

/** A document, and in how many pieces its blocks are read. */
export function readDocument(knowledge: Knowledge, { database, base, key }: DocumentPlace) {
  const number = knowledge.baseOf(database, base)
  const row = number === null ? null : knowledge.get(documentSql.read, number, key)
  if (row === null) return null
  const form = row.form as number
  return { row: documentOf(row), form, pieces: knowledge.tuple(documentSql.countBlocks, form)?.[0] as number }
}

/** A piece of the blocks of a form; null if it is not that of this document any more. */
export function readBlocks(
  knowledge: Knowledge,
  { database, base, key, form, piece }: DocumentPlace & { readonly form: number; readonly piece: number },
): readonly Block[] | null {
  const number = knowledge.baseOf(database, base)
  const row = number === null ? null : knowledge.get(documentSql.read, number, key)
  if (row?.form !== form) return null
  const data = knowledge.tuple(documentSql.readBlocks, form, piece)?.[0]
  return data === undefined ? [] : (JSON.parse(data as string) as Block[])
}

/** A document whose form goes. */
export interface GoneDocument {
  readonly number: number
  readonly grp: number
  readonly form: number
  readonly passages: number
  readonly words: number
}

/** Hides a form: no search finds it from the end of the transaction on, and it is cleared later. */
export function hideForm(knowledge: Knowledge, base: number, { grp, form, passages, words }: GoneDocument): void {
  knowledge.run(documentSql.hide, form, form + Math.max(1, passages) - 1, form, base, grp)
  changeGroup(knowledge, grp, { documents: -1, passages: -passages, words: -words })
  knowledge.hiddenChanged()
  knowledge.vectors.changed(base, grp)
}

/** Removes a document, inside a transaction. */
export function removeDocument(knowledge: Knowledge, base: number, document: GoneDocument): void {
  hideForm(knowledge, base, document)
  knowledge.run(documentSql.delete, document.number)
}

/** Deletes a document; false if there was none. */
export function deleteDocument(knowledge: Knowledge, { database, base, key }: DocumentPlace): boolean {
  return knowledge.transaction(() => {
    const number = knowledge.baseOf(database, base)
    const row = number === null ? null : knowledge.get(documentSql.read, number, key)
    if (number === null || row === null) return false
    removeDocument(knowledge, number, row as unknown as GoneDocument)
    return true
  })
}

/** Deletes everything of a base. */
export function deleteKnowledge(knowledge: Knowledge, database: string, id: string): void {
  const base = knowledge.baseOf(database, id)
  if (base === null) return
  knowledge.transaction(() => {
    const { run, tuples } = knowledge
    run(documentSql.hideOf, base)
    run(documentSql.deleteOf, base)
    run(groupSql.dropValuesOf, base)
    for (const [group] of tuples(groupSql.listOf, base)) knowledge.vectors.changed(base, group as number)
    run(groupSql.dropOf, base)
    run(ingestSql.dropWaitingOf, base)
    for (const [ingest] of tuples(ingestSql.ofBase, base)) dropIngest(knowledge, ingest as number)
    run(groupSql.dropBase, base)
    run(droppedSql.add, base)
    knowledge.hiddenChanged()
  })
  knowledge.fresh.drop(base)
}

/** Removes what is known of an ingest, inside a transaction. */
export function dropIngest({ run }: Knowledge, ingest: number): void {
  run(ingestSql.dropKeys, ingest)
  run(ingestSql.dropFailures, ingest)
  run(ingestSql.drop, ingest)
}
