/**
 * What a search does not see is not looked at: its work is counted, in a world with documents behind the wall and in one without. Counts do not
 * depend on the machine, as times do. What a database engine reads by itself below a statement is not counted.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { emptySchema } from '../../../../../test/postgres/support/stores.ts'
import { database } from '../../testing/conformance/store-fixtures.ts'
import { ingested, type Written } from '../../testing/conformance/store-knowledge-fixtures.ts'
import type { Store } from '../store.ts'
import { emptyColumns } from '../../knowledge/ranking.ts'
import { unpackInto } from '../postings.ts'
import { postingSql } from '../sql/knowledge.ts'
import { searchSql } from '../sql/postgres/knowledge.ts'
import { createVectorCache } from './postgres/knowledge-nearness.ts'
import { rankByNearness as nearOnPostgres } from './postgres/knowledge-nearness.ts'
import { rankByWords as wordsOnPostgres } from './postgres/knowledge-search.ts'
import type { PostgresSession } from './postgres/session.ts'
import { postgresStore } from './postgres.ts'
import { type Knowledge, openKnowledge } from './sqlite-knowledge/open.ts'
import { rankByNearness, rankByWords } from './sqlite-knowledge/search.ts'
import { sqliteStore } from './sqlite.ts'

const base = 'handbook'
const places = [0, 1, 2, 3, 4, 5, 6, 7]

/** How many documents the customer that searches has, with how many sets of attributes, and how many documents are behind the wall. */
interface World {
  readonly own: number
  readonly groups: number
  readonly behind: number
}

/** Documents of a customer, all about the same. */
function documentsOf(customer: string, count: number, groups: number): Written[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `${at}-${customer}`,
    text: places.map((place) => `Notice the period ${place} of contract ${at} of ${customer}.`).join('\n\n'),
    attributes: { customer, group: at % groups },
    vectors: places.map((place) => Int8Array.of((at % 100) + 1, place + 1, 1)),
  }))
}

/** Fills a store with documents of alpha, and with `behind` others between them; some of the others were replaced or deleted. */
async function fill(store: Store, { own, groups, behind }: World): Promise<void> {
  const [alpha, beta] = [documentsOf('alpha', own, groups), documentsOf('beta', behind, 50)]
  const [chunk, some] = [20, Math.floor(behind / 4)]
  for (let from = 0; from < Math.max(alpha.length, beta.length); from += chunk)
    for (const documents of [alpha, beta])
      if (from < documents.length) await ingested(store, documents.slice(from, from + chunk))
  await ingested(
    store,
    beta.slice(0, some).map((one) => ({ ...one, text: `${one.text} Again.`, vectors: undefined as never })),
  )
  for (const { key } of beta.slice(some, 2 * some)) await store.knowledge.deleteDocument(database, base, key)
}

const scopes = [{ base, filter: [{ name: 'customer', values: ['alpha'] }] }]
const byWords = { database, scopes, words: ['notic', 'period', 'contract', 'absent'], limit: 20 }
const byNearness = { database, scopes, vector: Int8Array.of(3, 2, 1), limit: 20 }

interface Work {
  statements: number
  rows: number
  postings: number
  vectors: number
}

/** How many postings of a word one row has. */
function postingsIn(first: unknown, data: unknown): number {
  const postings = emptyColumns()
  unpackInto(postings, first as number, { data: data as Uint8Array, isKept: null })
  return postings.length
}

/** The same file, whose statements, rows, postings and vectors are counted. */
function counting(knowledge: Knowledge): { readonly work: Work; readonly counted: Knowledge } {
  const work: Work = { statements: 0, rows: 0, postings: 0, vectors: 0 }
  /** Rows of postings are as many as their numbers need; what is in them counts. */
  const note = (sql: string, rows: readonly unknown[]) => {
    work.statements += 1
    if (sql !== postingSql.ofGroups) work.rows += rows.length
    else for (const row of rows) work.postings += postingsIn(...(row as [unknown, unknown]))
  }
  const noted = <Rows extends readonly unknown[]>(sql: string, rows: Rows): Rows => {
    note(sql, rows)
    return rows
  }
  function* each<Item>(items: Iterable<Item>, take: () => void) {
    for (const item of items) {
      take()
      yield item
    }
  }
  const { fresh, vectors, isHidden } = knowledge
  const one = <Row>(sql: string, row: Row | null) => {
    note(sql, row === null ? [] : [row])
    return row
  }
  const counted: Knowledge = {
    ...knowledge,
    isHidden: (passage) => isHidden(passage),
    get: (...given) => one(given[0], knowledge.get(...given)),
    tuple: (...given) => one(given[0], knowledge.tuple(...given)),
    all: (...given) => noted(given[0], knowledge.all(...given)),
    tuples: (...given) => noted(given[0], knowledge.tuples(...given)),
    each: (...given) => {
      note(given[0], [])
      return each(knowledge.each(...given), () => {
        work.rows += 1
      })
    },
    fresh: {
      ...fresh,
      of: (...given) =>
        each(fresh.of(...given), () => {
          work.postings += 1
        }),
    },
    vectors: {
      ...vectors,
      of: (_, ...given) =>
        each(vectors.of(counted, ...given), () => {
          work.vectors += 1
        }),
    },
  }
  return { work, counted }
}

/** The work of searches in the embedded index: before and after what is fresh was packed, and with vectors from the file and from memory. */
async function sqliteWork(context: TestContext, world: World): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'witan-work-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'store.db')
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  await fill(store, world)
  await store.close()
  const knowledge = await openKnowledge({ file: `${file}-knowledge`, synchronous: 'normal', now: Date.now })
  const all: unknown[] = []
  for (const isPacked of [false, true]) {
    while (isPacked && knowledge.fresh.pack((pack) => knowledge.transaction(pack)));
    for (const run of [1, 2]) {
      const { work, counted } = counting(knowledge)
      const found = [rankByWords(counted, byWords), rankByNearness(counted, byNearness)]
      all.push([isPacked, run, { ...work }, found])
    }
  }
  knowledge.close()
  return all
}

/** How much a row is: the postings that it has of words, or one. Which postings are packed depends on how much of the base is new. */
function amountIn(row: Readonly<Record<string, unknown>>): number {
  const { data, first, counts } = row
  if (Array.isArray(counts)) return counts.filter((count) => count > 0).length
  return data instanceof Uint8Array ? postingsIn(first, data) : 1
}

/** The same on PostgreSQL: statements, and what they give. */
async function postgresWork(context: TestContext, world: World): Promise<unknown> {
  const place = await emptySchema(context)
  const store = postgresStore(place)
  await store.open()
  await fill(store, world)
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) }
  const all: unknown[] = []
  const vectors = createVectorCache()
  for (const run of [1, 2]) {
    const work: [statement: string, amount: number][] = []
    const send = async (queries: readonly (readonly [sql: string, ...values: unknown[]])[]) => {
      const results: object[][] = []
      for (const [sql, ...values] of queries) {
        const text = sql.replaceAll('{s}', place.schema)
        const { rows } = await client.query({ text, values, types: types as never })
        const isOfWords = sql === searchSql.fresh || sql === searchSql.postingsOf
        const what = isOfWords ? 'postings' : sql
        work.push([what, rows.reduce((sum, row) => sum + amountIn(row), 0)])
        results.push(rows)
      }
      return results
    }
    const session = {
      transaction: (_: string, act: (of: { send: typeof send }) => unknown) => act({ send }),
    } as unknown as PostgresSession
    const found = [await wordsOnPostgres(session, byWords), await nearOnPostgres(session, vectors, byNearness)]
    const amounts = Map.groupBy(work, ([what]) => what)
    const sums = Array.from(amounts, ([what, of]) => [what, of.length, of.reduce((sum, [, amount]) => sum + amount, 0)])
    all.push([run, sums, found])
  }
  await client.end()
  await store.close()
  return all
}

for (const [store, measure, world] of [
  ['sqlite', sqliteWork, { own: 30, groups: 1, behind: 120 }],
  ['sqlite', sqliteWork, { own: 110, groups: 110, behind: 120 }],
  ['postgres', postgresWork, { own: 40, groups: 20, behind: 60 }],
] as const)
  test(`${store}: what a search may not see changes nothing of its work, attributes in ${world.groups} ways`, async (context) => {
    const alone = await measure(context, { ...world, behind: 0 })
    assert.deepEqual(await measure(context, world), alone)
  })
