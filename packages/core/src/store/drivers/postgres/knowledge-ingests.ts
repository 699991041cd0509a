/** Ingests on PostgreSQL, and the documents that wait, which are claimed table-wide. */
import { bytesText, jsonText, textBytes } from '../../../identity/json-pieces.ts'
import { pause } from '../../../identity/turn.ts'
import {
  afterPrefix,
  type HeldDocument,
  type IngestRow,
  isDue,
  type KnowledgeRecords,
  keptIngestMs,
  type PendingDocument,
  type RereadFailure,
} from '../../../knowledge/records.ts'
import { ingestSql } from '../../sql/postgres/knowledge.ts'
import { partsOf } from '../../parts.ts'
import type { Transaction } from './connection.ts'
import { readBytes } from './contents.ts'
import { removeForms } from './knowledge-forms.ts'
import type { PostgresSession } from './session.ts'
import type { Row, Statement } from './statements.ts'
import { restored, stored } from './text.ts'

type NewIngest = Parameters<KnowledgeRecords['beginIngest']>[1]

/** The time limit of statements with much text, in ms. */
const longMs = 60_000

/** Where an ingest is. */
interface IngestPlace {
  readonly database: string
  readonly base: string
  readonly id: string
}

/** Stores an ingest with its documents, in one transaction. */
export async function beginIngest(session: PostgresSession, database: string, ingest: NewIngest): Promise<IngestRow> {
  const { base, pending, failed, prune } = ingest
  const at = { database, base, id: stored(ingest.id) }
  const about = [database, base, at.id] as const
  const work = async (transaction: Transaction, mayBeDone: boolean) => {
    const { send } = transaction
    if (mayBeDone && (await send([[ingestSql.read, ...about]]))[0]?.length === 1) return transaction.commit([])
    for (const part of partsOf(pending, ({ content }) => content?.length ?? 0)) {
      await pause()
      const keys = part.map(({ key }) => stored(key))
      const rest = part.map(({ title, uri, mediaType, attributes, digest }) =>
        JSON.stringify({ title, uri, mediaType, attributes, digest }),
      )
      const kept: Statement[] = prune === null ? [] : [[ingestSql.addKeys, ...about, keys]]
      await send([[ingestSql.addWaiting, ...about, keys, rest, ...(await contentsOf(part))], ...kept])
    }
    const total = pending.length + failed.length
    const failures = failed.map((one) => JSON.stringify(one))
    const bad = failed.map(({ key }) => stored(key))
    await send([
      [ingestSql.dropOld, database, keptIngestMs],
      [ingestSql.addFailures, ...about, failures],
      ...(prune === null ? [] : [[ingestSql.addKeys, ...about, bad] as const]),
      [ingestSql.add, ...about, prune === null ? null : stored(prune), total, pending.length, Math.trunc(ingest.at)],
    ])
    return transaction.commit(pending.length > 0 ? [] : await endIngest(transaction, at, prune))
  }
  await session.transaction(database, work, { replyMs: longMs })
  const row = await readIngest(session, at)
  if (row === null) throw new Error('the base was deleted meanwhile')
  return row
}

type NewReread = Parameters<KnowledgeRecords['beginReread']>[1]

/** Lets some documents be read again that were read otherwise, unless some wait for that already. */
export async function beginReread(session: PostgresSession, database: string, again: NewReread): Promise<number> {
  const { base, id, at, reading, after, limit } = again
  const about = [database, base, stored(id)] as const
  const work = async ({ send, commit }: Transaction, mayBeDone: boolean) => {
    const [[known] = []] = mayBeDone ? await send([[ingestSql.read, ...about]]) : []
    if (known !== undefined) return known.total as number
    await send([[ingestSql.lockOutdated, database, base, reading]])
    const due: { readonly key: string; readonly about: string }[] = []
    // Those that wait for another time are read past, a page at a time.
    for (let last = stored(after); ; ) {
      const [rows = []] = await send([[ingestSql.outdated, database, base, reading, last, limit]])
      for (const { key, about: text, digest } of rows) {
        const { failure, ...rest } = JSON.parse(text as string) as { readonly failure?: RereadFailure }
        last = key as string
        if (isDue(failure, again)) due.push({ key: last, about: JSON.stringify({ ...rest, digest }) })
        if (due.length === limit) break
      }
      if (due.length === limit || rows.length < limit) break
      await pause()
    }
    if (due.length === 0) return 0
    const keys = due.map(({ key }) => key)
    const rest = due.map((one) => one.about)
    const none = due.map(() => ({ content: null }))
    await commit([
      [ingestSql.addWaiting, ...about, keys, rest, ...(await contentsOf(none))],
      [ingestSql.add, ...about, null, keys.length, keys.length, Math.trunc(at)],
    ])
    return keys.length
  }
  return session.transaction(database, work, { replyMs: longMs })
}

/** Contents as one value, and where each begins in it, from 1: bytes are sent as they are, while a list of them would be text. */
async function contentsOf(documents: readonly Pick<PendingDocument, 'content'>[]) {
  const parts: Uint8Array[] = []
  for (const { content } of documents) {
    if (content !== null) parts.push(typeof content === 'string' ? await textBytes(await jsonText(content)) : content)
  }
  const areTexts = documents.map(({ content }) => typeof content === 'string')
  let [next, place] = [0, 1]
  const places = documents.map(({ content }) => {
    const length = content === null ? null : (parts[next++]?.length ?? 0)
    const first = place
    place += length ?? 0
    return { first, length }
  })
  const [first] = parts
  const joined = parts.length === 1 && first !== undefined ? viewOf(first) : Buffer.concat(parts)
  return [areTexts, joined, places.map((each) => each.first), places.map(({ length }) => length)] as const
}

/** Without a copy: a document may have 16 MB. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The statements that end an ingest with nothing left to do, and prune. */
export async function endIngest(
  { send }: Transaction,
  { database, base, id }: IngestPlace,
  prune: string | null,
): Promise<Statement[]> {
  const about = [database, base, id] as const
  if (prune === null) return [[ingestSql.end, ...about, 0]]
  const values = [stored(prune), afterPrefix(prune)] as const
  const [gone = []] = await send([[ingestSql.pruned, ...about, ...values]])
  const removed = removeForms({ database, base }, gone)
  return [...removed, [ingestSql.dropKeys, ...about], [ingestSql.end, ...about, gone.length]]
}

/** An ingest, or null. */
export async function readIngest(
  session: PostgresSession,
  { database, base, id }: IngestPlace,
): Promise<IngestRow | null> {
  const [[row] = [], failures = []] = await session.read(
    database,
    [ingestSql.read, database, base, id],
    [ingestSql.failures, database, base, id],
  )
  if (row === undefined) return null
  const { total, added, changed, unchanged, deleted } = row as unknown as IngestRow
  const failed = failures.map(({ data }) => JSON.parse(data as string) as IngestRow['failed'][number])
  const [startedAt, endedAt] = [row.started_at as number, row.ended_at as number | null]
  return { base, id: restored(id), total, added, changed, unchanged, deleted, failed, startedAt, endedAt }
}

/** Claims what waits, then reads it where it is. */
export async function claimDocuments(
  session: PostgresSession,
  { owner, leaseMs, limit }: Parameters<KnowledgeRecords['claimDocuments']>[0],
): Promise<HeldDocument[]> {
  const claim: Statement = [ingestSql.claim, stored(owner), Math.trunc(leaseMs), limit]
  const [claimed = []] = await session.writeAsWorker(claim)
  const attempts = new Map(claimed.map(({ number, attempt }) => [number as number, attempt as number]))
  const held: HeldDocument[] = []
  for (const [database, rows] of Map.groupBy(claimed, (row) => row.database as string)) {
    const numbers = rows.map(({ number }) => number as number)
    const query: Statement = [ingestSql.readWaiting, database, numbers]
    const [read = []] = await session.work(() => session.connection.run({ database }, [query], { replyMs: longMs }), {
      mayBeLong: true,
    })
    for (const row of read) {
      const content = await contentOf(session, database, row)
      held.push({ ...heldOf(database, row, attempts.get(row.number as number) ?? 0), content })
    }
  }
  return held.sort((one, other) => one.number - other.number)
}

function heldOf(database: string, row: Row, attempt: number): Omit<HeldDocument, 'content'> {
  const about = JSON.parse(row.about as string) as Pick<
    HeldDocument,
    'title' | 'uri' | 'mediaType' | 'attributes' | 'digest'
  >
  return {
    database: restored(database),
    base: row.base as string,
    ingest: restored(row.ingest as string),
    number: row.number as number,
    attempt,
    key: row.key as string,
    ...about,
  }
}

async function contentOf(session: PostgresSession, database: string, row: Row): Promise<HeldDocument['content']> {
  const { number, content, length, is_text: isText } = row
  if (length === null) return null
  let bytes = content as Uint8Array | null
  if (bytes === null) {
    const queries: Statement[] = [[ingestSql.nameWaiting, database, number as number], [ingestSql.copyNamed]]
    ;[, bytes] = await readBytes(session, database, queries)
  }
  return isText === true ? (JSON.parse(await bytesText(bytes)) as string) : new Uint8Array(bytes)
}

/** Gives back what an owner holds. */
export async function releaseDocuments(session: PostgresSession, owner: string): Promise<void> {
  await session.writeAsWorker([ingestSql.release, stored(owner)], { isForAnyVersion: true })
}

/** Holds what an owner holds for longer. */
export async function renewDocuments(session: PostgresSession, owner: string, leaseMs: number): Promise<void> {
  await session.writeAsWorker([ingestSql.renew, stored(owner), Math.trunc(leaseMs)])
}
