/** Documents of knowledge bases move with their store: found as before, told as the same, and refused where another stands. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openStore } from '../../../../test/postgres/support/stores.ts'
import { until } from '../../../../test/support/stage.ts'
import { readExport } from '../conversation/read-export.ts'
import { createRuntime } from '../runtime.ts'
import { memoryStore } from './drivers/memory.ts'
import { sqliteStore } from './drivers/sqlite.ts'
import { exportStore, importInto } from './export.ts'
import { exportText } from './export-lines.ts'
import type { Store } from './store.ts'

const base = { id: 'house', attributes: { floor: 'number' as const, tags: 'string[]' as const } }
const text = `Anna's "☔" \\ \u2028 😀 wine is below the stairs.\n\nThe antenna is on the roof. ${'word '.repeat(400)}`
const documents = [
  { key: 'a/b ☔.txt', title: 'Where "it" is', uri: 'x:y', text, attributes: { floor: -0.5, tags: ['x', 'y'] } },
  ...Array.from({ length: 120 }, (_, at) => ({ key: `d${at}`, text: `Room ${at} is empty.` })),
]

const kinds: Readonly<Record<string, (context: TestContext) => Promise<Store>>> = {
  memory: async () => memoryStore(),
  sqlite: async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'witan-export-'))
    context.after(() => rm(folder, { recursive: true }))
    return sqliteStore({ file: join(folder, 'store.db') })
  },
  postgres: openStore,
}

async function linesOf(store: Store): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of exportStore(store, ['default'])) lines.push(exportText(line))
  return lines
}

async function* streamed(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

async function takeIn(store: Store, lines: readonly string[]): Promise<number> {
  const take = importInto(store)
  let taken = 0
  for await (const item of readExport(streamed(lines))) taken += Number(await take(item))
  return taken
}

for (const [name, open] of Object.entries(kinds)) {
  test(`${name}: an export has the documents, and an import of it finds the same passages`, async (context) => {
    const from = createRuntime({ knowledge: [base], store: memoryStore() })
    await from.knowledge.documents.ingest('house', { documents })
    const query = { query: 'wine stairs empty', limit: 20 }
    const { passages } = await from.knowledge.search('house', query)
    assert.ok(passages.length === 20)
    const source = memoryStore()
    await from.close()
    await source.open()
    const first = createRuntime({ knowledge: [base], store: source })
    await first.knowledge.documents.ingest('house', { documents })
    const lines = await linesOf(source)
    assert.equal(lines.filter((line) => line.startsWith('{"kind":"document"')).length, documents.length)

    const store = await open(context)
    await store.open()
    assert.equal(await takeIn(store, lines), 1 + documents.length)
    const second = createRuntime({ knowledge: [base], store })
    await until(async () => (await second.knowledge.get('house')).documents === documents.length, 100_000)
    assert.deepEqual(await second.knowledge.search('house', query), { passages, notices: [] })
    assert.deepEqual(await linesOf(store), lines)
    assert.equal(await takeIn(store, lines), 0, 'all of it is there already')
    const again = await second.knowledge.documents.ingest('house', { documents })
    assert.equal(again.unchanged, documents.length)
    await second.knowledge.documents.ingest('house', { documents: [{ key: 'd7', text: 'Room 7 is full.' }] })
    await assert.rejects(takeIn(store, lines), /`d7` of knowledge base `house`.*other content/)
    await second.close()
    await first.close()
  })
}

test('a line of a document that no export writes is refused', async () => {
  const head = { kind: 'witan-store', version: 1, databases: ['default'] }
  const line = {
    ...{ kind: 'document', database: 'default', base: 'house', key: 'a', title: 'A', uri: null },
    ...{ mediaType: 'text/plain', attributes: {}, digest: `sha256:${'0'.repeat(64)}`, blocks: [] },
  }
  const end = { kind: 'end', agents: 0, conversations: 0, documents: 1 }
  const read = (...lines: readonly object[]) =>
    takeIn(
      memoryStore(),
      lines.map((one) => JSON.stringify(one)),
    )
  const rows: readonly [lines: readonly object[], why: RegExp][] = [
    [[head, { ...line, key: '../a' }, end], /line 2 is not valid at `key`/],
    [[head, { ...line, digest: 'x' }, end], /line 2 is not valid at `digest`/],
    [[head, { ...line, database: 'acme' }, end], /does not name/],
    [[head, line, { ...end, documents: 2 }], /other numbers/],
    [[head, { ...line, more: 1 }, end], /does not know/],
  ]
  for (const [lines, why] of rows) await assert.rejects(read(...lines), why)
})
