/** Conformance of stores: lists of blocks, of their revisions and of the conversations that used them. */
import assert from 'node:assert/strict'
import { isWitanError } from '@witan/protocol'
import {
  allBlocks,
  anna,
  everybody,
  keysOf,
  modelIn,
  revisionsOf,
  textsOf,
  tried,
  usedIn,
  within,
  writing,
  written,
} from './store-block-fixtures.ts'
import { type Check, database, past, start } from './store-fixtures.ts'

const isCursorError = (error: unknown) => isWitanError(error) && error.code === 'BODY_INVALID'

/** Registers the tests of lists. */
export function checkBlockLists(check: Check): void {
  check('blocks are read by owner, then by key', async (store) => {
    const bob = { ...anna, subject: 'user:bob' }
    for (const key of ['b', 'a-b', 'a', '10', '9', 'ab']) await written(store, writing(key))
    await written(store, writing('z', { owner: bob, kind: 'archival' }))
    const rows = await store.readBlocks(database, [bob, everybody, anna])
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['z', '10', '9', 'a', 'a-b', 'ab', 'b'],
    )
    assert.deepEqual(rows[0], await store.getBlock(database, rows[0]?.id ?? ''))
  })

  check('lists have the latest made first, by any filter, in pages', async (store) => {
    const bob = { ...anna, subject: 'user:bob' }
    const mate = { ...anna, agent: 'mate' }
    await start(store, 'chats/1')
    const made = [
      ...[writing('a'), writing('b', { owner: bob }), writing('c', { owner: mate, kind: 'archival' })],
      ...[writing('d', { owner: everybody }), writing('e', { owner: within('chats/1') }), writing('f')],
    ]
    for (const write of made) await written(store, write)
    await written(store, writing('a', { expected: 1 }))
    assert.deepEqual(await keysOf(store), ['f', 'e', 'd', 'c', 'b', 'a'])
    assert.deepEqual(await keysOf(store, { subject: 'user:anna' }), ['f', 'e', 'c', 'a'])
    assert.deepEqual(await keysOf(store, { agent: 'clerk' }), ['f', 'e', 'd', 'b', 'a'])
    assert.deepEqual(await keysOf(store, { scope: 'agent' }), ['d'])
    assert.deepEqual(await keysOf(store, { kind: 'archival' }), ['c'])
    assert.deepEqual(await keysOf(store, { conversation: 'chats/1' }), ['e'])
    const both = { conversation: 'chats/1', subject: 'user:anna', agent: 'clerk', kind: 'core' } as const
    assert.deepEqual(await keysOf(store, both), ['e'])
    assert.deepEqual(await keysOf(store, { ...both, subject: 'user:bob' }), [])
    for (const conversation of ['chats/2', '']) assert.deepEqual(await keysOf(store, { conversation }), [])
    assert.deepEqual(await keysOf(store, { subject: 'user:anna', agent: 'clerk', scope: 'person', kind: 'core' }), [
      'f',
      'a',
    ])
    for (const nobody of ['user:carl', '', 'agent', 'null'])
      assert.deepEqual(await keysOf(store, { subject: nobody }), [])
    assert.deepEqual(await keysOf(store, {}, 'other'), [])
    const idOf = (key: string) => made.find((one) => one.key === key)?.id ?? assert.fail()
    assert.deepEqual(await keysOf(store, { limit: 2, after: idOf('e') }), ['d', 'c'])
    assert.deepEqual(await keysOf(store, { limit: 2, after: idOf('e'), subject: 'user:anna' }), ['c', 'a'])
    assert.deepEqual(await keysOf(store, { after: idOf('a') }), [])
    await store.deleteBlock(database, idOf('a'))
    await written(store, writing('a'))
    assert.deepEqual(await keysOf(store), ['a', 'f', 'e', 'd', 'c', 'b'], 'one that is made again is the latest')
    for (const after of [idOf('a'), 'mem_none', '', '\u0000'])
      for (const subject of [null, 'user:anna']) await assert.rejects(keysOf(store, { after, subject }), isCursorError)
    await assert.rejects(keysOf(store, { after: idOf('f') }, 'other'), isCursorError)
  })

  checkBlockPages(check)
  checkUses(check)
}

function checkBlockPages(check: Check): void {
  check('a page ends at its bound', async (store) => {
    const text = 'x'.repeat(10_000)
    for (const key of ['a', 'b', 'c']) await written(store, writing(key, { text }))
    const { id } = await written(store, writing('d', { text }))
    for (const expected of [1, 2, 3]) await written(store, writing('d', { text, expected }))
    for (const [characters, count] of [
      [1, 1],
      [12_000, 2],
      [22_000, 3],
      [99_000, 4],
    ] as const) {
      let cuts = 0
      const bound = { characters, cut: () => (cuts += 1) }
      assert.equal((await keysOf(store, { bound })).length, count)
      assert.equal((await keysOf(store, { bound, subject: 'user:anna' })).length, count)
      assert.equal((await revisionsOf(store, id, { bound })).length, count)
      assert.equal(cuts, count === 4 ? 0 : 3)
    }
  })

  check('the texts of a block are listed with who wrote them, the latest first', async (store) => {
    const write = writing('k', { text: 'one', by: { ...modelIn('x'), conversationId: null } })
    const { id } = await written(store, write)
    const times = [write.at]
    for (const [index, text] of ['two', 'three', 'four'].entries()) {
      const next = writing('k', { text, expected: index + 1 })
      times.unshift(next.at)
      await written(store, next)
    }
    assert.deepEqual(await revisionsOf(store, id), [
      [4, 'four'],
      [3, 'three'],
      [2, 'two'],
      [1, 'one'],
    ])
    const rows = await store.listBlockRevisions(database, id, { limit: 9, after: null })
    assert.deepEqual(
      rows.map(({ at }) => at),
      times,
    )
    assert.deepEqual(rows[3], { revision: 1, text: 'one', at: write.at, writtenBy: write.by })
    assert.deepEqual(await revisionsOf(store, id, { limit: 2, after: '4' }), [
      [3, 'three'],
      [2, 'two'],
    ])
    assert.deepEqual(await revisionsOf(store, id, { after: '1' }), [])
    assert.deepEqual(await revisionsOf(store, 'mem_none'), [])
    for (const after of ['5', '0', '-1', 'x', '', '1.0', '1e0', ' 1', '01', '9'.repeat(30), '\u0000'])
      await assert.rejects(revisionsOf(store, id, { after }), isCursorError, after)
    assert.deepEqual(await store.listBlockRevisions('other', id, { limit: 9, after: null }), [])
  })
}

function checkUses(check: Check): void {
  check('the conversations that read or wrote something about somebody are listed by id', async (store) => {
    for (const id of ['chats/3', 'chats/1', 'chats/2', 'chats/4']) await start(store, id)
    await start(store, 'chats/over', { expiresAt: past })
    for (const conversation of ['chats/2', 'chats/none', 'chats/2', 'chats/over'])
      await store.noteBlockUse(database, { agent: 'clerk', subject: 'user:anna', conversation })
    await store.noteBlockUse(database, { agent: 'mate', subject: 'user:anna', conversation: 'chats/3' })
    await store.noteBlockUse(database, { agent: 'clerk', subject: 'user:bob', conversation: 'chats/3' })
    await store.noteBlockUse('other', { agent: 'clerk', subject: 'user:anna', conversation: 'chats/2' })
    assert.deepEqual(await usedIn(store), ['chats/2', 'chats/3'])
    await written(store, writing('k', { by: modelIn('chats/1') }))
    assert.equal(await tried(store, writing('k', { by: modelIn('chats/4') })), 'conflict')
    await written(store, writing('k', { owner: everybody, by: modelIn('chats/2') }))
    assert.deepEqual(await usedIn(store), ['chats/1', 'chats/2', 'chats/3', 'chats/4'], 'a conflict has a text')
    assert.deepEqual(await usedIn(store, { agent: 'mate' }), ['chats/3'])
    assert.deepEqual(await usedIn(store, { limit: 2, after: 'chats/1' }), ['chats/2', 'chats/3'])
    assert.deepEqual(await usedIn(store, { after: 'chats/11' }), ['chats/2', 'chats/3', 'chats/4'])
    for (const subject of ['user:carl', '']) assert.deepEqual(await usedIn(store, { subject }), [])
    assert.deepEqual(await store.listBlockUses('other', { ...allBlocks, subject: 'user:anna', agent: null }), [])
    await store.eraseBlocks(database, { subject: 'user:anna', agent: null })
    assert.deepEqual(await usedIn(store), ['chats/1', 'chats/2', 'chats/3', 'chats/4'], 'also after an erasure')
    await store.deleteConversation(database, 'chats/2')
    assert.deepEqual(await usedIn(store), ['chats/1', 'chats/3', 'chats/4'])
    await start(store, 'chats/2')
    assert.deepEqual(
      await usedIn(store),
      ['chats/1', 'chats/3', 'chats/4'],
      'a conversation of that id has used nothing',
    )
    assert.deepEqual(await textsOf(store), {})
  })
}
