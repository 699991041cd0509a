/** Knowledge on PostgreSQL: documents, and what is asked of each part. */
import type { Attributes, Block } from '../../../knowledge/document.ts'
import { compareKeys } from '../../../knowledge/ranking.ts'
import { afterPrefix, type DocumentRow, type KnowledgeRecords, storedBases } from '../../../knowledge/records.ts'
import { documentSql } from '../../sql/postgres/knowledge.ts'
import { clearHidden } from './knowledge-index.ts'
import { endDocument } from './knowledge-ends.ts'
import { removeForms } from './knowledge-forms.ts'
import {
  beginIngest,
  beginReread,
  claimDocuments,
  readIngest,
  releaseDocuments,
  renewDocuments,
} from './knowledge-ingests.ts'
import { createVectorCache, rankByNearness } from './knowledge-nearness.ts'
import { rankByWords, readPassages } from './knowledge-search.ts'
import type { PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import type { Row } from './statements.ts'
import { stored } from './text.ts'

/** Knowledge of a store. */
export function knowledgeRecords(session: PostgresSession): KnowledgeRecords {
  const vectors = createVectorCache()
  return {
    async countKnowledge(database, base) {
      const at = [stored(database), base] as const
      const [[row] = [], [wait] = []] = await session.read(
        database,
        [documentSql.count, ...at],
        [documentSql.countWaiting, ...at],
      )
      const { documents, passages } = row as unknown as { readonly documents: number; readonly passages: number }
      return { documents, passages, waiting: wait?.waiting as number }
    },
    async listBases(database) {
      const [rows = []] = await session.read(database, [documentSql.listBases, stored(database)])
      return storedBases(rows.map(({ base, reading }) => [base as string, reading as string | null]))
    },
    async listDocuments(database, base, { prefix, after, limit, bound }) {
      const from = after !== null && compareKeys(after, prefix) > 0 ? after : prefix
      const values = [stored(from), afterPrefix(prefix), stored(after ?? ''), limit] as const
      const query = [documentSql.list, stored(database), base, ...values] as const
      const rows = await someRows(session, { database: stored(database), query, long: ['key', 'about'] }, bound)
      return rows.map(documentOf)
    },
    readDocument: (database, base, key) =>
      readDocument(session, { database: stored(database), base, key: stored(key) }),
    async deleteDocument(database, base, key) {
      const at = stored(database)
      const isThere = await session.transaction(at, async ({ send, commit }, mayBeDone) => {
        const [rows = []] = await send([[documentSql.lock, at, base, stored(key)]])
        if (rows.length === 0) return mayBeDone
        await commit(removeForms({ database: at, base }, rows))
        return true
      })
      if (isThere) await clearHidden(session, { database: at, base })
      return isThere
    },
    async deleteKnowledge(database, base) {
      const at = stored(database)
      const queries = documentSql.dropBase.map((sql) => [sql, at, base] as const)
      await session.transaction(at, ({ commit }) => commit(queries), { replyMs: longMs })
    },
    rankByWords: (search) => rankByWords(session, search),
    rankByNearness: (search) => rankByNearness(session, vectors, search),
    readPassages: (database, scopes, places) => readPassages(session, { database, scopes }, places),
    beginIngest: (database, ingest) => beginIngest(session, stored(database), ingest),
    beginReread: (database, again) => beginReread(session, stored(database), again),
    readIngest: (database, base, id) => readIngest(session, { database: stored(database), base, id: stored(id) }),
    claimDocuments: (claim) => claimDocuments(session, claim),
    endDocument: (owner, held, end) => endDocument(session, { owner, held, end }),
    renewDocuments: (owner, leaseMs) => renewDocuments(session, owner, leaseMs),
    releaseDocuments: (owner) => releaseDocuments(session, owner),
  }
}

/** The time limit of statements with many rows, in ms. */
const longMs = 60_000

/** What is stored of a document as one text; `failure` is absent for none. */
type DocumentAbout = Pick<DocumentRow, 'title' | 'uri' | 'mediaType' | 'attributes'> &
  Partial<Pick<DocumentRow, 'failure'>>

function documentOf(row: Row): DocumentRow {
  const { title, uri, mediaType, attributes, failure = null } = JSON.parse(row.about as string) as DocumentAbout
  return {
    key: row.key as string,
    ...{ title, uri, mediaType, attributes: attributes as Attributes },
    digest: row.digest as string,
    revision: row.revision as number,
    passages: row.passages as number,
    ingestedAt: row.ingested_at as number,
    failure,
  }
}

/** A document with its blocks, read a piece at a time; from the beginning if it changes meanwhile. */
async function readDocument(
  session: PostgresSession,
  { database, base, key }: { readonly database: string; readonly base: string; readonly key: string },
): ReturnType<KnowledgeRecords['readDocument']> {
  for (;;) {
    const [[row] = []] = await session.read(database, [documentSql.read, database, base, key])
    if (row === undefined) return null
    const blocks: Block[] = []
    for (let piece = 0; ; piece += 1) {
      const piecesOf = [documentSql.readBlocks, database, base, row.form as number, piece] as const
      const [[now] = [], [read] = []] = await session.read(database, [documentSql.read, database, base, key], piecesOf)
      if (now?.form !== row.form) break
      if (read === undefined) return { ...documentOf(row), blocks }
      for (const block of JSON.parse(read.data as string) as readonly Block[]) blocks.push(block)
    }
  }
}
