/** Conformance of stores: blocks of agents' memory are written one after another, and within their limits. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import {
  anna,
  everybody,
  limited,
  modelIn,
  revisionsOf,
  textsOf,
  tried,
  within,
  wordOf,
  writing,
  written,
} from './store-block-fixtures.ts'
import { checkBlockCounts, checkBlockEnds, checkSharedBlockEnds } from './store-block-ends.ts'
import { checkBlockLists } from './store-block-lists.ts'
import { type Check, type CheckTwo, conversation, database, past, start } from './store-fixtures.ts'

/** Registers the tests of blocks. */
export function checkBlocks(check: Check): void {
  checkWrites(check)
  checkRepeats(check)
  checkLimits(check)
  checkWriters(check)
  checkBlockLists(check)
  checkBlockEnds(check)
  checkBlockCounts(check)
}

/** Texts that a careless store cuts, or cannot keep. */
const oddTexts = [
  'a \u0000 b',
  '\u0000',
  '\u2028\u2029',
  'Ås ☔ 日本 👩‍👩‍👧 \u{10ffff}',
  `' ; -- ?1 $1 \\ "`,
  '\u001b0',
  ' \n\r\t ',
]

function checkWrites(check: Check): void {
  check('a block is written if it has the expected revision, and comes back as it was [F02]', async (store) => {
    const write = writing('city', { text: 'Ålesund', kind: 'archival' })
    const first = await store.writeBlock(database, write)
    const { owner, key, text, id, at, by } = write
    const row = { ...owner, key, text, id, kind: 'archival', revision: 1, createdAt: at, updatedAt: at, writtenBy: by }
    assert.deepEqual(first, { ok: true, revision: 1, block: row })
    assert.deepEqual(await store.getBlock(database, id), row)
    const other = { id: 'user:bob', agent: 'mate', conversationId: null, runId: 'r2' }
    const next = { text: 'Oslo', expected: 1, by: other }
    const again = writing('city', next)
    const changed = { ...row, text: 'Oslo', revision: 2, updatedAt: again.at, writtenBy: other }
    assert.deepEqual(await store.writeBlock(database, again), { ok: true, revision: 2, block: changed })
    assert.deepEqual(await store.readBlocks(database, [anna]), [changed])
    for (const expected of [null, 1, 3]) {
      const refused = { ok: false, reason: 'conflict', block: changed }
      assert.deepEqual(await store.writeBlock(database, writing('city', { expected })), refused)
    }
    assert.deepEqual(await store.writeBlock(database, writing('none', { expected: 1 })), {
      ...{ ok: false, reason: 'conflict', block: null },
    })
    assert.equal((await written(store, writing('city', { expected: 2, kind: 'core' }))).kind, 'core')
  })

  check('a deleted block is gone with its texts, and its key goes on counting', async (store) => {
    const { id } = await written(store, writing('city'))
    assert.equal(await tried(store, writing('city', { text: '', expected: null })), 'conflict')
    assert.equal(await tried(store, writing('city', { text: '', expected: 1 })), 'gone 2')
    assert.deepEqual([await store.getBlock(database, id), await revisionsOf(store, id)], [null, []])
    assert.deepEqual(await textsOf(store), {})
    assert.equal(await tried(store, writing('city', { text: '', expected: null })), 'gone 2')
    assert.equal(await tried(store, writing('city', { text: '', expected: 2 })), 'conflict')
    const next = await written(store, writing('city', { text: 'Oslo' }))
    assert.deepEqual([next.revision, next.kind, await revisionsOf(store, next.id)], [3, 'core', [[3, 'Oslo']]])
    assert.equal(await store.deleteBlock(database, id), false)
    assert.equal(await store.deleteBlock(database, next.id), true)
    assert.equal(await store.deleteBlock(database, next.id), false)
    assert.equal((await written(store, writing('city'))).revision, 5)
    assert.equal(await tried(store, writing('never', { text: '' })), 'gone 0')
  })

  checkOddities(check)
}

function checkOddities(check: Check): void {
  check('texts come back as they were, odd and long ones too, and are measured as they are', async (store) => {
    const texts = [...oddTexts, 'x'.repeat(40_000), '\u0000'.repeat(20_000), '☔'.repeat(40_000)]
    for (const [index, text] of texts.entries()) {
      const owner = { ...anna, subject: `user:${index}` }
      const limits = limited({ coreCharacters: text.length })
      const { id } = await written(store, writing('k', { owner, text, limits }))
      assert.equal((await store.getBlock(database, id))?.text, text)
      assert.deepEqual(await textsOf(store, owner), { k: text })
      assert.deepEqual(await revisionsOf(store, id), [[1, text]])
      const more = writing('l', { owner, text: 'y', limits })
      assert.equal(await tried(store, more), 'full of core characters', JSON.stringify(text.slice(0, 9)))
    }
  })

  check('owners are apart, also those with odd names, and databases', async (store) => {
    const names = ['user:anna', 'user:ann', '@a@b.test', '\u0000', 'Ås', `"]`, ' ']
    const owners = [
      everybody,
      ...names.flatMap((subject) => [
        { ...anna, subject },
        { ...anna, subject, agent: 'mate' },
      ]),
    ]
    for (const [index, owner] of owners.entries()) await written(store, writing('k', { owner, text: `${index}` }))
    const rows = await store.readBlocks(database, owners.toReversed())
    assert.deepEqual(
      rows.map(({ text }) => Number(text)),
      owners.map((_, index) => index).toReversed(),
    )
    assert.deepEqual(await store.readBlocks('other', owners), [])
    assert.deepEqual(await store.readBlocks(database, []), [])
    const { id } = await written(store, writing('k', { text: 'there', id: 'mem_same' }), 'other')
    await written(store, writing('l', { text: 'here', id }))
    assert.deepEqual(
      [await textsOf(store, anna, 'other'), (await store.getBlock(database, id))?.text],
      [{ k: 'there' }, 'here'],
    )
    assert.equal(await store.deleteBlock('third', id), false)
    assert.equal(await store.eraseBlocks('third', { subject: 'user:anna', agent: null }), 0)
    await store.deleteBlock('other', id)
    assert.equal((await store.getBlock(database, id))?.text, 'here')
  })
}

function checkRepeats(check: Check): void {
  check('a repeat by the same call gives the first result, and writes nothing', async (store) => {
    const first = writing('city', { text: 'Oslo', call: 'c1', kind: 'archival' })
    const result = await store.writeBlock(database, first)
    const again = () => store.writeBlock(database, { ...first, id: 'mem_again', at: 9_999 })
    assert.deepEqual(await again(), result)
    const second = writing('city', { text: 'Bergen', kind: 'core', expected: 1, call: 'c2' })
    const later = await store.writeBlock(database, second)
    assert.deepEqual([await again(), await store.writeBlock(database, second)], [result, later])
    assert.deepEqual(await textsOf(store), { city: 'Bergen' })
    const gone = writing('city', { text: '', expected: 2, call: 'c3' })
    assert.equal(await tried(store, gone), 'gone 3')
    const repeats = async () => [wordOf(await again()), await tried(store, second), await tried(store, gone)]
    assert.deepEqual(await repeats(), ['gone 1', 'gone 2', 'gone 3'])
    assert.deepEqual(await textsOf(store), {})
    const { id } = await written(store, writing('city', { text: 'Moss', call: 'c4' }))
    assert.deepEqual(await repeats(), ['gone 1', 'gone 2', 'gone 3'], 'after it was written again')
    await store.deleteBlock(database, id)
    assert.deepEqual(
      [...(await repeats()), await tried(store, writing('city', { call: 'c4' }))],
      [...['gone 1', 'gone 2', 'gone 3', 'gone 4']],
    )
    assert.deepEqual(await textsOf(store), {})
  })

  check('a call is remembered with its key, and a refused one may write later', async (store) => {
    await written(store, writing('city', { call: 'c1' }))
    assert.equal(await tried(store, writing('land', { call: 'c1' })), 'written 1')
    assert.equal(await tried(store, writing('city', { call: 'c1', owner: everybody })), 'written 1')
    const early = writing('city', { expected: 2, call: 'c2' })
    assert.equal(await tried(store, early), 'conflict')
    await written(store, writing('city', { expected: 1 }))
    assert.equal(await tried(store, early), 'written 3')
  })
}

function checkLimits(check: Check): void {
  check('an owner has no more than its limits of each kind', async (store) => {
    const limits = limited({ coreCharacters: 10, coreBlocks: 3, archivalCharacters: 5 })
    const put = (key: string, text: string, over = {}) => tried(store, writing(key, { text, limits, ...over }))
    assert.equal(await put('a', '1234'), 'written 1')
    assert.equal(await put('b', '1234567'), 'full of core characters')
    assert.equal(await put('b', '123456'), 'written 1')
    assert.equal(await put('a', '12345', { expected: 1 }), 'full of core characters')
    assert.equal(await put('a', '4321', { expected: 1 }), 'written 2')
    assert.equal(await put('c', '12345', { kind: 'archival' }), 'written 1')
    assert.equal(await put('a', '1', { kind: 'archival', expected: 2 }), 'full of archival characters')
    assert.equal(await put('a', '1', { expected: 2 }), 'written 3')
    assert.equal(await put('d', '1'), 'written 1')
    assert.equal(await put('e', '1'), 'full of core blocks')
    assert.equal(await put('c', '1', { kind: 'core', expected: 1 }), 'full of core blocks')
    assert.equal(await put('d', '', { expected: 1 }), 'gone 2')
    assert.equal(await put('c', '123', { kind: 'core', expected: 1 }), 'written 2')
    assert.equal(await put('e', '12345', { kind: 'archival' }), 'written 1', 'the other kind has room again')
    assert.equal(await put('a', '1234567', { owner: everybody }), 'written 1', 'another owner has its own')
    const full = await store.writeBlock(database, writing('f', { text: '1', limits }))
    assert.deepEqual(full, {
      ...{ ok: false, reason: 'full' },
      full: {
        ...{ what: 'characters', kind: 'core', used: 10, allowed: 10 },
        largest: [
          { key: 'b', characters: 6 },
          { key: 'c', characters: 3 },
          { key: 'a', characters: 1 },
        ],
      },
    })
  })

  check('what makes a kind no larger is never too much, although limits were lowered', async (store) => {
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await written(store, writing(key, { text: '12345' }))
    const limits = limited({ coreCharacters: 8, coreBlocks: 2, archivalCharacters: 0 })
    const put = (key: string, text: string, over = {}) => tried(store, writing(key, { text, limits, ...over }))
    assert.equal(await put('a', '123456', { expected: 1 }), 'full of core characters')
    assert.equal(await put('a', '54321', { expected: 1 }), 'written 2')
    assert.equal(await put('a', '1', { expected: 2 }), 'written 3')
    assert.equal(await put('b', '1', { expected: 1, kind: 'archival' }), 'full of archival characters')
    assert.equal(await put('b', '', { expected: 1 }), 'gone 2')
    assert.equal(await put('b', '1'), 'full of core characters')
    const result = await store.writeBlock(database, writing('g', { text: '123', limits }))
    const five = ['c', 'd', 'e', 'f'].map((key) => ({ key, characters: 5 }))
    assert.deepEqual(!result.ok && result.reason === 'full' && result.full.largest, [
      ...five,
      { key: 'a', characters: 1 },
    ])
  })
}

function checkWriters(check: Check): void {
  check('of ten writers at once one succeeds, and no write is lost', async (store) => {
    await raceForOne(store, store)
    await raceForAll(store, store)
  })

  check('the limits hold with writers of different keys at once', async (store) => raceForRoom(store, store))

  check('a write of a conversation that is deleted or expired does nothing', async (store) => {
    await start(store, 'chats/over', { expiresAt: past })
    for (const id of ['chats/none', 'chats/over'])
      for (const over of [{ owner: within(id) }, { by: modelIn(id) }, { owner: within(id), expected: 4, text: '' }])
        assert.equal(await tried(store, writing('k', over)), 'gone')
    await start(store, 'chats/1')
    assert.equal(await tried(store, writing('k', { owner: within('chats/1'), by: modelIn('chats/none') })), 'gone')
    assert.equal(await tried(store, writing('k', { owner: within('chats/1'), by: modelIn('chats/1') })), 'written 1')
    assert.deepEqual([await textsOf(store), await textsOf(store, within('chats/none'))], [{}, {}])
    assert.deepEqual(
      await store.listBlocks('other', { limit: 9, after: null, agent: null, subject: null, scope: null, kind: null }),
      [],
    )
    const there = conversation('chats/1', { database: 'other' })
    await store.append({ database: 'other', conversation: 'chats/1', create: there, entries: [] })
    assert.deepEqual(await textsOf(store, within('chats/1'), 'other'), {})
  })
}

const rounds = Array.from({ length: 5 }, (_, index) => index)
const ten = Array.from({ length: 10 }, (_, index) => index)

/** New blocks of one key, then changes and deletions of one revision, all at once. */
async function raceForOne(first: Store, second: Store): Promise<void> {
  const storeOf = (index: number) => (index % 2 === 0 ? first : second)
  let expected: number | null = null
  for (const round of rounds) {
    const isLast = round === rounds.length - 1
    const writes = ten.map((index) => {
      const text = isLast && index > 4 ? '' : `${round} ${index}`
      return storeOf(index).writeBlock(database, writing('one', { text, expected, call: `${round} ${index}` }))
    })
    const results = await Promise.all(writes)
    const [made, ...others] = results.filter(({ ok }) => ok)
    assert.ok(made?.ok && others.length === 0, JSON.stringify(results))
    assert.equal(made.revision, round + 1)
    const now = await textsOf(second)
    assert.deepEqual(now, made.block === null ? {} : { one: made.block.text })
    for (const result of results) if (!result.ok) assert.equal(result.reason, 'conflict')
    expected = made.revision
  }
}

/** Each writer tries until it succeeds, as a model does: all that they add is there. */
async function raceForAll(first: Store, second: Store): Promise<void> {
  await Promise.all(
    ten.map(async (index) => {
      const store = index % 2 === 0 ? first : second
      for (let [text, expected]: [string, number | null] = ['', null]; ; ) {
        const result = await store.writeBlock(database, writing('all', { text: `${text}${index}`, expected }))
        if (result.ok) return
        assert.ok(result.reason === 'conflict' && result.block !== null)
        ;({ text, revision: expected } = result.block)
      }
    }),
  )
  const [row] = (await first.readBlocks(database, [anna])).filter(({ key }) => key === 'all')
  assert.deepEqual([[...(row?.text ?? '')].sort().join(''), row?.revision], ['0123456789', 10])
  assert.equal((await revisionsOf(second, row?.id ?? '')).length, 10)
}

async function raceForRoom(first: Store, second: Store): Promise<void> {
  for (const round of rounds) {
    const owner = { ...anna, subject: `user:${round}` }
    const limits = round % 2 === 0 ? limited({ coreCharacters: 35 }) : limited({ coreBlocks: 3 })
    const writes = ten.map((index) =>
      tried(index % 2 === 0 ? first : second, writing(`k${index}`, { owner, text: '1234567890', limits })),
    )
    const words = (await Promise.all(writes)).sort()
    assert.deepEqual(words.slice(7), ['written 1', 'written 1', 'written 1'])
    assert.equal(new Set(words.slice(0, 7)).size, 1, words.join())
    assert.equal((await second.readBlocks(database, [owner])).length, 3)
  }
}

/** Registers the tests of two stores on the same data. */
export function checkSharedBlocks(check: CheckTwo): void {
  check('of ten writers through two stores one succeeds, and no write is lost', async (first, second) => {
    await raceForOne(first, second)
    await raceForAll(first, second)
  })
  check('the limits hold with writers through two stores', raceForRoom)
  check('a repeat through another store gives the first result', async (first, second) => {
    for (const round of rounds) {
      const write = writing(`k${round}`, { call: `c${round}` })
      const [one, other] = await Promise.all([first.writeBlock(database, write), second.writeBlock(database, write)])
      assert.deepEqual(one, other)
      assert.ok(one.ok && one.revision === 1)
    }
  })
  checkSharedBlockEnds(check)
}
