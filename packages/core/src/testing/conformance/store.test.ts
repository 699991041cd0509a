/** Every store through the conformance kit, and against the one in memory under random commands. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../../test/support/seeds.ts'
import { memoryStore } from '../../store/drivers/memory.ts'
import { sqliteStore } from '../../store/drivers/sqlite.ts'
import type { Store } from '../../store/store.ts'
import { testStore } from './store.ts'
import type { StoreHarness } from './store-fixtures.ts'
import { begin, by, database, entry, textsOf } from './store-fixtures.ts'
import { testBlocksAgainstMemory } from './store-block-random.ts'
import { testAgainstMemory } from './store-random.ts'

const memory: StoreHarness = {
  name: 'memory',
  async open() {
    const store = memoryStore()
    await store.open()
    return store
  },
  reopen: 'nothing outlives the store',
  async second(store) {
    const other = memoryStore({ beside: store })
    await other.open()
    return other
  },
}

const files = new WeakMap<Store, string>()

async function openSqlite(file: string): Promise<Store> {
  const store = sqliteStore({ file, synchronous: 'normal' })
  await store.open()
  files.set(store, file)
  return store
}

const sqlite: StoreHarness = {
  name: 'sqlite',
  open(context) {
    const folder = mkdtempSync(join(tmpdir(), 'witan-store-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    return openSqlite(join(folder, 'deep', 'store.db'))
  },
  async reopen(store) {
    await store.close()
    return openSqlite(files.get(store) ?? assert.fail())
  },
  second: 'the file is for one process',
}

for (const harness of [memory, sqlite]) {
  testStore(harness)
  test(`${harness.name}: pages of a log are the whole log while others append [P18]`, async (context) =>
    pages(harness, context))
}

async function pages(harness: StoreHarness, context: TestContext): Promise<void> {
  const store = await harness.open(context)
  let runs = 0
  const sizes = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 5 })), { maxLength: 30 })
  const property = fc.asyncProperty(sizes, async (steps) => {
    runs += 1
    const job = await begin(store, { id: `j${runs}` })
    const read: string[] = []
    const written = ['hello']
    for (const [count, limit] of steps) {
      const texts = Array.from({ length: count }, (_, index) => `${written.length + index}`)
      const appends = texts.map((text) => store.append({ ...by(job), entries: [entry(text, job.id)] }))
      written.push(...texts)
      const page = await store.readEntries(database, job.conversation, { after: read.length, limit })
      read.push(...page.map(({ body }) => (body as { text: string }).text))
      await Promise.all(appends)
    }
    read.push(...(await textsOf(store, job.conversation)).slice(read.length))
    assert.deepEqual(read, written)
  })
  await holds(context, property, 60)
  await store.close()
}

testAgainstMemory(sqlite, 80)
testBlocksAgainstMemory(sqlite, 80)
