/** Ingests, and documents that wait, in the thread of knowledge. */
import type { Attributes } from '../../../knowledge/document.ts'
import type { HeldDocument, IngestRow } from '../../../knowledge/records.ts'
import { afterPrefix, isDue, keptIngestMs } from '../../../knowledge/records.ts'
import { documentSql, ingestSql } from '../../sql/knowledge.ts'
import type { Row } from '../sqlite-rows.ts'
import { aboutOf, type DocumentAbout, dropIngest, type GoneDocument, removeDocument } from './documents.ts'
import { madeBase } from './groups.ts'
import type { Knowledge } from './open.ts'

/** A waiting document as it is sent. */
export interface SentPending {
  readonly key: string
  readonly about: PendingAbout
  readonly content: string | Uint8Array | null
}

/** What is stored of a waiting document as one text. */
interface PendingAbout {
  readonly title: string | null
  readonly uri: string | null
  readonly mediaType: string
  readonly attributes: Attributes
  readonly digest: string
}

/** An ingest to begin, without its documents. */
export interface NewIngest {
  readonly database: string
  readonly base: string
  readonly id: string
  readonly at: number
  readonly prune: string | null
  readonly failed: IngestRow['failed']
  readonly now: number
}

/** Stores an ingest: its documents a part at a time, which count once the ingest itself is stored. */
export function* beginIngest(
  knowledge: Knowledge,
  ingest: NewIngest,
  parts: readonly (readonly SentPending[])[],
): Generator<void, IngestRow> {
  const { run, tuple } = knowledge
  const number = tuple(ingestSql.nextIngest)?.[0] as number
  const base = knowledge.transaction(() => {
    // Parts of an ingest that failed have the number that this one gets.
    run(ingestSql.dropDraft, number)
    run(ingestSql.dropKeys, number)
    for (const [old] of knowledge.tuples(ingestSql.old, ingest.now - keptIngestMs)) dropIngest(knowledge, old as number)
    return madeBase(knowledge, ingest.database, ingest.base)
  })
  for (const part of parts) {
    knowledge.transaction(() => {
      const turns = turnsOf(knowledge, base)
      for (const { key, about, content } of part) {
        const stored = typeof content === 'string' ? JSON.stringify(content) : content
        run(ingestSql.addWaiting, base, number, key, JSON.stringify(about), stored, turns())
        if (ingest.prune !== null) run(ingestSql.addKey, number, key)
      }
    })
    yield
  }
  return knowledge.transaction(() => {
    const waiting = parts.reduce((sum, part) => sum + part.length, 0)
    const total = waiting + ingest.failed.length
    run(ingestSql.add, number, base, ingest.id, ingest.prune, total, waiting, ingest.at)
    for (const failure of ingest.failed) {
      run(ingestSql.addFailure, number, JSON.stringify(failure))
      if (ingest.prune !== null) run(ingestSql.addKey, number, failure.key)
    }
    if (waiting === 0) endIngest(knowledge, number, ingest.now)
    return readIngest(knowledge, ingest, ingest.id) as IngestRow
  })
}

/** The turns of the next documents of a base. */
function turnsOf({ tuple }: Knowledge, base: number): () => number {
  let [turn, step] = tuple(ingestSql.nextTurn, base) as unknown as [number, number]
  return () => {
    turn += step
    return turn
  }
}

/** Documents of a base to be read again. */
export interface NewReread {
  readonly database: string
  readonly base: string
  readonly id: string
  readonly at: number
  readonly reading: string
  readonly after: string
  readonly limit: number
  readonly now: number
}

/** Lets some documents be read again that were read otherwise, unless some wait for that already. */
export function beginReread(knowledge: Knowledge, again: NewReread): number {
  const { run, tuple } = knowledge
  return knowledge.transaction(() => {
    const base = knowledge.baseOf(again.database, again.base)
    if (base === null || tuple(ingestSql.rereads, base) !== null) return 0
    const rows = dueOf(knowledge, base, again)
    if (rows.length === 0) return 0
    const number = tuple(ingestSql.nextIngest)?.[0] as number
    run(ingestSql.dropDraft, number)
    run(ingestSql.dropKeys, number)
    const turns = turnsOf(knowledge, base)
    for (const { key, digest, about } of rows) {
      const { title, uri, mediaType, attributes } = about
      const pending: PendingAbout = { title, uri, mediaType, attributes, digest }
      run(ingestSql.addWaiting, base, number, key, JSON.stringify(pending), null, turns())
    }
    run(ingestSql.add, number, base, again.id, null, rows.length, rows.length, again.at)
    return rows.length
  })
}

interface DueDocument {
  readonly key: string
  readonly digest: string
  readonly about: DocumentAbout
}

/** The documents that are to be read again now, by key. Those that wait for another time are read past, a page at a time. */
function dueOf({ all }: Knowledge, base: number, again: NewReread): readonly DueDocument[] {
  const due: DueDocument[] = []
  for (let after = again.after; ; ) {
    const rows = all(ingestSql.outdated, base, again.reading, after, again.limit)
    for (const row of rows) {
      const about = aboutOf(row)
      after = row.key as string
      if (isDue(about.failure, again)) due.push({ key: after, digest: row.digest as string, about })
      if (due.length === again.limit) return due
    }
    if (rows.length < again.limit) return due
  }
}

/** An ingest, or null. */
export function readIngest(
  knowledge: Knowledge,
  at: { readonly database: string; readonly base: string },
  id: string,
): IngestRow | null {
  const base = knowledge.baseOf(at.database, at.base)
  const row = base === null ? null : knowledge.get(ingestSql.read, base, id)
  if (row === null) return null
  const failed = knowledge.tuples(ingestSql.failures, row.number as number)
  return {
    base: at.base,
    id,
    total: row.total as number,
    added: row.added as number,
    changed: row.changed as number,
    unchanged: row.unchanged as number,
    deleted: row.deleted as number,
    failed: failed.map(([data]) => JSON.parse(data as string) as IngestRow['failed'][number]),
    startedAt: row.started_at as number,
    endedAt: row.ended_at as number | null,
  }
}

/** Ends an ingest that has nothing left to do, inside a transaction: prunes, unless a later ingest has what would go. */
export function endIngest(knowledge: Knowledge, number: number, now: number): void {
  const { get, all, run } = knowledge
  const ingest = get(ingestSql.readByNumber, number) as Row
  const { base, prune } = ingest as { readonly base: number; readonly prune: string | null }
  let deleted = 0
  if (prune !== null) {
    const end = afterPrefix(prune) ?? new Uint8Array([0xff])
    for (const row of all(documentSql.pruned, base, prune, end, number)) {
      removeDocument(knowledge, base, row as unknown as GoneDocument)
      deleted += 1
    }
    run(ingestSql.dropKeys, number)
  }
  run(ingestSql.end, number, now, deleted)
}

/** A claim, as it is sent. */
export interface SentClaim {
  readonly owner: string
  readonly leaseMs: number
  readonly limit: number
  readonly now: number
}

/** Claims waiting documents. */
export function claimDocuments(knowledge: Knowledge, { owner, leaseMs, limit, now }: SentClaim): HeldDocument[] {
  const { all, run } = knowledge
  return knowledge.transaction(() =>
    all(ingestSql.claimable, now, limit).map((row) => {
      run(ingestSql.claim, row.number as number, owner, now + leaseMs)
      const content = row.content as unknown as string | Uint8Array | null
      return {
        database: row.database as string,
        base: row.base as string,
        ingest: row.ingest as string,
        number: row.number as number,
        attempt: (row.attempt as number) + 1,
        key: row.key as string,
        ...(JSON.parse(row.about as string) as PendingAbout),
        content: typeof content === 'string' ? (JSON.parse(content) as string) : content,
      }
    }),
  )
}

/** What an owner holds, and until when from now on. */
export interface SentRenewal {
  readonly owner: string
  readonly until: number
}

/** Holds what an owner holds for longer. */
export function renewDocuments({ transaction, run }: Knowledge, { owner, until }: SentRenewal): void {
  transaction(() => run(ingestSql.renew, owner, until))
}

/** Gives back what an owner holds. */
export function releaseDocuments({ transaction, run }: Knowledge, owner: string): void {
  transaction(() => run(ingestSql.release, owner))
}
