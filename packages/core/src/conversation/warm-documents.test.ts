/** Cached folds of documents: how many entries a read costs, and that a cached fold is never out of date. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { database, entry, start } from '../testing/conformance/store-fixtures.ts'
import { faultyStore } from '../testing/faulty-store.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Store } from '../store/store.ts'
import { entriesOf } from './warm-conversations.ts'
import { WarmDocuments } from './warm-documents.ts'

const path = 'chats/1'

/** Warm documents on a store, and how many entries they have read. */
function warmOn(store: Store, capacity?: number) {
  const read = { entries: 0 }
  const documents = new WarmDocuments(async function* (of) {
    for await (const one of entriesOf(store, of)) {
      read.entries += 1
      yield one
    }
  }, capacity)
  const textsOf = async (of = path, at = database) => {
    const { fold } = await documents.latest({ database: at, path: of })
    return fold.messages.map(({ text }) => text)
  }
  return { read, documents, textsOf }
}

function say(store: Store, text: string, conversation = path) {
  return store.append({ database, conversation, entries: [entry(text)] })
}

test('a document that was read reads on where it was: an entry to know it by, and what is new', async () => {
  const store = memoryStore()
  await start(store, path)
  for (let count = 0; count < 999; count += 1) await say(store, `${count}`)
  const { read, textsOf } = warmOn(store)
  assert.equal((await textsOf()).length, 1000)
  assert.equal(read.entries, 1000)
  for (let count = 0; count < 20; count += 1) await textsOf()
  assert.equal(read.entries, 1020)
  await say(store, 'more')
  assert.equal((await textsOf()).at(-1), 'more')
  assert.equal(read.entries, 1022)
})

test('a long log is folded in pieces, and everything else gets its turn between them', async () => {
  const store = memoryStore()
  await start(store, path)
  const entries = Array.from({ length: 60_000 }, (_, count) => entry(`${count}`))
  await store.append({ database, conversation: path, entries })
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  assert.equal((await warmOn(store).textsOf()).length, 60_001)
  isOver = true
  assert.ok(turns >= 4, `${turns} turns`)
})

test('readers who come at once share one fold, and each gets all that was stored when it came', async () => {
  const store = memoryStore()
  await start(store, path)
  const { read, documents } = warmOn(store)
  const counts = []
  for (let count = 0; count < 20; count += 1) {
    await say(store, `${count}`)
    counts.push(documents.latest({ database, path }).then(({ last }) => last?.seq ?? 0))
  }
  const seen = await Promise.all(counts)
  assert.ok(seen.every((seq, index) => seq >= index + 2))
  const { fold } = await documents.latest({ database, path })
  assert.deepEqual(
    fold.messages.map(({ seq }) => seq),
    Array.from({ length: 21 }, (_, index) => index + 1),
  )
  assert.ok(read.entries < 100, `${read.entries} entries were read`)
})

test('a conversation that was made anew under the same id shows nothing of the one before, however long it is', async () => {
  const store = memoryStore()
  for (const length of [1, 3, 2, 7]) {
    await store.deleteConversation(database, path)
    await start(store, path)
    for (let count = 1; count < length; count += 1) await say(store, `${count} of ${length}`)
  }
  const { textsOf } = warmOn(store)
  assert.equal((await textsOf()).length, 7)
  for (const length of [7, 2, 12]) {
    await store.deleteConversation(database, path)
    assert.deepEqual(await textsOf(), [], 'gone')
    await start(store, path)
    for (let count = 1; count < length; count += 1) await say(store, `${count} of ${length} anew`)
    const expected = Array.from({ length }, (_, index) => (index === 0 ? 'hello' : `${index} of ${length} anew`))
    assert.deepEqual(await textsOf(), expected)
    await store.deleteConversation(database, path)
    await start(store, path)
    for (let count = 1; count < length; count += 1) await say(store, `${count} of ${length}, once more`)
    assert.equal((await textsOf()).at(-1), `${length - 1} of ${length}, once more`)
  }
})

test('one path in two databases is two documents', async () => {
  const store = memoryStore()
  await start(store, path)
  await start(store, path, { database: 'other' })
  await say(store, 'mine')
  const { textsOf } = warmOn(store)
  assert.deepEqual([await textsOf(), await textsOf(path, 'other')], [['hello', 'mine'], ['hello']])
})

test('a store that fails in the middle fails that read only', async () => {
  const inner = memoryStore()
  await start(inner, path)
  const faulty = faultyStore(inner, { seed: 1, rates: { readEntries: { fail: 0.5 } } })
  const { textsOf } = warmOn(faulty.store)
  let failures = 0
  for (let count = 0; count < 40; count += 1) {
    await say(inner, `${count}`)
    const texts = await textsOf().catch(() => null)
    if (texts === null) failures += 1
    else assert.equal(texts.length, count + 2)
  }
  assert.ok(failures > 5 && failures < 35)
  faulty.heal()
  assert.equal((await textsOf()).length, 41)
})

test('only the documents that were read last are kept, and none of a conversation that was dropped', async () => {
  const store = memoryStore()
  for (const id of ['chats/1', 'chats/2', 'chats/3', 'chats/31']) await start(store, id)
  const { read, documents, textsOf } = warmOn(store, 3)
  for (const id of ['chats/1', 'chats/2', 'chats/3', 'chats/3/leaf']) await textsOf(id)
  const costOf = async (id: string) => {
    await say(store, 'more', id)
    const before = read.entries
    await textsOf(id)
    return read.entries - before
  }
  assert.equal(await costOf('chats/2'), 2, 'kept: the last entry and the new one')
  assert.equal(await costOf('chats/1'), 2, 'gone: both entries there are')
  await say(store, 'more', 'chats/3')
  await textsOf('chats/3')
  await textsOf('chats/31')
  documents.drop(database, 'chats/3')
  assert.equal(await costOf('chats/3'), 3, 'dropped: all entries there are')
  assert.equal(await costOf('chats/31'), 2, 'another conversation is kept')
})
