/** A base that reads otherwise has its documents read again, whatever becomes of the process that began. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { fakeClock } from '../../../../test/support/clock.ts'
import { readingOf } from '../knowledge/digest.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Embed } from './read-document.ts'
import { all, base, ingestStage, never, nothing, place, text } from '../testing/ingest-stage.ts'

test('a base that reads otherwise makes all its documents new', async (context) => {
  const store = memoryStore()
  const first = await ingestStage(context, { store })
  await first.ingest([text('a', 'x')])
  const changed = await ingestStage(context, {
    store: memoryStore({ beside: store }),
    base: { ...base, passageCharacters: 300 },
    owner: 'two',
  })
  assert.deepEqual(await changed.ingest([text('a', 'x')]), { ...nothing, total: 1, changed: 1 })
})

test('a document that is read again keeps what became of it meanwhile', async (context) => {
  const store = memoryStore()
  const idle = await ingestStage(context, { store, takesWork: false })
  const { knowledge } = idle
  const first = await ingestStage(context, { store: memoryStore({ beside: store }), owner: 'two' })
  await first.ingest(['k', 'gone', 'd/p'].map((key) => text(key, `old ${key}`)))
  await first.ingests.close()
  const now = { ...base, passageCharacters: 300 }
  const late = memoryStore({ beside: store })
  await idle.ingests.begin(place, now, { documents: [text('k', 'new')], prune: null })
  await idle.ingests.changed('default')
  assert.equal(await knowledge.deleteDocument('default', 'b', 'gone'), true)
  const pruned = await idle.ingests.begin(place, now, { documents: [], prune: 'd/' })
  assert.equal(pruned.deleted, 1)
  const { ingest, reports } = await ingestStage(context, { store: late, base: now, owner: 'three' })
  await ingest([text('k2', 'last')])
  assert.deepEqual(reports, [])
  const rows = await knowledge.listDocuments('default', 'b', { prefix: '', after: null, limit: 9 })
  assert.deepEqual(
    rows.map(({ key }) => key),
    ['k', 'k2'],
  )
  const k = await knowledge.readDocument('default', 'b', 'k')
  assert.deepEqual(k?.blocks, [{ kind: 'paragraph', text: 'new' }])
})

/** A stage of a changed base, whose process died before it began to read again. */
async function afterChange(context: TestContext, over: Partial<KnowledgeBase>, embed: Embed) {
  const store = memoryStore()
  const before = await ingestStage(context, { store })
  await before.ingest(Array.from({ length: 120 }, (_, at) => text(`k${`${at}`.padStart(3, '0')}`, `word${at}`)))
  await before.ingests.close()
  const clock = fakeClock()
  const now = { ...base, ...over }
  const after = await ingestStage(context, {
    store: memoryStore({ beside: store }),
    base: now,
    embed,
    clock,
    owner: 'two',
  })
  const readings = async () => (await store.knowledge.listBases('default')).flatMap(({ readings: all }) => all)
  const until = async (reading: readonly string[]) => {
    while ((await readings()).join() !== reading.join()) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { ...after, clock, readings, until, now: readingOf(now), old: readingOf(base) }
}

for (const over of [{ language: 'none' }, { passageCharacters: 300 }, { embedding: 'local/embed' }] as const)
  test(`a base that changed its ${Object.keys(over)} is read again by any process that takes work`, async (context) => {
    const embed: Embed = async (_, texts) => texts.map(() => [1, 2])
    const { until, documents, reports, now } = await afterChange(context, over, embed)
    await until([now])
    const rows = await documents()
    assert.ok(rows.length === 100 && rows.every((row) => row.includes('r2')))
    assert.deepEqual(reports, [])
  })

test('what could not be placed when a base was read again is tried again later, and found in its old form until then', async (context) => {
  let isAway = true
  let asked = 0
  const embed: Embed = async (_, texts) => {
    if (texts.some((one) => one.includes('word'))) asked += 1
    if (isAway) throw new Error('The model is away.')
    return texts.map(() => [1, 2])
  }
  const over = { embedding: 'local/embed' }
  const { until, readings, clock, knowledge, now, old, reports } = await afterChange(context, over, embed)
  while (asked < 50) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(asked, 50, 'the rest waits')
  assert.deepEqual(await readings(), [old])
  const search = { database: 'default', scopes: [{ base: 'b', filter: [] }], words: ['word7'], limit: 5 }
  assert.equal((await knowledge.rankByWords(search)).length, 1)
  isAway = false
  clock.advance(300_000)
  await until([now])
  assert.equal(reports.length, 50)
})

/** What became of the documents of a base whose model refuses some texts, and how often it was asked for those. */
async function refusing(context: TestContext, isAway: () => boolean) {
  let refused = 0
  const embed: Embed = async (_, texts) => {
    if (isAway()) throw new Error('The model is away.')
    if (texts.some((one) => one.includes('word119'))) {
      refused += 1
      throw new Error('The text is refused.')
    }
    return texts.map(() => [1, 2])
  }
  const stage = await afterChange(context, { embedding: 'local/embed' }, embed)
  const failure = async () => (await stage.knowledge.readDocument('default', 'b', 'k119'))?.failure ?? null
  const settled = async (count: number) => {
    while ((await failure())?.attempts !== count) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  /** Lets time pass, in steps of a look. */
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 5) {
      stage.clock.advance(300_000)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  return { ...stage, failure, settled, pass, refused: () => refused }
}

test('a document that can never be read again is tried five times, ever later, and then left with its failure', async (context) => {
  const { readings, failure, settled, pass, refused, now, old, ingest } = await refusing(context, () => false)
  await settled(1)
  assert.deepEqual((await readings()).toSorted(), [old, now].toSorted(), 'all others are read')
  const minutes = [5, 20, 80, 320]
  for (const [index, wait] of minutes.entries()) {
    const { attempts, at, retryAt } = (await failure()) ?? assert.fail()
    assert.deepEqual([attempts, retryAt], [index + 1, at + wait * 60_000])
    await pass(wait)
    await settled(index + 2)
  }
  const last = await failure()
  const detail = 'The model `local/embed` could not place its passages.'
  assert.deepEqual([last?.code, last?.detail, last?.retryAt], ['EMBEDDING_FAILED', detail, null])
  await pass(1_000)
  assert.equal(refused(), 5, 'it is left')
  await ingest([text('k119', 'better')])
  assert.deepEqual([await failure(), await readings()], [null, [now]])
})

test('while the model of a base is away, no document has failed by itself, however long that takes', async (context) => {
  let isAway = true
  const { failure, pass, knowledge, settled } = await refusing(context, () => isAway)
  await pass(600)
  const rows = await knowledge.listDocuments('default', 'b', { prefix: '', after: null, limit: 200 })
  assert.ok(rows.length === 120 && rows.every((row) => row.failure === null))
  isAway = false
  await pass(5)
  await settled(1)
  assert.equal((await failure())?.attempts, 1)
})

test('a document that was being read while its base changed is read again', async (context) => {
  const store = memoryStore()
  let now = base
  const bases = { current: () => now }
  const gate = Promise.withResolvers<void>()
  const { ingests } = await ingestStage(context, { store, bases, embed: null, gate: gate.promise })
  const { id } = await ingests.begin(place, base, { documents: [text('a', 'gated')], prune: null })
  await new Promise((resolve) => setTimeout(resolve, 20))
  now = { ...base, passageCharacters: 300 }
  await ingests.changed('default')
  gate.resolve()
  await all(ingests.follow({ ...place, id }, never))
  const wanted = readingOf(now)
  while ((await store.knowledge.listBases('default'))[0]?.readings.join() !== wanted)
    await new Promise((resolve) => setTimeout(resolve, 5))
})
