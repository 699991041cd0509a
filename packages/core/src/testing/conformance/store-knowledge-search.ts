/** Conformance of stores: what a search of knowledge finds, in which order, and what its filter keeps out. */
import assert from 'node:assert/strict'
import { type Check, database } from './store-fixtures.ts'
import { expected, found, ingested, scopeOf, short, type Written } from './store-knowledge-fixtures.ts'

const base = 'handbook'

/** Registers the tests of searches. */
export function checkSearches(check: Check): void {
  checkRanking(check)
  checkMany(check)
  checkWall(check)
  checkNearness(check)
}

const vocabulary = [
  'horse',
  'horses',
  'cart',
  'running',
  'runs',
  'wheel',
  'the',
  'naïve',
  'Café',
  'cafe',
  '日本語',
  'x9',
  'of',
]

/** Numbers from 0 to 1; the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

function randomDocuments(random: () => number, count: number): Written[] {
  const upTo = (most: number) => Math.floor(random() * most)
  const passage = () => Array.from({ length: 1 + upTo(12) }, () => vocabulary[upTo(vocabulary.length)]).join(' ')
  return Array.from({ length: count }, (_, index) => ({
    key: `${'aé\uffee\u{1f600}'.at(upTo(3)) ?? ''}${index}`,
    text: Array.from({ length: upTo(4) }, passage).join('\n\n'),
    attributes: {
      customer: `c${upTo(3)}`,
      ...(random() < 0.5 ? { tags: ['x', 'y', 'z'].slice(upTo(3)) } : {}),
      ...(random() < 0.5 ? { year: 2020 + upTo(2) } : {}),
    },
  }))
}

const queries = [
  'horse',
  'running horses',
  'cafe naive',
  '日本 x9 cart',
  'the of',
  'wheel wheel cart absent',
  'nothing',
]

function checkRanking(check: Check): void {
  for (const language of ['en', 'none'] as const)
    check(`random documents are ranked as the simple ranking does (${language})`, async (store) => {
      const random = numbers(language === 'en' ? 11 : 12)
      let documents = randomDocuments(random, 30)
      const at = { base, language }
      await ingested(store, documents, { at })
      for (let round = 0; round < 3; round += 1) {
        for (const query of queries) {
          const list = expected(documents, query, language)
          assert.deepEqual(await found(store, query, { language }), list, query)
          assert.deepEqual(await found(store, query, { language, limit: 3 }), list.slice(0, 3), query)
        }
        const [gone, ...kept] = documents
        await store.knowledge.deleteDocument(database, base, gone?.key ?? '')
        const fresh = randomDocuments(random, 6).map((one, index) => ({ ...one, key: kept[index * 3]?.key ?? one.key }))
        await ingested(store, fresh, { at })
        const replaced = new Set(fresh.map(({ key }) => key))
        documents = [...kept.filter(({ key }) => !replaced.has(key)), ...fresh]
      }
    })

  check('equal passages stand by the order of scopes, then by key, then by place', async (store) => {
    const same = [
      { key: '\u{1f600}', text: 'horse\n\nhorse' },
      { key: '\uffee', text: 'horse' },
    ]
    for (const one of ['handbook', 'other']) await ingested(store, same, { at: { base: one } })
    const places = async (limit: number, ...bases: string[]) => {
      const scopes = bases.map((one) => scopeOf(one))
      const list = await store.knowledge.rankByWords({ database, scopes, words: ['hors'], limit })
      return list.map((place) => `${place.base}:${short(place)}`)
    }
    const of = (one: string) => [`${one}:\uffee/0`, `${one}:\u{1f600}/0`, `${one}:\u{1f600}/1`]
    assert.deepEqual(await places(5, 'other', 'handbook'), [...of('other'), ...of('handbook')])
    const first = [...of('handbook').slice(0, 2), ...of('other').slice(0, 2)]
    assert.deepEqual(await places(2, 'handbook', 'other'), first)
  })

  check('no base keeps the best passages of another one out, by words or by nearness', async (store) => {
    const near = (at: number) => new Int8Array([100, at % 50, 0])
    const large = Array.from({ length: 300 }, (_, at) => ({
      ...{ key: `k${at}`, text: 'horse horse', vectors: [near(at)] },
    }))
    const long = `horse ${'and more '.repeat(50)}`
    const small = [
      { key: 'a', text: `${long}\n\n${long} again`, vectors: [new Int8Array([1, 100, 0]), new Int8Array([-9, 0, 0])] },
    ]
    await ingested(store, large)
    await ingested(store, small, { at: { base: 'small' } })
    const scopes = [scopeOf(base), scopeOf('small')]
    const search = { database, scopes, limit: 3 }
    const words = await store.knowledge.rankByWords({ ...search, words: ['hors'] })
    const vector = new Int8Array([100, 0, 0])
    const nearest = await store.knowledge.rankByNearness({ ...search, vector })
    for (const list of [words, nearest])
      assert.deepEqual(
        list.map((place) => place.base),
        [base, base, base, 'small', 'small'],
      )
    assert.deepEqual(words.slice(3).map(short), ['a/0', 'a/1'])
  })

  check('several bases are ranked by rarity and length among all that is seen', async (store) => {
    const random = numbers(5)
    const [one, other] = [randomDocuments(random, 12), randomDocuments(random, 12)]
    const named = other.map((document) => ({ ...document, key: `\u{10fffd}${document.key}` }))
    await ingested(store, one)
    await ingested(store, named, { at: { base: 'other' } })
    const scopes = [scopeOf(base), scopeOf('other')]
    for (const query of queries)
      assert.deepEqual(await found(store, query, { scopes }), expected([...one, ...named], query))
  })
}

/** More passages and words than a store keeps unpacked. */
function manyDocuments(random: () => number): Written[] {
  const passage = () => Array.from({ length: 60 }, () => `w${Math.floor(400 * random() ** 2)}`).join(' ')
  return Array.from({ length: 24 }, (_, index) => {
    const text = Array.from({ length: 50 }, passage).join('\n\n')
    return { key: `k${index}`, text, attributes: { customer: `c${index % 2}` } }
  })
}

function checkMany(check: Check): void {
  check('many passages are ranked as few are, while some are changed and deleted', async (store) => {
    const random = numbers(31)
    const all = manyDocuments(random)
    const at = { base, language: 'none' } as const
    await ingested(store, all, { at })
    const assertRanked = async (documents: readonly Written[]) => {
      for (const query of ['w1 w399', 'w0 w20 w250', 'w77']) {
        const options = { language: 'none', limit: 60 } as const
        assert.deepEqual(await found(store, query, options), expected(documents, query, 'none').slice(0, 60), query)
        const scopes = [scopeOf(base, { customer: 'c1' })]
        const seen = documents.filter((one) => isSeen(one, { customer: 'c1' }))
        assert.deepEqual(await found(store, query, { ...options, scopes }), expected(seen, query, 'none').slice(0, 60))
      }
    }
    await assertRanked(all)
    const changed = manyDocuments(random).slice(0, 6)
    await ingested(store, changed, { at })
    await assertRanked([...changed, ...all.slice(6)])
    for (const { key } of all.slice(6, 9)) await store.knowledge.deleteDocument(database, base, key)
    await assertRanked([...changed, ...all.slice(9)])
    await ingested(store, [{ key: 'last', text: 'w77', attributes: { customer: 'c1' } }], { at })
    await assertRanked([...changed, ...all.slice(9), { key: 'last', text: 'w77', attributes: { customer: 'c1' } }])
  })
}

/** Whether a filter of one value for each name sees a document. */
function isSeen({ attributes = {} }: Written, filter: Readonly<Record<string, string | number | boolean>>): boolean {
  return Object.entries(filter).every(([name, value]) => [attributes[name]].flat().includes(value as never))
}

const filters = [
  ...[
    { customer: 'c0' },
    { customer: 'c1', year: 2020 },
    { tags: 'z' },
    { tags: 'y', customer: 'c2' },
    { year: '2020' },
  ],
  ...[{ year: 2021 }, { absent: 'x' }, { customer: 'c9' }],
]

function checkWall(check: Check): void {
  check('what a filter does not see changes neither results nor order nor number', async (store) => {
    const random = numbers(21)
    const documents = randomDocuments(random, 40)
    await ingested(store, documents)
    for (const [index, filter] of filters.entries()) {
      const seen = documents.filter((one) => isSeen(one, filter))
      const alone = `alone-${index}`
      await ingested(store, seen, { at: { base: alone } })
      for (const query of queries) {
        const list = await found(store, query, { scopes: [scopeOf(base, filter)] })
        assert.deepEqual(list, expected(seen, query), `${JSON.stringify(filter)} ${query}`)
        assert.deepEqual(list, await found(store, query, { scopes: [scopeOf(alone)] }))
      }
    }
  })

  check('a filter may allow several values, and strings are not numbers', async (store) => {
    const documents = [1, '1', true, 'true', ['1', 'two']].map((value, index) => {
      return { key: `k${index}`, text: 'horse', attributes: { a: value as string } }
    })
    await ingested(store, documents)
    const by = (...values: (string | number | boolean)[]) =>
      found(store, 'horse', { scopes: [{ base, filter: [{ name: 'a', values }] }] })
    assert.deepEqual(await by(1), ['k0/0'])
    assert.deepEqual(await by('1'), ['k1/0', 'k4/0'])
    assert.deepEqual(await by(true, 'two'), ['k2/0', 'k4/0'])
    assert.deepEqual(await by(), [])
  })

  check('passages are read only by a scope that sees them', async (store) => {
    await ingested(store, [
      { key: 'a', text: 'one\n\ntwo', attributes: { customer: 'c0' } },
      { key: 'b', text: 'three', attributes: { customer: 'c1' } },
    ])
    const place = (document: string, at: number, of = base) => ({ base: of, document, place: at })
    const places = [place('b', 0), place('a', 1), place('a', 2), place('a', 0), place('c', 0), place('a', 0, 'other')]
    const read = async (...scopes: ReturnType<typeof scopeOf>[]) =>
      (await store.knowledge.readPassages(database, scopes, places)).map(short)
    assert.deepEqual(await read(scopeOf(base)), ['b/0', 'a/1', 'a/0'])
    assert.deepEqual(await read(scopeOf(base, { customer: 'c0' })), ['a/1', 'a/0'])
    assert.deepEqual(await read(scopeOf(base, { customer: 'c1' }), scopeOf(base, { customer: 'c0' })), [
      'b/0',
      'a/1',
      'a/0',
    ])
    assert.deepEqual([await read(scopeOf('other')), await read()], [[], []])
    assert.deepEqual(await store.knowledge.readPassages('elsewhere', [scopeOf(base)], places), [])
  })
}

function checkNearness(check: Check): void {
  check('the nearest passages stand first, behind the same wall', async (store) => {
    const vector = (...values: number[]) => new Int8Array(values)
    await ingested(store, [
      { key: 'far', text: 'x', vectors: [vector(-100, 3, 0)], attributes: { customer: 'c0' } },
      { key: 'near', text: 'x\n\ny', vectors: [vector(100, 2, 0), vector(127, 0, 0)], attributes: { customer: 'c0' } },
      { key: 'same', text: 'x', vectors: [vector(50, 1, 0)], attributes: { customer: 'c1' } },
      { key: 'zero', text: 'x', vectors: [vector(0, 0, 0)], attributes: { customer: 'c1' } },
      { key: 'short', text: 'x', vectors: [vector(1, 0)], attributes: { customer: 'c1' } },
      { key: 'none', text: 'x', attributes: { customer: 'c1' } },
    ])
    const near = async (limit = 9, filter = {}) => {
      const search = { database, scopes: [scopeOf(base, filter)], vector: vector(100, 2, 0), limit }
      return (await store.knowledge.rankByNearness(search)).map(short)
    }
    assert.deepEqual(await near(), ['near/0', 'same/0', 'near/1', 'zero/0', 'far/0'])
    assert.deepEqual(await near(2), ['near/0', 'same/0'])
    assert.deepEqual(await near(9, { customer: 'c0' }), ['near/0', 'near/1', 'far/0'])
    await ingested(store, [{ key: 'near', text: 'x', vectors: [vector(-1, 0, 0)] }])
    await store.knowledge.deleteDocument(database, base, 'zero')
    assert.deepEqual(await near(), ['same/0', 'far/0', 'near/0'])
  })
}
