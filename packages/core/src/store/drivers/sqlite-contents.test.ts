/** Content of the embedded store: written and removed part by part, whole or not there, and gone when nobody uses it [Rb53]. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { conversation, database, entry } from '../../testing/conformance/store-fixtures.ts'
import { digestOf, unusedContentMs } from '../contents.ts'
import type { Store } from '../store.ts'
import { sqliteStore } from './sqlite.ts'

const bytes = new Uint8Array(3_000_000).map((_, index) => index % 241)
const digest = digestOf(bytes)
const use = { digest, mediaType: 'image/png', name: null }

interface Opened {
  readonly store: Store
  readonly file: string
  readonly clock: { now: number }
}

async function opened(context: TestContext): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-contents-'))
  const file = join(folder, 'witan.db')
  const clock = { now: 1_000_000_000_000 }
  const store = sqliteStore({ file, synchronous: 'normal', now: () => clock.now })
  await store.open()
  context.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, file, clock }
}

function refer(store: Store, id: string) {
  const create = conversation(id)
  return store.append({ database, conversation: id, create, entries: [entry('look')], contents: [use] })
}

/** The digest of what is read: a failed comparison of many bytes would take minutes to print. */
async function readDigest(store: Store): Promise<string | null> {
  const content = await store.readContent(database, 'chats/1', digest)
  return content === null ? null : digestOf(content.bytes)
}

/** The numbers of contents, parts and uses in the file of a closed store. */
function countsIn(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true })
  const count = (table: string) => db.prepare(`select count(*) as n from ${table}`).get()?.n
  const counts = [count('contents'), count('content_parts'), count('content_uses')]
  db.close()
  return counts
}

test('[Rb53] content that nobody refers to within an hour is removed when content is stored next', async (context) => {
  const { store, file, clock } = await opened(context)
  await store.putContent(database, digest, bytes)
  clock.now += unusedContentMs / 2
  await store.putContent(database, digest, bytes)
  clock.now += unusedContentMs - 1
  await store.putContent(database, digestOf(Uint8Array.of(1)), Uint8Array.of(1))
  assert.equal((await refer(store, 'chats/1')).ok, true, 'it was stored again meanwhile')
  clock.now += 3 * unusedContentMs
  await store.putContent(database, digestOf(Uint8Array.of(2)), Uint8Array.of(2))
  assert.equal(await readDigest(store), digest)
  await store.deleteConversation(database, 'chats/1')
  await store.close()
  assert.deepEqual(countsIn(file), [1, 1, 0])
  await store.open()
})

test('[Rb53] content that a crash cut off is not there, and is written anew', async (context) => {
  const { store, file } = await opened(context)
  await store.putContent(database, digest, bytes)
  await store.close()
  const db = new DatabaseSync(file)
  db.exec('update contents set parts = null; delete from content_parts where key % 1024 > 0')
  db.close()
  await store.open()
  const refused = await refer(store, 'chats/1')
  assert.equal(!refused.ok && refused.reason, 'contentless')
  await Promise.all([store.putContent(database, digest, bytes), store.putContent(database, digest, bytes)])
  assert.equal((await refer(store, 'chats/1')).ok, true)
  assert.equal(await readDigest(store), digest)
})

test('[Rb53] a deletion that a crash cut off is finished, and never leaves half of the content to a reader', async (context) => {
  const { store, file } = await opened(context)
  await store.putContent(database, digest, bytes)
  await refer(store, 'chats/1')
  await store.close()
  const db = new DatabaseSync(file)
  db.exec('update contents set parts = null, unused_since = 0; delete from content_parts where key % 1024 = 2')
  db.exec('delete from content_uses; delete from conversations; delete from entries')
  db.close()
  await store.open()
  const refused = await refer(store, 'chats/1')
  assert.equal(!refused.ok && refused.reason, 'contentless')
  await store.putContent(database, digestOf(Uint8Array.of(1)), Uint8Array.of(1))
  await store.close()
  assert.deepEqual(countsIn(file), [1, 1, 0])
  await store.open()
})

test('[Rb53] other work goes on between the parts of content', async (context) => {
  const { store } = await opened(context)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  })
  await store.putContent(database, digest, bytes)
  clearInterval(timer)
  assert.ok(turns >= 1)
})
