/** Conformance of stores: documents of knowledge bases, their forms, and what is left when they go. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import { type Check, type CheckTwo, database } from './store-fixtures.ts'
import { begun, claimed, formOf, found, ingested, scopeOf, stored, type Written } from './store-knowledge-fixtures.ts'

const base = 'handbook'
const wholeList = { prefix: '', after: null, limit: 100 }

/** Registers the tests of documents. */
export function checkKnowledge(check: Check): void {
  checkDocuments(check)
  checkContents(check)
  checkForms(check)
  checkDeletions(check)
}

async function keysOf(
  store: Store,
  page: { readonly prefix?: string; readonly after?: string; readonly limit?: number },
) {
  const rows = await store.knowledge.listDocuments(database, base, { ...wholeList, ...page })
  return rows.map(({ key }) => key)
}

function checkDocuments(check: Check): void {
  check('a store without knowledge has none', async (store) => {
    const { knowledge } = store
    assert.deepEqual(await knowledge.countKnowledge(database, base), { documents: 0, passages: 0, waiting: 0 })
    assert.deepEqual(await knowledge.listDocuments(database, base, wholeList), [])
    assert.equal(await knowledge.readDocument(database, base, 'a'), null)
    assert.equal(await knowledge.deleteDocument(database, base, 'a'), false)
    assert.equal(await knowledge.readIngest(database, base, 'i'), null)
    assert.deepEqual(await found(store, 'anything'), [])
    assert.deepEqual(await claimed(store), [])
    await knowledge.deleteKnowledge(database, base)
    await knowledge.releaseDocuments('w1')
  })

  check('documents are listed by key in the order of UTF-8, by prefix, page by page', async (store) => {
    const keys = ['docs/a', 'docs/b', 'docs/\u{1f600}', 'docs/\uffee', 'docsx', 'é', 'docs/', 'DOCS/a']
    await ingested(
      store,
      keys.map((key) => ({ key, text: `text of ${key}` })),
    )
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(await keysOf(store, {}), sorted)
    const under = sorted.filter((key) => key.startsWith('docs/'))
    assert.deepEqual(await keysOf(store, { prefix: 'docs/' }), under)
    assert.deepEqual(await keysOf(store, { prefix: 'docs/', limit: 2 }), under.slice(0, 2))
    assert.deepEqual(await keysOf(store, { prefix: 'docs/', after: under[1] ?? '', limit: 2 }), under.slice(2, 4))
    assert.deepEqual(await keysOf(store, { prefix: 'docs/', after: 'docs/aa' }), under.slice(2))
    assert.deepEqual(await keysOf(store, { prefix: 'docs/', after: 'zzz' }), [])
    assert.deepEqual(await keysOf(store, { prefix: '\u{10ffff}' }), [])
    let isCut = false
    const cut = () => {
      isCut = true
    }
    const bound = { characters: 1, cut }
    const [first, ...more] = await store.knowledge.listDocuments(database, base, { ...wholeList, bound })
    assert.deepEqual([first?.key, more.length, isCut], [sorted[0], 0, true])
  })

  check('a document comes back as it was, with odd characters', async (store) => {
    const odd = 'Ås ☔ 日本 👩‍👩‍👧 \u0000 \u2028 \\ " \ud800 x'
    const written: Written = {
      key: "a ☔'$1",
      text: `${odd}\n\nsecond`,
      attributes: { a: odd, n: 1.5, b: false, l: ['x', odd] },
    }
    await begun(store, [written])
    const [held] = await claimed(store)
    const { title: _, ...form } = formOf(written)
    const { key, content, attributes, database: at, base: of, attempt } = held ?? assert.fail()
    assert.deepEqual(
      [key, content, attributes, at, of, attempt],
      [written.key, written.text, written.attributes, database, base, 1],
    )
    const blocks = [{ kind: 'heading', level: 2, text: odd } as const, ...form.blocks]
    const end = { kind: 'stored', form: { ...form, title: odd, blocks }, at: 7 } as const
    assert.ok(await store.knowledge.endDocument('w1', held ?? assert.fail(), end))
    const read = (await store.knowledge.readDocument(database, base, written.key)) ?? assert.fail()
    const { uri, mediaType, digest } = form
    const counts = { revision: 1, passages: 2, ingestedAt: 7 }
    const row = { key, title: odd, uri, mediaType, attributes, digest, ...counts, failure: null }
    assert.deepEqual(read, { ...row, blocks })
    assert.deepEqual(await store.knowledge.listDocuments(database, base, wholeList), [row])
    const place = { base, document: key, place: 0 }
    assert.deepEqual(await store.knowledge.readPassages(database, [scopeOf(base)], [place]), [
      { ...place, title: odd, uri, digest, heading: 'part 0', text: odd },
    ])
  })
}

function checkContents(check: Check): void {
  check('contents wait as they are: texts and bytes, short and long, beside each other', async (store) => {
    const bytes = (length: number) => new Uint8Array(length).map((_, index) => index * 7)
    const texts = ['', '\ufeffmark', 'odd \u0000 \ud800 "', '知識'.repeat(150_000)]
    const contents = [...texts, bytes(0), bytes(3), null, bytes(300_000), 'last']
    const pending = contents.map((content, at) => {
      const mediaType = 'application/pdf'
      return { key: `k${at}`, title: 'T', uri: null, mediaType, content, attributes: {}, digest: `d${at}` }
    })
    await store.knowledge.beginIngest(database, { base, id: 'i', at: 1, prune: null, failed: [], pending })
    const held = await store.knowledge.claimDocuments({ owner: 'w1', leaseMs: 60_000, limit: 20 })
    assert.deepEqual(
      held.map(({ key, title, mediaType, digest }) => ({ key, title, mediaType, digest })),
      pending.map(({ key, title, mediaType, digest }) => ({ key, title, mediaType, digest })),
    )
    for (const [at, { content }] of held.entries()) {
      const [sent, isText] = [contents[at], typeof content === 'string']
      assert.ok(
        isText || content === null ? content === sent : Buffer.from(content).equals(sent as Uint8Array),
        `k${at}`,
      )
    }
  })
}

function checkForms(check: Check): void {
  check(
    'a changed document is found in its old form until the new one is stored, and then in that alone',
    async (store) => {
      await ingested(store, [{ key: 'a', text: 'old horse\n\nold cart\n\nold road' }])
      const changed = { key: 'a', text: 'new horse\n\nnew cart' }
      await begun(store, [changed])
      const [held] = await claimed(store)
      assert.deepEqual(await found(store, 'old'), ['a/0', 'a/1', 'a/2'])
      assert.deepEqual(await found(store, 'new'), [])
      assert.ok(await stored(store, held ?? assert.fail(), changed))
      assert.deepEqual([await found(store, 'old'), await found(store, 'new')], [[], ['a/0', 'a/1']])
      const read = await store.knowledge.readDocument(database, base, 'a')
      assert.deepEqual([read?.revision, read?.passages, read?.blocks.length], [2, 2, 2])
      assert.deepEqual(await store.knowledge.countKnowledge(database, base), { documents: 1, passages: 2, waiting: 0 })
    },
  )

  check('a document without text has no passages, and is there', async (store) => {
    await ingested(store, [
      { key: 'a', text: '' },
      { key: 'b', text: 'words' },
      { key: 'c', text: '' },
    ])
    assert.deepEqual(await store.knowledge.countKnowledge(database, base), { documents: 3, passages: 1, waiting: 0 })
    assert.deepEqual((await store.knowledge.readDocument(database, base, 'a'))?.blocks, [])
    assert.deepEqual(await found(store, 'words'), ['b/0'])
    assert.ok(await store.knowledge.deleteDocument(database, base, 'a'))
    assert.deepEqual(await keysOf(store, {}), ['b', 'c'])
  })

  check('a long document is stored whole', async (store) => {
    const text = Array.from({ length: 900 }, (_, at) => `passage ${at} says w${at} ${'and more '.repeat(20)}`).join(
      '\n\n',
    )
    await ingested(store, [
      { key: 'short', text: 'w450' },
      { key: 'long', text },
    ])
    assert.deepEqual(await store.knowledge.countKnowledge(database, base), { documents: 2, passages: 901, waiting: 0 })
    assert.deepEqual(await found(store, 'w450'), ['short/0', 'long/450'])
    const read = await store.knowledge.readDocument(database, base, 'long')
    assert.equal(read?.blocks.map((block) => block.text).join('\n\n'), text)
    await ingested(store, [{ key: 'long', text: 'now w450' }])
    assert.deepEqual(await found(store, 'w450'), ['short/0', 'long/0'])
    assert.deepEqual(await found(store, 'w451'), [])
  })
}

function checkDeletions(check: Check): void {
  check('a deleted document is found no more, and one of its key begins anew', async (store) => {
    await ingested(store, [
      { key: 'a', text: 'horse' },
      { key: 'b', text: 'horse' },
    ])
    assert.equal(await store.knowledge.deleteDocument(database, base, 'a'), true)
    assert.equal(await store.knowledge.deleteDocument(database, base, 'a'), false)
    assert.deepEqual([await found(store, 'horse'), await keysOf(store, {})], [['b/0'], ['b']])
    const place = { base, document: 'a', place: 0 }
    assert.deepEqual(await store.knowledge.readPassages(database, [scopeOf(base)], [place]), [])
    await ingested(store, [{ key: 'a', text: 'horse' }])
    assert.equal((await store.knowledge.readDocument(database, base, 'a'))?.revision, 1)
  })

  check('a deleted base has nothing, and leaves those of its name in other databases alone', async (store) => {
    const documents = [{ key: 'a', text: 'horse' }]
    await ingested(store, documents)
    await ingested(store, documents, { at: { base: 'other' } })
    await ingested(store, documents, { at: { database: 'elsewhere', base } })
    const { id } = await begun(store, [{ key: 'b', text: 'horse' }])
    const [held] = await claimed(store)
    await store.knowledge.deleteKnowledge(database, base)
    assert.deepEqual(await store.knowledge.countKnowledge(database, base), { documents: 0, passages: 0, waiting: 0 })
    assert.deepEqual([await found(store, 'horse'), await keysOf(store, {})], [[], []])
    assert.equal(await store.knowledge.readIngest(database, base, id), null)
    assert.equal(await stored(store, held ?? assert.fail(), { key: 'b', text: 'horse' }), false)
    assert.deepEqual(await found(store, 'horse', { scopes: [scopeOf('other')] }), ['a/0'])
    assert.deepEqual(await found(store, 'horse', { at: 'elsewhere' }), ['a/0'])
    await ingested(store, [{ key: 'c', text: 'horse' }])
    assert.deepEqual(await found(store, 'horse'), ['c/0'])
  })
}

/** Registers the tests of knowledge that two processes share. */
export function checkSharedKnowledge(checkTwo: CheckTwo): void {
  checkTwo('two processes share what waits, and find what the other stored', async (first, second) => {
    const documents = Array.from({ length: 9 }, (_, index) => ({ key: `k${index}`, text: `horse w${index}` }))
    await begun(first, documents)
    const [one, other] = await Promise.all([claimed(first, 'w1', { limit: 5 }), claimed(second, 'w2', { limit: 5 })])
    const all = [...one, ...other, ...(await claimed(second, 'w2'))].map(({ key }) => key)
    assert.deepEqual(
      all.toSorted(),
      documents.map(({ key }) => key),
    )
    for (const held of one) {
      const written = documents.find(({ key }) => key === held.key) ?? assert.fail()
      assert.ok(await stored(second, { ...held }, written))
      assert.equal(await stored(first, held, written), false)
    }
    const keys = one.map(({ key }) => `${key}/0`).toSorted()
    assert.deepEqual((await found(second, 'horse')).toSorted(), keys)
    assert.deepEqual(await found(first, 'horse'), await found(second, 'horse'))
    await second.knowledge.deleteKnowledge(database, base)
    assert.deepEqual(await found(first, 'horse'), [])
  })
}
