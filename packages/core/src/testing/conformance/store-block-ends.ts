/** Conformance of stores: blocks are erased, end with their conversation, are copied with it and arrive from elsewhere. */
import assert from 'node:assert/strict'
import { keptRevisions } from '../../memory/records.ts'
import type { Store } from '../../store/store.ts'
import {
  anna,
  blockOf,
  everybody,
  keysOf,
  modelIn,
  remembered,
  revisionsOf,
  textsOf,
  tried,
  usedIn,
  within,
  writing,
  written,
} from './store-block-fixtures.ts'
import { type Check, type CheckTwo, conversation, database, entry, past, start } from './store-fixtures.ts'

/** Registers the tests of ends and arrivals. */
export function checkBlockEnds(check: Check): void {
  check('nothing is left of erased blocks, and no others are erased', async (store) => {
    const [bob, mate] = [
      { ...anna, subject: 'user:bob' },
      { ...anna, agent: 'mate' },
    ]
    await start(store, 'chats/1')
    const owners = [anna, mate, bob, everybody, within('chats/1')]
    for (const owner of owners) await written(store, writing('k', { owner, call: 'c1' }))
    const { id } = await written(store, writing('k', { expected: 1, text: 'two' }))
    await written(store, writing('l'))
    await tried(store, writing('l', { text: '', expected: 1 }))
    for (const subject of ['', 'user:', 'agent'])
      assert.equal(await store.eraseBlocks(database, { subject, agent: null }), 0)
    assert.equal(await store.eraseBlocks(database, { subject: 'user:anna', agent: 'nobody' }), 0)
    assert.equal(await store.eraseBlocks(database, { subject: 'user:anna', agent: 'clerk' }), 2)
    assert.deepEqual([await store.getBlock(database, id), await revisionsOf(store, id)], [null, []])
    const left = async () => (await Promise.all(owners.map((owner) => textsOf(store, owner)))).map(({ k }) => k ?? '')
    assert.deepEqual(await left(), ['', 'text of k', 'text of k', 'text of k', ''])
    assert.equal((await written(store, writing('k', { call: 'c1' }))).revision, 3, 'its call is not known any more')
    assert.equal((await written(store, writing('new'))).revision, 3, 'which keys there were is not known')
    assert.equal(await store.eraseBlocks(database, { subject: 'user:anna', agent: null }), 3)
    assert.deepEqual(await left(), ['', '', 'text of k', 'text of k', ''])
    assert.equal(await store.eraseBlocks(database, { subject: 'user:anna', agent: null }), 0)
  })

  check('many blocks with many revisions are erased, and deleted with their conversation', async (store) => {
    await start(store, 'chats/1')
    const fill = async (owner: typeof anna) => {
      for (let block = 0; block < 12; block += 1)
        for (let revision = 0; revision < 11; revision += 1)
          await written(store, writing(`k${block}`, { owner, expected: revision || null, call: `c${revision}` }))
    }
    await Promise.all([fill(anna), fill(within('chats/1'))])
    const [row] = await store.readBlocks(database, [anna])
    assert.equal(await store.deleteBlock(database, row?.id ?? ''), true)
    assert.deepEqual(await revisionsOf(store, row?.id ?? ''), [])
    assert.equal(await store.deleteConversation(database, 'chats/1'), true)
    assert.equal((await keysOf(store)).length, 11)
    assert.equal(await store.eraseBlocks(database, { subject: 'user:anna', agent: null }), 11)
    assert.deepEqual(await keysOf(store), [])
  })

  check('blocks of a conversation end with it', async (store) => {
    const fill = async (id: string) =>
      (await written(store, writing('k', { owner: within(id), by: modelIn(id), call: 'c1' }))).id
    for (const id of ['chats/1', 'chats/2']) await start(store, id)
    const [first, second] = [await fill('chats/1'), await fill('chats/2')]
    await written(store, writing('k', { by: modelIn('chats/1') }))
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual([await store.getBlock(database, first), await revisionsOf(store, first)], [null, []])
    assert.deepEqual([await textsOf(store), await keysOf(store)], [{ k: 'text of k' }, ['k', 'k']])
    assert.deepEqual(await usedIn(store), ['chats/2'])
    await start(store, 'chats/1')
    assert.deepEqual(await textsOf(store, within('chats/1')), {})
    const again = writing('k', { owner: within('chats/1'), by: modelIn('chats/1'), call: 'c1', id: first })
    assert.equal((await written(store, again)).revision, 1, 'a conversation of that id begins with nothing')
    assert.equal((await store.getBlock(database, second))?.conversation, 'chats/2')
  })

  check('blocks of a conversation that expired end with its sweep, or with the next of its id', async (store) => {
    for (const id of ['chats/1', 'chats/2']) {
      await start(store, id)
      await written(store, writing('k', { owner: within(id), by: modelIn(id) }))
      const snapshot = (await store.readSnapshot(database, id)) ?? assert.fail()
      await store.deleteConversation(database, id)
      const expired = { ...snapshot, row: { ...snapshot.row, expiresAt: past } }
      assert.ok(await store.putSnapshot(database, expired))
    }
    assert.equal(await tried(store, writing('k', { owner: within('chats/1') })), 'gone')
    await start(store, 'chats/2')
    await store.sweepConversations(10)
    assert.deepEqual([await keysOf(store), await usedIn(store)], [[], []])
    await start(store, 'chats/1')
    assert.equal((await written(store, writing('k', { owner: within('chats/1') }))).revision, 1)
  })

  checkCopies(check)
  checkArrivals(check)
}

/** Registers the test that revisions go on counting behind what was erased. */
export function checkBlockCounts(check: Check): void {
  check('no revision is given twice, whatever was erased', async (store) => {
    await start(store, 'chats/1')
    const [bob, mate, own] = [{ ...anna, subject: 'user:bob' }, { ...anna, agent: 'mate' }, within('chats/1')]
    const owners = [anna, bob, mate, own]
    const erase = (agent: string | null = null) => store.eraseBlocks(database, { subject: 'user:anna', agent })
    const fill = async (owner: typeof anna, key: string, upTo: number) => {
      for (let expected = 0; expected < upTo; expected += 1)
        await written(store, writing(key, { owner, expected: expected || null }))
    }
    for (const [owner, upTo] of [
      [anna, 5],
      [bob, 3],
      [mate, 2],
      [own, 4],
    ] as const)
      await fill(owner, 'k', upTo)
    await fill(anna, 'l', 7)
    await tried(store, writing('l', { text: '', expected: 7 }))
    await erase('clerk')
    const next = async (key: string) =>
      Promise.all(owners.map((owner) => tried(store, writing(key, { owner, text: '' }))))
    assert.deepEqual(await next('none'), ['gone 8', 'gone 0', 'gone 0', 'gone 4'])
    for (const expected of [1, 5, 7, 8]) assert.equal(await tried(store, writing('k', { expected })), 'conflict')
    assert.equal(await tried(store, writing('k')), 'written 9')
    assert.equal(await tried(store, writing('l')), 'written 9')
    assert.equal(await tried(store, writing('k', { owner: own })), 'written 5')
    assert.equal(await tried(store, writing('x', { owner: mate })), 'written 1', 'another agent counts for itself')
    for (let twice = 0; twice < 2; twice += 1) await erase()
    assert.deepEqual(await next('none'), ['gone 9', 'gone 0', 'gone 2', 'gone 5'])
    const block = blockOf('came', { revision: 3 })
    const revisions = [{ revision: 3, text: block.text, at: 1, writtenBy: block.writtenBy }]
    assert.ok(await store.putBlock(database, block, revisions))
    assert.equal((await written(store, writing('came', { expected: 3 }))).revision, 10)
    await store.deleteConversation(database, 'chats/1')
    await start(store, 'chats/1')
    assert.equal(
      await tried(store, writing('k', { owner: own })),
      'written 1',
      'a conversation of that id is another one',
    )
  })
}

function checkKept(check: Check): void {
  check('the latest thousand revisions of a block are kept', async (store) => {
    const block = blockOf('k', { revision: keptRevisions })
    const { text, writtenBy } = block
    const revisions = Array.from({ length: keptRevisions }, (_, at) => ({ revision: at + 1, text, at, writtenBy }))
    assert.equal(await store.putBlock(database, block, revisions), true)
    for (const by of [0, 1, 2]) await written(store, writing('k', { expected: keptRevisions + by, call: `c${by}` }))
    const page = { limit: 10, after: '10' }
    const firsts = await store.listBlockRevisions(database, block.id, page)
    assert.deepEqual(
      firsts.map(({ revision }) => revision),
      [9, 8, 7, 6, 5, 4],
    )
    assert.equal(
      await tried(store, writing('k', { expected: keptRevisions + 2, call: 'c2' })),
      `written ${keptRevisions + 3}`,
    )
  })
}

function checkCopies(check: Check): void {
  checkKept(check)
  check('blocks and uses of a conversation are copied to another one', async (store) => {
    for (const id of ['chats/1', 'chats/fork']) await start(store, id)
    const own = within('chats/1')
    const mate = { ...own, agent: 'mate', subject: 'user:bob' }
    for (const [key, owner] of [
      ['b', own],
      ['a', mate],
      ['a', own],
      ['gone', own],
    ] as const)
      await written(store, writing(key, { owner, by: modelIn('chats/1'), call: 'c1', kind: 'archival' }))
    await written(store, writing('b', { owner: own, expected: 1, text: 'two' }))
    await tried(store, writing('gone', { owner: own, text: '', expected: 1 }))
    let copies = 0
    const copy = (to: string, from = 'chats/1') =>
      store.copyBlocks(database, from, to, () => {
        copies += 1
        return `copy_${copies}`
      })
    await copy('chats/none')
    await copy('chats/fork', 'chats/none')
    assert.deepEqual(await textsOf(store, within('chats/fork')), {})
    copies = 0
    await copy('chats/fork')
    const owners = [own, mate].map((owner) => ({ ...owner, conversation: 'chats/fork' }))
    const rows = await store.readBlocks(database, owners)
    assert.deepEqual(
      rows.map(({ id, key, text, revision }) => [id, key, text, revision]),
      [
        ['copy_1', 'a', 'text of a', 1],
        ['copy_2', 'b', 'two', 2],
        ['copy_3', 'a', 'text of a', 1],
      ],
    )
    const [, , first] = await store.readBlocks(database, [own, mate])
    assert.deepEqual(rows[2], { ...first, id: 'copy_3', conversation: 'chats/fork' })
    assert.deepEqual(await revisionsOf(store, 'copy_2'), [
      [2, 'two'],
      [1, 'text of b'],
    ])
    assert.deepEqual(await usedIn(store), ['chats/1', 'chats/fork'])
    await copy('chats/fork')
    assert.equal((await keysOf(store)).length, 6, 'one that has blocks gets no others')
    await written(store, writing('b', { owner: owners[0] ?? own, expected: 2, text: 'three', call: 'c1' }))
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await textsOf(store, owners[0]), { a: 'text of a', b: 'three' })
    assert.deepEqual(await usedIn(store), ['chats/fork'])
  })
}

function checkArrivals(check: Check): void {
  check('a block arrives with its revisions, once, and is written on', async (store) => {
    await start(store, 'chats/1')
    for (const owner of [anna, everybody, within('chats/1')]) {
      const { id } = await written(store, writing('k', { owner }))
      const row = await written(store, writing('k', { owner, expected: 1, text: 'two', kind: 'archival' }))
      const revisions = (await store.listBlockRevisions(database, id, { limit: 9, after: null })).toReversed()
      assert.equal(await store.putBlock(database, row, revisions), false)
      assert.equal(await store.putBlock(database, { ...row, key: 'l' }, revisions), false, 'its id is taken')
      assert.equal(await store.putBlock(database, { ...row, id: 'mem_x' }, revisions), false, 'its key is taken')
      const isThere = (await store.getConversation('other', 'chats/1')) !== null
      assert.equal(await store.putBlock('other', row, revisions), owner.conversation === null || isThere)
      const create = conversation('chats/1', { database: 'other' })
      await store.append({ database: 'other', conversation: 'chats/1', create, entries: [] })
      await store.putBlock('other', row, revisions)
      assert.deepEqual(await store.getBlock('other', id), row)
      assert.deepEqual(await store.listBlockRevisions('other', id, { limit: 9, after: null }), revisions.toReversed())
      const next = await written(store, writing('k', { owner, expected: 2 }), 'other')
      assert.deepEqual([next.revision, next.kind], [3, 'archival'])
    }
  })

  check('a block arrives with more text than is written at once, whole', async (store) => {
    const text = (revision: number) => `${revision} ${'x'.repeat(90_000)}`
    const by = blockOf('k').writtenBy
    const revisions = Array.from({ length: 30 }, (_, index) => {
      return { revision: index + 1, text: text(index + 1), at: index, writtenBy: by }
    })
    const block = blockOf('k', { revision: 30, text: text(30), updatedAt: 29 })
    const twice = await Promise.all([0, 1].map(() => store.putBlock(database, block, revisions)))
    assert.deepEqual(twice.toSorted(), [false, true])
    assert.deepEqual(await store.getBlock(database, block.id), block)
    const read = await store.listBlockRevisions(database, block.id, { limit: 100, after: null })
    assert.deepEqual(read, revisions.toReversed())
  })

  check('a block that arrives where its key was deleted counts on behind both', async (store) => {
    const { id: _, ...row } = await written(store, writing('k', { call: 'c1' }))
    for (const expected of [1, 2]) await written(store, writing('k', { expected }))
    await tried(store, writing('k', { expected: 3, text: '' }))
    const revisions = [{ revision: 2, text: 'came', at: 1, writtenBy: row.writtenBy }]
    assert.ok(await store.putBlock(database, { ...row, id: 'mem_came', revision: 2, text: 'came' }, revisions))
    assert.equal(await tried(store, writing('k', { expected: 3 })), 'conflict')
    assert.deepEqual(
      (await store.readBlocks(database, [anna])).map(({ text, revision }) => [text, revision]),
      [['came', 2]],
    )
    const next = await written(store, writing('k', { expected: 2, text: 'next' }))
    assert.deepEqual([next.id, next.revision], ['mem_came', 5])
    assert.deepEqual(await revisionsOf(store, 'mem_came'), [
      [5, 'next'],
      [2, 'came'],
    ])
  })

  check('a database exists for its blocks', async (store) => {
    assert.deepEqual(await store.listDatabases(), [])
    await written(store, writing('k', { owner: everybody }), 'other')
    assert.deepEqual(await store.listDatabases(), ['other'])
  })

  check('the uses of a conversation arrive with its log', async (store) => {
    const create = conversation('chats/1')
    const entries = [
      entry('hello'),
      remembered('user:anna'),
      remembered('user:bob', 'mate'),
      remembered(null),
      remembered('user:anna'),
    ]
    await store.append({ database, conversation: 'chats/1', create, entries })
    const snapshot = (await store.readSnapshot(database, 'chats/1')) ?? assert.fail()
    assert.ok(await store.putSnapshot('other', snapshot))
    const usesOf = (subject: string, agent: string | null) =>
      store.listBlockUses('other', { limit: 9, after: null, subject, agent })
    assert.deepEqual(await usesOf('user:anna', null), ['chats/1'])
    assert.deepEqual([await usesOf('user:bob', 'mate'), await usesOf('user:bob', 'clerk')], [['chats/1'], []])
  })
}

/** Registers the tests of two stores on the same data. */
export function checkSharedBlockEnds(check: CheckTwo): void {
  check(
    'a block that one store erased or deleted is gone for the other, whoever writes meanwhile',
    async (first, second) => {
      for (let round = 0; round < 6; round += 1) {
        const { id } = await written(first, writing('k'))
        await written(first, writing('l'))
        const end = (store: Store) =>
          round % 2 === 0
            ? store.eraseBlocks(database, { subject: 'user:anna', agent: null })
            : store.deleteBlock(database, id)
        const [word] = await Promise.all([
          tried(second, writing('k', { expected: 1, text: 'two' })),
          ...[end(first), tried(second, writing(`m${round}`))],
        ])
        assert.ok(['written 2', 'conflict'].includes(word), word)
        assert.deepEqual([await second.getBlock(database, id), (await textsOf(second)).k], [null, undefined])
        await second.eraseBlocks(database, { subject: 'user:anna', agent: null })
        assert.deepEqual(await keysOf(first), [])
      }
    },
  )

  check('a conversation that is deleted while somebody writes leaves no block', async (first, second) => {
    for (let round = 0; round < 6; round += 1) {
      await start(first, 'chats/1')
      const writes = ['a', 'b', 'c', 'd'].map((key) =>
        tried(second, writing(key, { owner: within('chats/1'), by: modelIn('chats/1') })),
      )
      const [, ...words] = await Promise.all([first.deleteConversation(database, 'chats/1'), ...writes])
      for (const word of words) assert.ok(['written 1', 'gone'].includes(word), word)
      assert.deepEqual([await keysOf(second), await usedIn(second)], [[], []])
    }
  })
}
