/** Blocks of memory in an SQLite file: what is deleted stands nowhere in it, and no amount of it holds the process. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import {
  anna,
  blockOf,
  modelIn,
  textsOf,
  tried,
  within,
  writing,
  written,
} from '../../testing/conformance/store-block-fixtures.ts'
import { database, start } from '../../testing/conformance/store-fixtures.ts'
import { deletedKeyMs } from '../../memory/write.ts'
import type { Store } from '../store.ts'
import { memoryStore } from './memory.ts'
import { sqliteStore } from './sqlite.ts'

async function opened(context: TestContext, now = Date.now) {
  const folder = mkdtempSync(join(tmpdir(), 'witan-blocks-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'store.db')
  const store = sqliteStore({ file, synchronous: 'normal', now })
  await store.open()
  return { folder, file, store }
}

/** How often a word stands in the files of a folder. */
function countOf(folder: string, word: string): number {
  return readdirSync(folder).reduce(
    (sum, name) => sum + readFileSync(join(folder, name), 'latin1').split(word).length - 1,
    0,
  )
}

const mark = 'zebra'
/** Texts that fit a page, fill several, and are moved from page to page as others are written between them. */
const lengths = [10, 300, 900, 1_500, 9_000, 40_000]
const textOf = (length: number) => mark.repeat(Math.ceil(length / mark.length))

/** Several revisions of many blocks of an owner, written between blocks of another one, which stay. */
async function fill(store: Store, owner: typeof anna): Promise<void> {
  const bob = { ...anna, subject: 'user:bob' }
  for (let round = 0; round < 6; round += 1)
    for (const [index, length] of lengths.entries()) {
      const expected = round === 0 ? null : round
      const other = 'y'.repeat((length * (round + 1)) % 3_000) || 'y'
      for (let copy = 0; copy < 3; copy += 1) {
        const key = `k${(index * 7 + copy * 5) % 18}-${index}-${copy}`
        await written(store, writing(key, { owner, expected, text: textOf(length + round), call: `c${round}` }))
        if (owner === anna) await written(store, writing(key, { owner: bob, expected, text: other }))
      }
    }
}

const ends: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'erased blocks': (store) => store.eraseBlocks(database, { subject: 'user:anna', agent: null }),
  'blocks that a request deletes': async (store) => {
    for (const { id } of await store.readBlocks(database, [anna, within('chats/1')]))
      await store.deleteBlock(database, id)
  },
  'blocks that a model deletes': async (store) => {
    for (const owner of [anna, within('chats/1')])
      for (const { key, revision } of await store.readBlocks(database, [owner]))
        assert.equal(await tried(store, writing(key, { owner, expected: revision, text: '' })), `gone ${revision + 1}`)
  },
  'blocks of a conversation that is deleted': async (store) => {
    await store.eraseBlocks(database, { subject: 'user:anna', agent: 'nobody' })
    for (const { id } of await store.readBlocks(database, [anna])) await store.deleteBlock(database, id)
    await store.deleteConversation(database, 'chats/1')
  },
}

for (const [what, end] of Object.entries(ends))
  test(`sqlite: no text of ${what} is in its files once the store is closed`, async (context) => {
    const { folder, store } = await opened(context)
    await start(store, 'chats/1')
    await fill(store, anna)
    await fill(store, within('chats/1'))
    for (const length of lengths)
      await tried(
        store,
        writing(`l${length}`, { owner: within('chats/1'), text: textOf(length), by: modelIn('chats/1') }),
      )
    assert.ok(countOf(folder, mark) > 100)
    await end(store)
    await store.close()
    assert.equal(countOf(folder, mark), 0)
    assert.ok(countOf(folder, 'yyyyyyyy') > 10, 'what others remember is there')
  })

test('sqlite: texts that a process left when it ended are gone when the file is opened again', async (context) => {
  const { folder, file, store } = await opened(context)
  await fill(store, anna)
  await store.close()
  const db = new DatabaseSync(file)
  db.exec('update memory_blocks set id = null, deleted_at = 1')
  db.close()
  const next = sqliteStore({ file, synchronous: 'normal' })
  await next.open()
  await next.close()
  assert.equal(countOf(folder, mark), 0)
})

test('sqlite: no number of a block is given twice, since what takes several turns goes by them', async (context) => {
  const { file, store } = await opened(context)
  for (const id of ['chats/1', 'chats/2']) await start(store, id)
  await written(store, writing('first'))
  for (let round = 1; round <= 3; round += 1) {
    await written(store, writing('erased'))
    await written(store, writing('copied', { owner: within('chats/1') }))
    await store.copyBlocks(database, 'chats/1', 'chats/2', () => `copy ${round}`)
    await store.putBlock(database, blockOf('put'), [])
    await store.eraseBlocks(database, { subject: 'user:anna', agent: null })
  }
  await written(store, writing('last'))
  await store.close()
  const db = new DatabaseSync(file)
  const [last] = db.prepare("select number from memory_blocks where key = 'last'").all()
  db.close()
  assert.ok(Number(last?.number) >= 1 + 3 * 4 + 1, String(last?.number))
})

for (const kind of ['memory', 'sqlite'])
  test(`${kind}: a deleted key counts on for a week, and is forgotten then`, async (context) => {
    let time = 1_000_000_000_000
    const now = () => time
    const store = kind === 'memory' ? memoryStore({ now }) : (await opened(context, now)).store
    await store.open()
    for (const key of ['a', 'b', 'c']) {
      await written(store, writing(key, { call: 'c1' }))
      await tried(store, writing(key, { text: '', expected: 1 }))
    }
    time += deletedKeyMs
    assert.equal(await tried(store, writing('a')), 'written 3')
    time += 1
    assert.equal(await tried(store, writing('b')), 'written 1')
    assert.equal(await tried(store, writing('c', { call: 'c1' })), 'written 1')
    assert.deepEqual(Object.keys(await textsOf(store)), ['a', 'b', 'c'])
    const erase = () => store.eraseBlocks(database, { subject: 'user:anna', agent: null })
    await erase()
    time += deletedKeyMs
    assert.equal(await tried(store, writing('d')), 'written 4')
    time += 1
    assert.equal(await tried(store, writing('e')), 'written 1', 'so does what was erased')
    await store.close()
  })
