/** Knowledge of the embedded stores: its file, its thread, and what is left on the disk. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { claimed, begun, found, ingested, scopeOf, stored } from '../../testing/conformance/store-knowledge-fixtures.ts'
import { memoryStore } from './memory.ts'
import { knowledgeMigrations } from '../sql/knowledge.ts'
import { sqliteStore } from './sqlite.ts'
import { clearing } from './sqlite-knowledge/clearing.ts'
import { deleteKnowledge } from './sqlite-knowledge/documents.ts'
import { openKnowledge } from './sqlite-knowledge/open.ts'

function place(context: TestContext): { readonly file: string; readonly knowledge: string } {
  const folder = mkdtempSync(join(tmpdir(), 'witan-knowledge-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'witan.db')
  return { file, knowledge: `${file}-knowledge` }
}

/** The threads that this process starts meanwhile. */
function threads(context: TestContext): Worker[] {
  const started: Worker[] = []
  const note = (worker: Worker) => started.push(worker)
  process.on('worker', note)
  context.after(() => process.off('worker', note))
  return started
}

const horse = [{ key: 'a', text: 'horse' }]

test('without an ingest there is no thread and no file', async (context) => {
  const { file, knowledge } = place(context)
  const started = threads(context)
  for (const store of [sqliteStore({ file }), memoryStore()]) {
    await store.open()
    assert.deepEqual(await found(store, 'horse'), [])
    assert.deepEqual(await claimed(store), [])
    await store.knowledge.deleteKnowledge('default', 'handbook')
    await store.knowledge.releaseDocuments('w1')
    await store.close()
  }
  assert.deepEqual([started.length, existsSync(knowledge)], [0, false])
})

test('what was stored, what waits and what is not packed yet are there again', async (context) => {
  const { file, knowledge } = place(context)
  const first = sqliteStore({ file })
  await first.open()
  await ingested(first, [...horse, { key: 'b', text: 'cart\n\nhorse cart' }])
  await begun(first, [{ key: 'c', text: 'horse' }])
  assert.equal((await claimed(first)).length, 1)
  const list = await found(first, 'horse cart')
  await first.close()
  assert.ok(existsSync(knowledge) && !existsSync(`${knowledge}-wal`) && !existsSync(`${knowledge}.lock`))
  const second = sqliteStore({ file })
  await second.open()
  assert.deepEqual(await found(second, 'horse cart'), list)
  const [held] = await claimed(second)
  assert.deepEqual([held?.key, held?.attempt], ['c', 2])
  await second.close()
})

test('a deleted text is overwritten when the store is closed', async (context) => {
  const { file, knowledge } = place(context)
  const store = sqliteStore({ file })
  await store.open()
  const secret = (word: string) => ({
    key: `${word}key`,
    text: `${word}text `.repeat(300),
    attributes: { a: `${word}value` },
  })
  await ingested(store, [secret('deleted'), secret('changed'), secret('kept')])
  await ingested(store, [secret('based')], { at: { base: 'other' } })
  await store.knowledge.deleteDocument('default', 'handbook', 'deletedkey')
  await ingested(store, [{ key: 'changedkey', text: 'new' }])
  await store.knowledge.deleteKnowledge('default', 'other')
  await store.close()
  const bytes = readFileSync(knowledge).toString('latin1')
  for (const gone of ['deletedtext', 'deletedkey', 'changedtext', 'changedvalue', 'basedtext', 'basedkey'])
    assert.ok(!bytes.includes(gone), gone)
  assert.ok(bytes.includes('kepttext') && bytes.includes('keptkey'))
})

test('a file that another one holds, of a newer version or of another program is refused by its code', async (context) => {
  const { file, knowledge } = place(context)
  const store = sqliteStore({ file })
  await store.open()
  await ingested(store, horse)
  await store.close()
  const again = async (change: (db: DatabaseSync) => void, code: string) => {
    const other = new DatabaseSync(knowledge)
    change(other)
    if (code !== 'STORE_LOCKED') other.close()
    const next = sqliteStore({ file })
    await next.open()
    try {
      await assert.rejects(found(next, 'horse'), { code })
    } finally {
      if (other.isOpen) other.close()
      await next.close()
    }
  }
  await again((db) => db.exec('begin exclusive'), 'STORE_LOCKED')
  await again((db) => db.exec('pragma user_version = 99'), 'SCHEMA_TOO_NEW')
  await again((db) => db.exec('pragma application_id = 1'), 'STORE_UNREACHABLE')
})

test('a thread that dies fails what waits for it, and the next call starts another one', async (context) => {
  const { file } = place(context)
  const started = threads(context)
  const store = sqliteStore({ file })
  await store.open()
  await ingested(store, horse)
  await begun(store, [{ key: 'b', text: 'horse' }])
  const [held] = await claimed(store)
  const waiting = Promise.allSettled([
    found(store, 'horse'),
    stored(store, held ?? assert.fail(), { key: 'b', text: 'horse' }),
  ])
  await started[0]?.terminate()
  for (const one of await waiting) if (one.status === 'rejected') assert.equal(one.reason.code, 'STORE_UNAVAILABLE')
  assert.deepEqual((await found(store, 'horse')).slice(0, 1), ['a/0'])
  assert.equal(started.length, 2)
  await store.close()
  await assert.rejects(found(store, 'horse'), { code: 'STORE_UNAVAILABLE' })
})

test('many documents are packed and cleared, and are found as before', async (context) => {
  const { file } = place(context)
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  // More postings than are kept unpacked.
  const text = (key: number, round: number) =>
    Array.from({ length: 300 }, (_, index) => `w${(key * 7 + index * 13 + round) % 2_000}`).join(' ')
  const all = Array.from({ length: 260 }, (_, key) => ({ key: `k${key}`, text: text(key, 0) }))
  await ingested(store, all)
  const first = all.slice(0, 130).map(({ key }, index) => ({ key, text: text(index, 1) }))
  await ingested(store, first)
  const scopes = [scopeOf('handbook')]
  const search = async () =>
    Promise.all(
      ['w1 w500', 'w13 w999 w7', 'w1999'].map((query) => found(store, query, { scopes, limit: 50, language: 'none' })),
    )
  const before = await search()
  await store.close()
  await store.open()
  assert.deepEqual(await search(), before)
  const fresh = memoryStore()
  await ingested(fresh, [...first, ...all.slice(130)])
  const lists = await Promise.all(
    ['w1 w500', 'w13 w999 w7', 'w1999'].map((query) => found(fresh, query, { scopes, limit: 50, language: 'none' })),
  )
  assert.deepEqual(before, lists)
  await Promise.all([store.close(), fresh.close()])
})

test('an ingest that fails between its parts leaves nothing to the next one, of whatever database', async (context) => {
  const { file } = place(context)
  const store = sqliteStore({ file })
  await store.open()
  const many = Array.from({ length: 301 }, (_, at) => ({ key: at === 300 ? (null as never) : `k${at}`, text: 'horse' }))
  await assert.rejects(begun(store, many, { at: { database: 'first', base: 'handbook' } }))
  await begun(store, [{ key: 'b', text: 'cart' }], { at: { database: 'second', base: 'handbook' } })
  assert.deepEqual(
    (await claimed(store)).map((held) => [held.database, held.key]),
    [['second', 'b']],
  )
  await store.close()
})

test('words of a base that was deleted and not yet cleared at a crash are not packed by the next process', async (context) => {
  const { file, knowledge: path } = place(context)
  const store = sqliteStore({ file })
  await store.open()
  const secret = { key: 'a', text: 'unpackedword otherword' }
  await ingested(store, [secret], { at: { base: 'gone' } })
  await ingested(store, [{ key: 'k', text: 'keptword' }])
  await store.close()
  const settings = { file: path, synchronous: 'normal', now: Date.now } as const
  const dying = await openKnowledge(settings)
  deleteKnowledge(dying, 'default', 'gone')
  dying.close() // nothing is cleared, as after a crash
  const next = await openKnowledge(settings)
  for (const _ of clearing(next));
  while (next.fresh.pack(next.transaction));
  const words = next.tuples('select distinct word from postings').map(([word]) => word)
  assert.deepEqual(
    words,
    ['about', 'k', 'keptword', 'part'].filter((word) => words.includes(word)),
  )
  assert.deepEqual(next.tuples('select form from fresh'), [])
  next.close()
  const bytes = readFileSync(path).toString('latin1')
  assert.ok(!bytes.includes('unpackedword') && bytes.includes('keptword'))
})

test('a file of the first version is opened: what waits keeps its order, and its documents were read in an unknown way', async (context) => {
  const { file, knowledge } = place(context)
  const db = new DatabaseSync(knowledge)
  db.exec(`${knowledgeMigrations[0]}
insert into bases (number, database, id) values (1, 'default', 'handbook');
insert into groups values (1, 1, 'old', 1, 0, 0);
insert into documents values (1, 1, 'there', 1, 1, 0, 0, 1, 'd', 1, 1, '{"title":"T","uri":null,"mediaType":"t","attributes":{}}');
insert into ingests (number, base, id, total, remaining, started_at) values (1, 1, 'i', 2, 2, 1);
insert into waiting (base, ingest, key, about, content) values (1, 1, 'b', '{}', '"x"'), (1, 1, 'a', '{}', '"x"');
pragma application_id = ${0x5749544b}; pragma user_version = 1`)
  db.close()
  const store = sqliteStore({ file })
  await store.open()
  assert.deepEqual(await store.knowledge.listBases('default'), [{ base: 'handbook', readings: [''] }])
  await begun(store, [{ key: 'c', text: 'x' }])
  assert.deepEqual(
    (await claimed(store)).map(({ key }) => key),
    ['b', 'a', 'c'],
  )
  const again = { base: 'handbook', id: 'r', at: 1, reading: 'r1', after: '', limit: 9 }
  assert.equal(await store.knowledge.beginReread('default', again), 1)
  await store.close()
})
