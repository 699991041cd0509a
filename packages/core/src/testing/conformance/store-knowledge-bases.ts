/** Conformance of stores: bases as a whole, how their documents were read, who comes next, and what a deletion leaves. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import { type Check, type CheckTwo, database } from './store-fixtures.ts'
import { begun, claimed, formOf, found, ingested, pendingOf, scopeOf, stored } from './store-knowledge-fixtures.ts'

const base = 'handbook'

/** Registers the tests of bases as a whole. */
export function checkBases(check: Check): void {
  checkLists(check)
  checkOutdated(check)
  checkFailures(check)
  checkTurns(check)
}

function listed(store: Store, at = database) {
  return store.knowledge
    .listBases(at)
    .then((bases) => bases.map(({ base: name, readings }) => `${name} ${readings.toSorted().join()}`).toSorted())
}

function checkLists(check: Check): void {
  check('a base is listed with the ways in which its documents were read, and what waits is counted', async (store) => {
    assert.deepEqual(await listed(store), [])
    const documents = ['a', 'b', 'c'].map((key) => ({ key, text: 'horse', attributes: { key } }))
    await ingested(store, documents)
    await ingested(store, [{ key: 'b', text: 'cart', reading: 'r2' }])
    await ingested(store, [{ key: 'x', text: 'horse' }], { at: { database: 'elsewhere', base } })
    assert.deepEqual([await listed(store), await listed(store, 'elsewhere')], [[`${base} r1,r2`], [`${base} r1`]])
    await ingested(
      store,
      documents.map((one) => ({ ...one, text: 'cow', reading: 'r2' })),
    )
    await begun(store, [{ key: 'd', text: 'horse' }], { at: { base: 'waits' } })
    assert.deepEqual(await listed(store), [`${base} r2`, 'waits '])
    const counts = { documents: 0, passages: 0, waiting: 1 }
    assert.deepEqual(await store.knowledge.countKnowledge(database, 'waits'), counts)
    await store.knowledge.deleteKnowledge(database, base)
    await store.knowledge.deleteKnowledge(database, 'waits')
    assert.deepEqual([await listed(store), await listed(store, 'elsewhere')], [[], [`${base} r1`]])
  })
}

const again = { base, at: 6, reading: 'r2', after: '', limit: 2 }

function checkFailures(check: Check): void {
  check(
    'a document that could not be read again waits until it is due, or until it or its base changes',
    async (store) => {
      await ingested(
        store,
        ['a', 'b', 'c'].map((key) => ({ key, text: `horse ${key}` })),
      )
      const failure = { code: 'DOCUMENT_UNREADABLE', detail: 'Long.', at: 6, reading: 'r2', attempts: 1, retryAt: 100 }
      const fail = async (reread: string, more: object, over?: string) => {
        const { reading, at } = { reading: 'r2', at: 6, ...more }
        const begin = { ...again, id: reread, at, reading, limit: 1 }
        assert.equal(await store.knowledge.beginReread(database, begin), 1)
        const [held = assert.fail()] = await claimed(store)
        const { code, detail } = failure
        const { title, uri, mediaType, attributes, digest } = held
        const about = formOf({ key: held.key, text: '' })
        assert.deepEqual([title, uri, mediaType, attributes], [`About ${held.key}`, about.uri, about.mediaType, {}])
        const end = { kind: 'failed', code, detail, failure: { ...failure, ...more }, over: over ?? digest } as const
        assert.ok(await store.knowledge.endDocument('w1', held, end))
        return held.key
      }
      const failures = async () => {
        const rows = await store.knowledge.listDocuments(database, base, { prefix: '', after: null, limit: 9 })
        for (const row of rows) {
          const read = await store.knowledge.readDocument(database, base, row.key)
          assert.deepEqual(read?.failure, row.failure)
        }
        return rows.map((row) => row.failure?.retryAt)
      }
      assert.equal(await fail('i1', {}, 'another digest'), 'a')
      assert.deepEqual(await failures(), [undefined, undefined, undefined], 'of what is not there any more')
      assert.equal(await fail('i2', {}), 'a')
      assert.equal(await fail('i3', { retryAt: null }), 'b')
      assert.deepEqual(await failures(), [100, null, undefined])
      assert.equal(await fail('i4', { at: 99, retryAt: 200 }), 'c')
      assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'none', at: 99 }), 0)
      assert.equal(await fail('i5', { at: 100, attempts: 2, retryAt: null }), 'a', 'one that is due')
      const [row] = await store.knowledge.listDocuments(database, base, { prefix: '', after: null, limit: 1 })
      assert.deepEqual(row?.failure, { ...failure, at: 100, attempts: 2, retryAt: null })
      assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'none', at: 150 }), 0)
      assert.equal(await fail('i6', { reading: 'r3', retryAt: 300 }), 'a', 'as its base reads otherwise')
      await ingested(store, [{ key: 'b', text: 'cart' }])
      assert.deepEqual(await failures(), [300, undefined, 200], 'it has changed')
      assert.equal(await fail('i7', { reading: 'r3', at: 150 }), 'b')
    },
  )
}

function checkOutdated(check: Check): void {
  check('documents that were read otherwise are read again, some at a time', async (store) => {
    const documents = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, text: `horse ${key}` }))
    await ingested(store, documents)
    await ingested(store, [{ key: 'b', text: 'cart', reading: 'r2' }])
    assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'none', reading: 'r9', after: 'e' }), 0)
    assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'i1' }), 2)
    assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'i2' }), 0, 'some wait already')
    const { passages, waiting } = await store.knowledge.countKnowledge(database, base)
    assert.deepEqual([passages, waiting], [5, 0])
    const [a, c, ...others] = await claimed(store)
    assert.deepEqual([a?.key, a?.content, c?.key, others], ['a', null, 'c', []])
    const { uri, mediaType, attributes, digest } = formOf({ key: 'a', text: 'horse a' })
    const about = { title: 'About a', uri, mediaType, attributes, digest }
    for (const [name, value] of Object.entries(about)) assert.deepEqual(a?.[name as 'digest'], value, name)
    const end = { kind: 'stored', form: formOf({ key: 'a', text: 'ox', reading: 'r2' }), at: 7, over: digest } as const
    assert.ok(await store.knowledge.endDocument('w1', a ?? assert.fail(), end))
    const failed = { kind: 'failed', code: 'EMBEDDING_FAILED', detail: '' } as const
    assert.ok(await store.knowledge.endDocument('w1', c ?? assert.fail(), failed))
    assert.deepEqual(await found(store, 'horse'), ['c/0', 'd/0', 'e/0'])
    const ingest = await store.knowledge.readIngest(database, base, 'i1')
    assert.deepEqual([ingest?.total, ingest?.changed, typeof ingest?.endedAt], [2, 1, 'number'])
    assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'i3', after: 'c' }), 2)
    const keys = (await claimed(store)).map(({ key }) => key)
    assert.deepEqual(keys, ['d', 'e'])
  })

  check('what is read again waits for what is ingested, and says nothing of other bases', async (store) => {
    await ingested(store, [{ key: 'a', text: 'horse' }])
    await ingested(store, [{ key: 'a', text: 'horse' }], { at: { base: 'other' } })
    await begun(store, [{ key: 'a', text: 'cart' }])
    assert.equal(await store.knowledge.beginReread(database, { ...again, id: 'i1' }), 1)
    const [first, ...others] = await claimed(store)
    assert.deepEqual([first?.content, others], ['cart', []])
  })
}

async function keysInTurn(store: Store): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const [held] = await claimed(store, 'w1', { limit: 1 })
    if (held === undefined) return keys
    keys.push(`${held.database === database ? '' : `${held.database}/`}${held.base}/${held.key}`)
    await store.knowledge.endDocument('w1', held, { kind: 'failed', code: 'X', detail: '' })
  }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `${index}`, text: 'x' }))

function checkTurns(check: Check): void {
  check('a base with much to read holds up no other, of its database or another', async (store) => {
    await begun(store, many(60), { at: { base: 'long' } })
    for (const one of await claimed(store, 'w1', { limit: 20 }))
      await store.knowledge.endDocument('w1', one, { kind: 'failed', code: 'X', detail: '' })
    await begun(store, many(5), { at: { database: 'tenant', base: 'short' } })
    await begun(store, many(2), { at: { base: 'beside' } })
    const keys = await keysInTurn(store)
    const last = (name: string) => keys.findLastIndex((key) => key.startsWith(name))
    assert.ok(last('tenant/short/') <= 14, keys.slice(0, 20).join())
    assert.ok(last('beside/') <= 14, keys.slice(0, 20).join())
    assert.equal(keys.length, 47)
    for (const name of ['long/', 'tenant/short/', 'beside/']) {
      const own = keys.filter((key) => key.startsWith(name)).map((key) => Number(key.split('/').at(-1)))
      assert.deepEqual(
        own,
        own.toSorted((one, other) => one - other),
        name,
      )
    }
  })

  check('a base that comes again and again gets no more turns than another', async (store) => {
    await begun(store, many(10), { at: { base: 'long' } })
    const keys: string[] = []
    for (let round = 0; round < 10; round += 1) {
      await begun(store, [{ key: `${round}`, text: 'x' }], { at: { database: 'tenant', base: 'small' } })
      const [held] = await claimed(store, 'w1', { limit: 1 })
      keys.push(held?.base ?? '')
      await store.knowledge.endDocument('w1', held ?? assert.fail(), { kind: 'failed', code: 'X', detail: '' })
    }
    const own = keys.filter((name) => name === 'long').length
    assert.ok(own >= 4 && own <= 6, keys.join())
  })
}

/** Registers the tests of a deletion beside another process. */
export function checkWholeDeletion(checkTwo: CheckTwo): void {
  checkTwo('nothing of a base is left that ends, or is begun, while it is deleted', async (first, second) => {
    for (let round = 0; round < 12; round += 1) {
      const documents = Array.from({ length: 6 }, (_, index) => ({
        key: `k${index}`,
        text: Array.from({ length: 40 }, (__, at) => `horse ${round} ${at}`).join('\n\n'),
        attributes: { index },
      }))
      await begun(first, documents)
      const held = await claimed(first)
      assert.equal(held.length, documents.length)
      const written = (key: string) => documents.find((one) => one.key === key) ?? assert.fail(key)
      const ends = held.map(async (one, index) => {
        for (let turn = 0; turn < index * round; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        return stored(first, one, written(one.key))
      })
      await Promise.all([...ends, second.knowledge.deleteKnowledge(database, base)])
      for (const store of [first, second]) {
        const { documents: left, passages } = await store.knowledge.countKnowledge(database, base)
        assert.deepEqual([left, passages, await found(store, 'horse')], [0, 0, []], `round ${round}`)
        assert.deepEqual(await store.knowledge.listBases(database), [])
        const page = { prefix: '', after: null, limit: 9 }
        assert.deepEqual(await store.knowledge.listDocuments(database, base, page), [], `round ${round}`)
      }
    }
    // What was begun meanwhile is there whole, or not at all: the next deletion finds it by its name.
    await Promise.all([
      first.knowledge
        .beginIngest(database, {
          base,
          id: 'late',
          at: 1,
          prune: null,
          failed: [],
          pending: [pendingOf({ key: 'a', text: 'x' })],
        })
        .catch(() => null),
      second.knowledge.deleteKnowledge(database, base),
    ])
    const bases = await second.knowledge.listBases(database)
    if (bases.length > 0) await second.knowledge.deleteKnowledge(database, base)
    assert.deepEqual([await second.knowledge.listBases(database), await claimed(first)], [[], []])
    await ingested(first, [{ key: 'a', text: 'horse' }])
    assert.deepEqual(await found(second, 'horse', { scopes: [scopeOf(base)] }), ['a/0'])
  })
}
