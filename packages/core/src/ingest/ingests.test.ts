/** Documents that a process takes in are read whole, each once, whatever becomes of those beside them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type FakeClock, fakeClock } from '../../../../test/support/clock.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { sqliteStore } from '../store/drivers/sqlite.ts'
import type { Embed } from './read-document.ts'
import { createIngests } from './ingests.ts'
import type { Store } from '../store/store.ts'
import { lineReader, all, base, garbage, ingestStage, never, nothing, place, text } from '../testing/ingest-stage.ts'
import type { KnowledgeRecords } from '../knowledge/records.ts'

test('documents are added, changed, unchanged and deleted, and a bad one fails alone', async (context) => {
  const { ingest, documents, knowledge, texts } = await ingestStage(context)
  assert.deepEqual(await ingest([]), { ...nothing, total: 0 })
  assert.deepEqual(
    await ingest([text('d/a', 'one'), text('d/b', 'bad'), text('d/c', 'x\ny', { title: 'C' }), null as never]),
    {
      ...{ ...nothing, total: 4, added: 2 },
      failed: ['documents.3 BODY_INVALID', 'd/b DOCUMENT_UNREADABLE'],
    },
  )
  assert.deepEqual(await documents(), ['d/a d/a r1 p1', 'd/c C r1 p1'])
  assert.deepEqual(await ingest([text('d/a', 'one'), text('d/c', 'bad')]), {
    ...{ ...nothing, total: 2, unchanged: 1 },
    failed: ['d/c DOCUMENT_UNREADABLE'],
  })
  assert.deepEqual(texts, ['one', 'bad', 'x\ny', 'bad'])
  assert.deepEqual(await ingest([text('d/a', 'two')], 'd/'), { ...nothing, total: 1, changed: 1, deleted: 1 })
  assert.deepEqual(await documents(), ['d/a d/a r2 p1'])
  const scope = { base: 'b', filter: [] }
  const found = await knowledge.rankByWords({ database: 'default', scopes: [scope], words: ['two'], limit: 5 })
  assert.deepEqual(found, [{ base: 'b', document: 'd/a', place: 0 }])
})

test('what is wrong with one document fails it alone, and none is read later for it', async (context) => {
  const { ingest, reports, texts } = await ingestStage(context)
  const bad = Object.keys(garbage)
  assert.deepEqual(await ingest([...bad, 'lax'].map((key) => text(key, key))), {
    ...{ ...nothing, total: 4, added: 1 },
    failed: bad.map((key) => `${key} DOCUMENT_UNREADABLE`),
  })
  assert.deepEqual([texts, reports], [[...bad, 'lax'], []])
})

test('a document that a store refuses to end leaves the attempts of others alone', async (context) => {
  const store = memoryStore()
  const attempts: string[] = []
  const endDocument: KnowledgeRecords['endDocument'] = async (owner, held, end) => {
    attempts.push(`${held.key} ${held.attempt}`)
    if (held.key === 'refused') throw new Error('It is refused.')
    return store.knowledge.endDocument(owner, held, end)
  }
  const refusing = { ...store, knowledge: { ...store.knowledge, endDocument } }
  const { ingests, reports } = await ingestStage(context, { store: refusing })
  const documents = ['refused', 'b', 'c'].map((key) => text(key, key))
  await ingests.begin(place, base, { documents, prune: null })
  while (reports.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const { id } = await ingests.begin(place, base, { documents: [text('d', 'd')], prune: null })
  await all(ingests.follow({ ...place, id }, never))
  assert.deepEqual(attempts, ['refused 1', 'b 1', 'c 1', 'd 1'])
})

test('a passage is found by its words, its headings and the title of its document', async (context) => {
  const { ingest, knowledge } = await ingestStage(context)
  await ingest([text('a', 'The refund takes a week.', { title: 'Payments' })])
  for (const words of [['refund'], ['payment']]) {
    const search = { database: 'default', scopes: [{ base: 'b', filter: [] }], words, limit: 5 }
    assert.equal((await knowledge.rankByWords(search)).length, 1, words.join())
  }
})

test('slow files of one tenant hold up no other', async (context) => {
  const store = memoryStore()
  const gate = Promise.withResolvers<void>()
  const { ingests, texts } = await ingestStage(context, { store, gate: gate.promise })
  const slow = Array.from({ length: 40 }, (_, at) => text(`k${at}`, at < 2 ? 'gated' : `slow ${at}`))
  await ingests.begin({ database: 'slow', base: 'b' }, base, { documents: slow, prune: null })
  while (texts.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  const { id } = await ingests.begin(place, base, { documents: [text('a', 'quick')], prune: null })
  gate.resolve()
  await all(ingests.follow({ ...place, id }, never))
  const at = texts.indexOf('quick')
  assert.ok(at >= 2 && at <= 6, `read as number ${at}`)
})

test('two documents are read at a time, and no more', async (context) => {
  const gate = Promise.withResolvers<void>()
  const { ingests, texts } = await ingestStage(context, { gate: gate.promise })
  const documents = Array.from({ length: 6 }, (_, at) => text(`k${at}`, 'gated'))
  const { id } = await ingests.begin(place, base, { documents, prune: null })
  while (texts.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(texts.length, 2)
  gate.resolve()
  const rows = await all(ingests.follow({ ...place, id }, never))
  assert.equal(rows.at(-1)?.added, 6)
})

test('passages are placed by the model of their base, and without it a document fails', async (context) => {
  const placed = { ...base, embedding: 'local/embed' }
  const asked: unknown[] = []
  const embed: Embed = async (model, texts) => {
    asked.push([model, ...texts])
    if (texts.some((each) => each.includes('refused'))) throw new Error('The key k-secret is wrong.')
    if (texts.some((each) => each.includes('short'))) return []
    if (texts.some((each) => each.includes('several'))) return texts.map((_, at) => [1, ...Array(at).fill(0)])
    return texts.map((each) => [each.length, 0])
  }
  const { ingest, knowledge, reports } = await ingestStage(context, { base: placed, embed })
  const failed = ['refused', 'short', 'several'].map((key) => `${key} EMBEDDING_FAILED`)
  const given = [
    text('a', 'words', { title: 'T' }),
    text('refused', 'refused'),
    text('short', 'short'),
    text('several', `several ${'x'.repeat(300)}`),
    text('empty', ''),
  ]
  assert.deepEqual(await ingest(given), { ...nothing, total: 5, added: 2, failed })
  assert.deepEqual(asked[0], ['local/embed', 'T\nwords'])
  assert.equal(reports.length, 3)
  const search = { database: 'default', scopes: [{ base: 'b', filter: [] }], vector: Int8Array.from([1, 0]), limit: 5 }
  assert.equal((await knowledge.rankByNearness(search)).length, 1)
  const without = await ingestStage(context, { base: placed, store: memoryStore(), owner: 'two' })
  assert.deepEqual(await without.ingest([text('a', 'x')]), { ...nothing, total: 1, failed: ['a EMBEDDING_FAILED'] })
})

test('an ingest is followed by its changes, and ends when its reader leaves', async (context) => {
  const { ingests } = await ingestStage(context)
  const documents = [text('a', 'one'), text('b', 'bad'), text('c', 'three')]
  const { id } = await ingests.begin(place, base, { documents, prune: null })
  const seen: string[] = []
  for await (const row of ingests.follow({ ...place, id }, never))
    seen.push(`${row.added} ${row.failed.length} ${row.endedAt !== null}`)
  assert.equal(seen.at(-1), '2 1 true')
  assert.deepEqual([...new Set(seen)], seen)
  assert.deepEqual(await all(ingests.follow({ ...place, id: 'none' }, never)), [])
  const control = new AbortController()
  const stuck = await ingests.begin(place, base, { documents: [text('s', 'stuck')], prune: null })
  const frames = all(ingests.follow({ ...place, id: stuck.id }, control.signal))
  setTimeout(() => control.abort(), 30)
  assert.equal((await frames).length, 1)
})

for (const how of ['stuck', 'deaf'])
  test(`what a closed process held is read by another at once, though its reader is ${how}`, async (context) => {
    const store = memoryStore()
    const first = await ingestStage(context, { store })
    const { id } = await first.ingests.begin(place, base, {
      documents: [text('a', how), text('b', how), text('c', 'two')],
      prune: null,
    })
    while (first.texts.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    await first.ingests.close()
    assert.deepEqual(first.reports, [])
    const held = await store.knowledge.claimDocuments({ owner: 'two', leaseMs: 1, limit: 9 })
    assert.deepEqual(
      held.map(({ key }) => key),
      ['a', 'b', 'c'],
    )
    assert.equal((await store.knowledge.readIngest('default', 'b', id))?.endedAt, null)
  })

test('a process that takes no work leaves what it takes in to others', async (context) => {
  const store = memoryStore()
  const idle = await ingestStage(context, { store, takesWork: false })
  await idle.ingests.begin(place, base, { documents: [text('a', 'one')], prune: null })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(idle.texts, [])
  assert.equal((await store.knowledge.claimDocuments({ owner: 'two', leaseMs: 1, limit: 9 })).length, 1)
})

for (const kind of ['memory', 'SQLite'] as const) {
  const open = (context: TestContext, clock: FakeClock): Store => {
    if (kind === 'memory') return memoryStore({ now: clock.now })
    const folder = mkdtempSync(join(tmpdir(), 'witan-ingest-'))
    context.after(() => rmSync(folder, { recursive: true }))
    return sqliteStore({ file: join(folder, 'witan.db') })
  }

  test(`what a dead process held is read when its lease has lapsed, on ${kind}`, async (context) => {
    const clock = fakeClock(kind === 'memory' ? undefined : Date.now())
    const { ingests, knowledge, texts } = await ingestStage(context, {
      store: open(context, clock),
      clock,
      takesWork: true,
    })
    const dead = createIngests({
      ...{ knowledge, readers: lineReader(), embed: null, owner: 'dead', takesWork: false, clock, leaseMs: 15_000 },
      baseOf: async () => base,
      databases: async () => [],
      basesOf: async () => new Map(),
      report: () => assert.fail('nothing to report'),
    })
    const { id } = await dead.begin(place, base, { documents: [text('a', 'one')], prune: null })
    const leaseMs = kind === 'memory' ? 15_000 : 200
    const [held] = await knowledge.claimDocuments({ owner: 'dead', leaseMs, limit: 1 })
    assert.ok(held !== undefined)
    clock.advance(6_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepEqual(texts, [])
    if (kind === 'SQLite') await new Promise((resolve) => setTimeout(resolve, 200))
    clock.advance(10_000)
    const rows = await all(ingests.follow({ ...place, id }, never))
    assert.equal(rows.at(-1)?.added, 1)
    const late = await knowledge.endDocument('dead', held, { kind: 'failed', code: 'X', detail: 'late' })
    assert.equal(late, false)
  })

  test(`what a slow process holds is renewed, on ${kind}`, async (context) => {
    const clock = fakeClock(kind === 'memory' ? undefined : Date.now())
    const { ingests, knowledge, texts } = await ingestStage(context, { store: open(context, clock), clock })
    await ingests.begin(place, base, { documents: [text('a', 'stuck')], prune: null })
    while (texts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await knowledge.renewDocuments('one', 1)
    for (let third = 0; third < 6; third += 1) {
      clock.advance(5_000)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.deepEqual(await knowledge.claimDocuments({ owner: 'two', leaseMs: 1, limit: 9 }), [])
    await knowledge.renewDocuments('one', -1)
    assert.equal((await knowledge.claimDocuments({ owner: 'two', leaseMs: 1, limit: 9 })).length, 1)
  })
}

test('a document whose reading is interrupted again and again fails in the end', async (context) => {
  const clock = fakeClock()
  const store = memoryStore({ now: clock.now })
  const idle = await ingestStage(context, { store, clock, takesWork: false })
  const { id } = await idle.ingests.begin(place, base, { documents: [text('a', 'one')], prune: null })
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await store.knowledge.claimDocuments({ owner: 'dying', leaseMs: 1, limit: 1 })
    clock.advance(2)
  }
  const { ingests, texts } = await ingestStage(context, { store: memoryStore({ beside: store }), clock, owner: 'two' })
  const rows = await all(ingests.follow({ ...place, id }, never))
  assert.deepEqual(rows.at(-1)?.failed, [
    { key: 'a', code: 'DOCUMENT_UNREADABLE', detail: 'Its reading was interrupted 8 times.' },
  ])
  assert.deepEqual(texts, [])
})
