/** Conformance of stores: ingests of knowledge, who holds a waiting document, and what becomes of it. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import { type Check, database } from './store-fixtures.ts'
import { begun, claimed, formOf, found, ingested, pendingOf, stored } from './store-knowledge-fixtures.ts'

const base = 'handbook'

async function keysOf(store: Store): Promise<string[]> {
  const rows = await store.knowledge.listDocuments(database, base, { prefix: '', after: null, limit: 100 })
  return rows.map(({ key }) => key)
}

async function readIngest(store: Store, id: string) {
  return (await store.knowledge.readIngest(database, base, id)) ?? assert.fail(id)
}

/** Registers the tests of ingests. */
export function checkIngests(check: Check): void {
  checkCounts(check)
  checkHolding(check)
  checkOrder(check)
  checkPrune(check)
  checkRereads(check)
}

function checkCounts(check: Check): void {
  check('an ingest counts what became of its documents, and ends with the last', async (store) => {
    await ingested(store, [
      { key: 'same', text: 'same' },
      { key: 'changed', text: 'before' },
    ])
    const failure = { key: 'bad', code: 'MEDIA_TYPE_UNSUPPORTED', detail: 'no \u0000 reader' }
    const documents = ['same', 'changed', 'added', 'broken'].map((key) => ({
      key,
      text: key === 'same' ? 'same' : `now ${key}`,
    }))
    const pending = documents.map(pendingOf)
    const ingest = { base, id: 'i1', at: 5, prune: null, failed: [failure], pending }
    const fresh = await store.knowledge.beginIngest(database, ingest)
    const counts = { added: 0, changed: 0, unchanged: 0, deleted: 0 }
    assert.deepEqual(fresh, { base, id: 'i1', total: 5, ...counts, failed: [failure], startedAt: 5, endedAt: null })
    const held = await claimed(store)
    assert.deepEqual(
      held.map(({ key, ingest: of }) => [key, of]),
      documents.map(({ key }) => [key, 'i1']),
    )
    const [same, changed, added, broken] = held
    assert.ok(await store.knowledge.endDocument('w1', same ?? assert.fail(), { kind: 'unchanged' }))
    const code = 'DOCUMENT_UNREADABLE'
    assert.ok(
      await store.knowledge.endDocument('w1', broken ?? assert.fail(), { kind: 'failed', code, detail: 'torn' }),
    )
    assert.ok(await stored(store, changed ?? assert.fail(), documents[1] ?? assert.fail()))
    assert.equal((await readIngest(store, 'i1')).endedAt, null)
    assert.ok(await stored(store, added ?? assert.fail(), documents[2] ?? assert.fail()))
    const { endedAt, ...ended } = await readIngest(store, 'i1')
    assert.equal(typeof endedAt, 'number')
    const failed = [failure, { key: 'broken', code, detail: 'torn' }]
    assert.deepEqual(ended, {
      base,
      id: 'i1',
      total: 5,
      added: 1,
      changed: 1,
      unchanged: 1,
      deleted: 0,
      failed,
      startedAt: 5,
    })
    assert.deepEqual(await keysOf(store), ['added', 'changed', 'same'])
    assert.equal((await store.knowledge.readDocument(database, base, 'same'))?.revision, 1)
    assert.deepEqual(await claimed(store), [])
  })

  check('an ingest for which nothing waits has ended', async (store) => {
    const ingest = { base, id: 'i1', at: 5, prune: null, failed: [], pending: [] }
    const { total, endedAt } = await store.knowledge.beginIngest(database, ingest)
    assert.deepEqual([total, typeof endedAt], [0, 'number'])
    assert.deepEqual(await readIngest(store, 'i1'), await readIngest(store, 'i1'))
  })

  check('many documents of one ingest wait in their order', async (store) => {
    const documents = Array.from({ length: 700 }, (_, index) => ({ key: `k${index}`, text: `${index} `.repeat(400) }))
    await begun(store, documents)
    const keys: string[] = []
    for (;;) {
      const held = await claimed(store, 'w1', { limit: 300 })
      if (held.length === 0) break
      keys.push(...held.map(({ key }) => key))
    }
    assert.deepEqual(
      keys,
      documents.map(({ key }) => key),
    )
  })
}

function checkHolding(check: Check): void {
  check('a held document is claimed by nobody else until its lease lapses or it is given back', async (store) => {
    await begun(store, [
      { key: 'a', text: 'x' },
      { key: 'b', text: 'x' },
    ])
    const [a] = await claimed(store, 'w1', { limit: 1 })
    const [b] = await claimed(store, 'w2', { leaseMs: -1 })
    assert.deepEqual([a?.key, b?.key, b?.attempt], ['a', 'b', 1])
    const [again] = await claimed(store, 'w3')
    assert.deepEqual([again?.key, again?.number, again?.attempt], ['b', b?.number, 2])
    assert.deepEqual(await claimed(store, 'w4'), [])
    await store.knowledge.releaseDocuments('w1')
    const [back] = await claimed(store, 'w4')
    assert.deepEqual([back?.key, back?.number, back?.attempt], ['a', a?.number, 2])
  })

  check('an end of somebody who does not hold the document any more changes nothing', async (store) => {
    const written = { key: 'a', text: 'horse' }
    const { id } = await begun(store, [written])
    const [lapsed] = await claimed(store, 'w1', { leaseMs: -1 })
    const [held] = await claimed(store, 'w1')
    assert.equal(await stored(store, lapsed ?? assert.fail(), written), false)
    const end = { kind: 'failed', code: 'DOCUMENT_UNREADABLE', detail: '' } as const
    assert.equal(await store.knowledge.endDocument('w1', lapsed ?? assert.fail(), end), false)
    assert.equal(await store.knowledge.endDocument('w2', held ?? assert.fail(), end), false)
    assert.deepEqual([await found(store, 'horse'), (await readIngest(store, id)).failed], [[], []])
    await store.knowledge.releaseDocuments('w1')
    assert.equal(await stored(store, held ?? assert.fail(), written), false)
    const [now] = await claimed(store, 'w1')
    assert.equal(await stored(store, now ?? assert.fail(), written), true)
    assert.equal(await stored(store, now ?? assert.fail(), written), false)
    const { added, endedAt } = await readIngest(store, id)
    assert.deepEqual([added, typeof endedAt], [1, 'number'])
  })

  check('a lease that lapsed holds until somebody else claims', async (store) => {
    const written = { key: 'a', text: 'horse' }
    await begun(store, [written])
    const [lapsed] = await claimed(store, 'w1', { leaseMs: -1 })
    assert.equal(await stored(store, lapsed ?? assert.fail(), written), true)
  })
}

function checkOrder(check: Check): void {
  check('documents of one key are worked on in their order, one at a time', async (store) => {
    const [one, two] = [
      { key: 'a', text: 'first' },
      { key: 'a', text: 'second' },
    ]
    await begun(store, [one])
    const { id } = await begun(store, [two, { key: 'b', text: 'x' }])
    const held = await claimed(store)
    assert.deepEqual(
      held.map(({ key, content }) => [key, content]),
      [
        ['a', 'first'],
        ['b', 'x'],
      ],
    )
    assert.ok(await stored(store, held[0] ?? assert.fail(), one))
    const [next] = await claimed(store)
    assert.deepEqual([next?.key, next?.content], ['a', 'second'])
    assert.ok(await stored(store, next ?? assert.fail(), two))
    assert.deepEqual([await found(store, 'first'), await found(store, 'second')], [[], ['a/0']])
    const { changed, endedAt } = await readIngest(store, id)
    assert.deepEqual([changed, endedAt], [1, null])
  })

  check('what is unchanged must still be there: else it is given back', async (store) => {
    const written = { key: 'a', text: 'horse' }
    await ingested(store, [written])
    await begun(store, [written])
    const [held] = await claimed(store)
    await store.knowledge.deleteDocument(database, base, 'a')
    assert.equal(await store.knowledge.endDocument('w1', held ?? assert.fail(), { kind: 'unchanged' }), false)
    const [again] = await claimed(store)
    assert.equal(again?.attempt, 2)
    assert.ok(await stored(store, again ?? assert.fail(), written))
    assert.deepEqual(await found(store, 'horse'), ['a/0'])
  })

  check('what an ingest has taken goes on after a deletion', async (store) => {
    const written = { key: 'a', text: 'horse' }
    await ingested(store, [{ key: 'a', text: 'before' }])
    await begun(store, [written])
    assert.ok(await store.knowledge.deleteDocument(database, base, 'a'))
    const [held] = await claimed(store)
    assert.ok(await stored(store, held ?? assert.fail(), written))
    assert.deepEqual(await found(store, 'horse'), ['a/0'])
  })
}

function checkPrune(check: Check): void {
  check('an ingest prunes under its prefix at its end, but nothing that it has', async (store) => {
    const keys = ['docs/a', 'docs/b', 'docs/c', 'docs', 'docs0', 'doc/a', 'docs/\u{1f600}']
    await ingested(
      store,
      keys.map((key) => ({ key, text: 'horse' })),
    )
    const failed = [{ key: 'docs/c', code: 'DOCUMENT_UNREADABLE', detail: '' }]
    const pending = [pendingOf({ key: 'docs/a', text: 'horse' })]
    await store.knowledge.beginIngest(database, { base, id: 'i1', at: 5, prune: 'docs/', failed, pending })
    assert.deepEqual((await keysOf(store)).length, keys.length)
    const [held] = await claimed(store)
    assert.ok(await store.knowledge.endDocument('w1', held ?? assert.fail(), { kind: 'unchanged' }))
    assert.deepEqual(await keysOf(store), ['doc/a', 'docs', 'docs/a', 'docs/c', 'docs0'])
    const { deleted, unchanged } = await readIngest(store, 'i1')
    assert.deepEqual([deleted, unchanged], [2, 1])
    assert.deepEqual((await found(store, 'horse')).length, 5)
  })

  check('an ingest without documents prunes all under its prefix', async (store) => {
    await ingested(store, [
      { key: 'a', text: 'x' },
      { key: 'b', text: 'x' },
    ])
    const row = await store.knowledge.beginIngest(database, {
      base,
      id: 'i1',
      at: 5,
      prune: '',
      failed: [],
      pending: [],
    })
    assert.deepEqual([row.deleted, await keysOf(store)], [2, []])
  })

  check('a prune leaves what later ingests have stored, or wait for', async (store) => {
    await ingested(store, [
      { key: 'gone', text: 'x' },
      { key: 'kept', text: 'kept' },
      { key: 'waits', text: 'x' },
    ])
    const first = { key: 'a', text: 'x' }
    const { id } = await begun(store, [first], { prune: '' })
    const later = [
      { key: 'later', text: 'x' },
      { key: 'kept', text: 'kept' },
      { key: 'waits', text: 'y' },
    ]
    await begun(store, later)
    const [a, ...others] = await claimed(store)
    assert.ok(await stored(store, others[0] ?? assert.fail(), later[0] ?? assert.fail()))
    assert.ok(await store.knowledge.endDocument('w1', others[1] ?? assert.fail(), { kind: 'unchanged' }))
    assert.ok(await stored(store, a ?? assert.fail(), first))
    assert.deepEqual(await keysOf(store), ['a', 'kept', 'later', 'waits'])
    assert.equal((await readIngest(store, id)).deleted, 1)
  })
}

/** Begins to read documents again that the base has. */
async function rereadBegun(store: Store, keys: readonly string[]): Promise<string> {
  const pending = keys.map((key) => ({ ...pendingOf({ key, text: '' }), content: null }))
  const { id } = await store.knowledge.beginIngest(database, {
    ...{ base, id: `reread-${keys.join()}`, at: 6, prune: null, failed: [] },
    pending,
  })
  return id
}

function checkRereads(check: Check): void {
  check('a document that is read again is stored only over the form that was read', async (store) => {
    const [before, now] = [
      { key: 'a', text: 'horse' },
      { key: 'a', text: 'horse cart' },
    ]
    await ingested(store, [before])
    const id = await rereadBegun(store, ['a'])
    const over = pendingOf(before).digest
    const [held] = await claimed(store)
    assert.equal(held?.content, null)
    const end = { kind: 'stored', form: formOf(now), at: 7 } as const
    const other = { ...end, over: 'sha256:other' }
    assert.equal(await store.knowledge.endDocument('w1', held ?? assert.fail(), other), false)
    const [again] = await claimed(store)
    assert.deepEqual([again?.attempt, await found(store, 'cart')], [2, []])
    assert.ok(await store.knowledge.endDocument('w1', again ?? assert.fail(), { ...end, over }))
    assert.deepEqual(await found(store, 'cart'), ['a/0'])
    const { changed, endedAt } = await readIngest(store, id)
    assert.deepEqual([changed, typeof endedAt], [1, 'number'])
  })

  check('a document that is deleted while it waits to be read again stays deleted', async (store) => {
    const written = { key: 'a', text: 'horse' }
    await ingested(store, [written])
    const id = await rereadBegun(store, ['a'])
    const [held] = await claimed(store)
    assert.ok(await store.knowledge.deleteDocument(database, base, 'a'))
    const end = { kind: 'stored', form: formOf(written), at: 7, over: pendingOf(written).digest } as const
    assert.equal(await store.knowledge.endDocument('w1', held ?? assert.fail(), end), false)
    const [again] = await claimed(store)
    assert.ok(await store.knowledge.endDocument('w1', again ?? assert.fail(), { kind: 'unchanged' }))
    const { unchanged, endedAt } = await readIngest(store, id)
    assert.deepEqual([unchanged, typeof endedAt, await keysOf(store)], [1, 'number', []])
  })

  check('a prune spares nothing because it is read again', async (store) => {
    const waits = { key: 'waits', text: 'x' }
    const read = { key: 'read', text: 'x' }
    await ingested(store, [waits, read, { key: 'same', text: 'x' }])
    const first = { key: 'first', text: 'x' }
    await begun(store, [first], { prune: '' })
    await rereadBegun(store, ['read', 'same', 'waits'])
    const [held, again, same] = await claimed(store)
    const end = { kind: 'stored', form: formOf(read), at: 7, over: pendingOf(read).digest } as const
    assert.ok(await store.knowledge.endDocument('w1', again ?? assert.fail(), end))
    assert.ok(await store.knowledge.endDocument('w1', same ?? assert.fail(), { kind: 'unchanged' }))
    assert.ok(await stored(store, held ?? assert.fail(), first))
    assert.deepEqual(await keysOf(store), ['first'])
  })
}
