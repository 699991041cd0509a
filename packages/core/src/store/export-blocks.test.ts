/** Blocks of memory move with their store: as they are told in lines, and refused where a line does not fit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { readExport } from '../conversation/read-export.ts'
import {
  anna,
  modelIn,
  revisionsOf,
  textsOf,
  within,
  writing,
  written,
} from '../testing/conformance/store-block-fixtures.ts'
import { conversation, database } from '../testing/conformance/store-fixtures.ts'
import { readEnded } from './archive.ts'
import { memoryStore } from './drivers/memory.ts'
import { type ExportItem, exportStore, importInto } from './export.ts'
import { exportText, type MovingLine } from './export-lines.ts'
import type { Store } from './store.ts'

async function textsIn(lines: AsyncIterable<MovingLine>): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const line of lines) texts.push(exportText(line))
  return texts
}

async function take(store: Store, lines: readonly string[]): Promise<number> {
  const items: ExportItem[] = []
  for await (const item of readExport(ReadableStream.from(lines))) items.push(item)
  const takeOne = importInto(store)
  let taken = 0
  for (const item of items) taken += Number(await takeOne(item))
  return taken
}

/** A block of Anna with two revisions. */
async function filled(): Promise<Store> {
  const store = memoryStore()
  await written(store, writing('city', { text: 'Oslo', id: 'mem_city' }))
  await written(store, writing('city', { text: 'Bergen', expected: 1, kind: 'archival' }))
  return store
}

test('a block is a line, and each of its texts another one', async () => {
  const lines = (await textsIn(exportStore(await filled(), [database]))).map((line) => JSON.parse(line))
  const { writtenBy } = lines[2].revision
  assert.deepEqual(writtenBy, { id: 'user:anna', agent: null, conversationId: null, runId: null })
  const at = [lines[2].revision.at, lines[3].revision.at]
  const block = { id: 'mem_city', agent: 'clerk', scope: 'person', subject: 'user:anna', conversation: null }
  assert.deepEqual(lines.slice(1), [
    {
      ...{ kind: 'memory', database },
      ...{ block: { ...block, kind: 'archival', key: 'city', revision: 2, createdAt: at[0] }, revisions: 2 },
    },
    { kind: 'revision', revision: { revision: 1, text: 'Oslo', at: at[0], writtenBy } },
    { kind: 'revision', revision: { revision: 2, text: 'Bergen', at: at[1], writtenBy } },
    { kind: 'end', agents: 0, conversations: 0, blocks: 1 },
  ])
})

test('a block that stands there otherwise stops an import, under its id or its key', async () => {
  const lines = await textsIn(exportStore(await filled(), [database]))
  const isTaken = (error: unknown) => isWitanError(error) && error.code === 'NAME_TAKEN' && /city/.test(error.message)
  for (const there of [writing('city'), writing('town', { id: 'mem_city' })]) {
    const store = memoryStore()
    await written(store, there)
    await assert.rejects(take(store, lines), isTaken)
  }
  const store = memoryStore()
  assert.deepEqual([await take(store, lines), await take(store, lines)], [1, 0])
  await written(store, writing('city', { expected: 2 }))
  await assert.rejects(take(store, lines), isTaken)
})

/** A line of the file, whose parts a test changes. */
interface Line {
  database: string
  block: Record<string, unknown>
  revision: { revision: number; text: string; writtenBy: Record<string, unknown> }
  revisions: number
  blocks: number
}

/** Changes of lines 2 to 5, each with the line that is refused. */
const wrong: Readonly<
  Record<string, readonly [line: number, change: (lines: [Line, Line, Line, Line, Line]) => unknown]>
> = {
  'a revision is missing': [4, (lines) => lines.splice(3, 1)],
  'a revision is one too many': [5, (lines) => lines.splice(3, 0, lines[3])],
  'revisions go back': [4, (lines) => lines.splice(2, 2, lines[3], lines[2])],
  'revisions repeat': [4, (lines) => (lines[3].revision.revision = 1)],
  'the last revision is not that of the block': [4, (lines) => (lines[1].block.revision = 3)],
  'a revision stands alone': [2, (lines) => lines.splice(1, 1)],
  'a text is empty': [3, (lines) => (lines[2].revision.text = '')],
  'a text is too long': [3, (lines) => (lines[2].revision.text = 'x'.repeat(100_001))],
  'a writer has another field': [3, (lines) => (lines[2].revision.writtenBy.x = 1)],
  'nobody has it': [2, (lines) => (lines[1].block.subject = null)],
  'somebody has what everybody has': [2, (lines) => (lines[1].block.scope = 'agent')],
  'no conversation has it': [2, (lines) => (lines[1].block.scope = 'conversation')],
  'its key is none': [2, (lines) => (lines[1].block.key = 'A b')],
  'its kind is none': [2, (lines) => (lines[1].block.kind = 'x')],
  'it has no revision': [2, (lines) => (lines[1].revisions = 0)],
  'the end counts others': [5, (lines) => (lines[4].blocks = 2)],
  'it is of another database': [2, (lines) => (lines[1].database = 'other')],
}

for (const [what, [line, change]] of Object.entries(wrong))
  test(`lines of a block are refused: ${what}`, async () => {
    const lines = (await textsIn(exportStore(await filled(), [database]))).map((text) => JSON.parse(text))
    change(lines as [Line, Line, Line, Line, Line])
    const store = memoryStore()
    await assert.rejects(
      take(
        store,
        lines.map((one) => JSON.stringify(one)),
      ),
      (error) => isWitanError(error) && new RegExp(`^line ${line} `).test(error.message),
    )
    assert.deepEqual(await textsOf(store), {})
  })

test('the archive of a conversation has its blocks and no others', async () => {
  const store = memoryStore()
  for (const id of ['chats/1', 'chats/2'])
    await store.append({ database, conversation: id, create: conversation(id), entries: [] })
  const own = { owner: within('chats/1'), by: modelIn('chats/1') }
  const { id } = await written(store, writing('here', { ...own, text: 'one' }))
  await written(store, writing('here', { ...own, text: 'two', expected: 1 }))
  await written(store, writing('there', { owner: within('chats/2') }))
  await written(store, writing('city', { owner: anna }))
  const ended = (await readEnded(store, { database, id: 'chats/1' }, 9e15)) ?? assert.fail()
  const lines = await textsIn(ended.lines)
  assert.equal(await store.deleteConversation(database, 'chats/1', ended.as), true)
  assert.equal(await store.getBlock(database, id), null)
  assert.equal(await take(store, lines), 2)
  assert.deepEqual(await textsOf(store, within('chats/1')), { here: 'two' })
  assert.deepEqual(await revisionsOf(store, id), [
    [2, 'two'],
    [1, 'one'],
  ])
})

test('an export is whole although blocks are deleted and written while it reads', async () => {
  const store = memoryStore()
  for (let index = 0; index < 450; index += 1) await written(store, writing(`k${index}`, { text: `${index}` }))
  const busy: Store = {
    ...store,
    async listBlocks(...page) {
      const rows = await store.listBlocks(...page)
      for (const { id } of rows.slice(198)) await store.deleteBlock(database, id)
      return rows
    },
    async getBlock(...of) {
      const row = await store.getBlock(...of)
      if (row?.key === 'k7') await written(store, writing('k7', { expected: 1, text: 'later' }))
      return row
    },
  }
  const lines = await textsIn(exportStore(busy, [database]))
  const to = memoryStore()
  const left = (await store.readBlocks(database, [anna])).length
  assert.ok(left < 450)
  assert.equal(await take(to, lines), left)
  assert.equal((await textsOf(to))['k7'], '7')
})
