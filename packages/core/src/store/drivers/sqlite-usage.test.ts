/** Usage that waits in memory: a file whose process was killed has it in its logs, and it is counted when the file is opened. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { usageDimensions } from '@witan/protocol/schemas'
import { addJob, begin, by, change, database, entry, rest } from '../../testing/conformance/store-fixtures.ts'
import type { JobRow, Store } from '../store.ts'
import { sqliteStore } from './sqlite.ts'

function newFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'witan-usage-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function opened(context: TestContext, folder: string): Promise<Store> {
  const store = sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal' })
  await store.open()
  context.after(() => store.close())
  return store
}

/** The files as another process would find them if this one were killed now. Another process copies, for the locks of this one. */
function copyOf(context: TestContext, from: string): string {
  const to = newFolder(context)
  for (const file of ['witan.db', 'witan.db-wal']) execFileSync('cp', [join(from, file), to])
  return to
}

/** The store in such a copy. */
function killed(context: TestContext, from: string): Promise<Store> {
  return opened(context, copyOf(context, from))
}

const user = 'user:eve'

/** The start of a run for `user:eve`. */
function started({ id }: JobRow): Entry {
  return {
    ...entry('', id),
    type: 'start',
    kind: 'agent',
    body: { principal: { id: user, roles: [] } },
  } as unknown as Entry
}

function toolOf(job: string): Entry {
  const body = { name: 'look', toolCallId: 't1', arguments: {}, bound: [] }
  return { ...entry('', job), type: 'start', kind: 'tool', body } as Entry
}

/** One entry of each kind that counts beside the calls of tools and models. */
function countedOf(job: string): readonly Entry[] {
  const from = entry('', job)
  const embedded = [{ model: 'near', inputTokens: 7 }]
  const none = { modelCalls: 0, toolCalls: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
  const usage = { ...none, inputTokens: 7, totalTokens: 7, costUsd: null, complete: true }
  const answered = { text: 'Done.', output: null, taken: 0, usage }
  return [
    { ...from, type: 'checkpoint', kind: null, body: { spent: usage } },
    { ...from, type: 'checkpoint', kind: null, body: { answered } },
    { ...from, type: 'retrieval', kind: null, body: { query: 'q', passages: [], embedded } },
    { ...from, type: 'end', kind: 'tool', body: { result: 'x', truncated: false, embedded } },
    { ...from, type: 'error', kind: 'tool', body: { code: 'TOOL_FAILED', detail: 'no', embedded } },
  ] as readonly Entry[]
}

const run = async (store: Store, id: string) => {
  const job = await begin(store, { id })
  const add = (entries: readonly Entry[]) => store.append({ ...by(job), entries, usedBy: user })
  assert.ok((await add([started(job)])).ok)
  return { job, add, use: () => add([toolOf(id)]) }
}

/** Calls of tools by each dimension and key. */
async function sumsOf(store: Store): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const dimension of usageDimensions)
    for (const { key, toolCalls } of await store.listUsage(database, { by: dimension, after: null, limit: 99 }))
      sums[`${dimension} ${key}`] = toolCalls
  return sums
}

test('[T27] a killed process loses no usage, and none is counted twice', async (context) => {
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const [old, idle] = [await run(store, 'old'), await run(store, 'idle')]
  for (const one of [old, idle]) await one.use()
  assert.equal((await sumsOf(store))['day '], 2)
  const young = await run(store, 'young')
  for (const one of [old, young, old, young]) await one.use()
  const copy = { database, conversation: young.job.conversation, entries: [toolOf('elsewhere')] }
  assert.ok((await store.append(copy)).ok)
  const expected = {
    ...{ 'agent user': 6, 'day ': 6, [`user ${user}`]: 6 },
    ...{ 'conversation chats/idle': 1, 'conversation chats/old': 3, 'conversation chats/young': 2 },
  }
  for (let time = 1; time <= 2; time += 1) {
    const next = await killed(context, folder)
    assert.deepEqual(await sumsOf(next), expected)
    await next.close()
    await next.open()
    assert.deepEqual(await sumsOf(next), expected)
  }
  assert.deepEqual(await sumsOf(store), expected)
})

test('[T27] a killed process loses nothing of what other servers and embedding models used', async (context) => {
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const { add } = await run(store, 'one')
  assert.ok((await add(countedOf('one'))).ok)
  const next = await killed(context, folder)
  for (const one of [next, store]) {
    const [day, ...others] = await one.listUsage(database, { by: 'day', after: null, limit: 9 })
    assert.deepEqual([day?.inputTokens, day?.unpriced, others], [35, 5, []])
  }
})

test('[T27] what has arrived or was deleted before a process is killed counts as often as it did', async (context) => {
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const [gone, last] = [await run(store, 'gone'), await run(store, 'last')]
  for (const one of [gone, last]) await one.use()
  await store.deleteConversation(database, gone.job.conversation)
  const snapshot = (await store.readSnapshot(database, last.job.conversation)) ?? assert.fail()
  await store.deleteConversation(database, last.job.conversation)
  assert.equal(await store.putSnapshot(database, snapshot), true)
  const next = await killed(context, folder)
  assert.deepEqual(await sumsOf(next), await sumsOf(store))
  assert.equal((await sumsOf(next))['day '], 3)
  // a number that is free again: its conversation is not the marked one
  await next.deleteConversation(database, last.job.conversation)
  await next.close()
  await next.open()
  const fresh = await run(next, 'fresh')
  await fresh.use()
  assert.equal((await sumsOf(next))['conversation chats/fresh'], 1)
})

test('[T27] much usage that arrives is added in parts; each reader finds it whole, and a killed process loses none', async (context) => {
  const [uses, added] = [2_600, 3]
  const from = await opened(context, newFolder(context))
  const long = await run(from, 'long')
  await long.add(Array.from({ length: uses }, () => toolOf('long')))
  const snapshot = (await from.readSnapshot(database, long.job.conversation)) ?? assert.fail()
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const other = await run(store, 'other')
  for (let time = 0; time < added; time += 1) await other.use()
  let isPut = false
  const put = store.putSnapshot(database, snapshot).then((done) => {
    isPut = done
  })
  const found = new Set<number>()
  const copies: [copy: string, isThere: boolean][] = []
  while (!isPut) {
    const isThere = (await store.getConversation(database, long.job.conversation)) !== null
    if (copies.length < 40) copies.push([copyOf(context, folder), isThere])
    await new Promise((resolve) => setImmediate(resolve))
  }
  await put
  assert.equal((await sumsOf(store))['day '], uses + added)
  assert.ok(copies.filter(([, isThere]) => isThere).length > 2, 'parts came in several transactions')
  for (const [copy, isThere] of copies) {
    const next = await opened(context, copy)
    const sum = (await sumsOf(next))['day '] ?? 0
    found.add(sum)
    assert.equal(sum, isThere ? uses + added : added)
    await next.close()
  }
  assert.deepEqual([...found].sort(), [added, uses + added].sort())
})

test('[T27] who reads usage while it arrives, and who uses more meanwhile, loses nothing', async (context) => {
  const uses = 2_600
  const from = await opened(context, newFolder(context))
  const long = await run(from, 'long')
  await long.add(Array.from({ length: uses }, () => toolOf('long')))
  const snapshot = (await from.readSnapshot(database, long.job.conversation)) ?? assert.fail()
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const other = await run(store, 'other')
  let isPut = false
  const put = store.putSnapshot(database, snapshot).then((done) => {
    isPut = done
  })
  let used = 0
  while (!isPut) {
    const isThere = (await store.getConversation(database, long.job.conversation)) !== null
    const before = used
    await new Promise((resolve) => setImmediate(resolve))
    await other.use()
    used += 1
    const sum = (await sumsOf(store))['day '] ?? 0
    assert.ok(isThere ? sum === uses + before + 1 : [before + 1, uses + before + 1].includes(sum), `${sum} of ${used}`)
  }
  await put
  const expected = (await sumsOf(store))['day ']
  assert.equal(expected, uses + used)
  assert.equal((await sumsOf(await killed(context, folder)))['day '], expected)
})

for (const isAsked of [false, true]) {
  const when = isAsked ? ', in which it was added up,' : ''
  test(`[T27] usage of a transaction${when} that was rolled back counts nowhere, and what waited before it counts once`, async (context) => {
    const folder = newFolder(context)
    const store = await opened(context, folder)
    const [one, two, other] = [await run(store, 'one'), await run(store, 'two'), await run(store, 'other')]
    await one.use()
    await sumsOf(store)
    await one.use()
    const list = () => store.listUsage(database, { by: 'day', after: null, limit: 1 })
    const messageAt = {} as number // SQLite takes no object
    const fail = () => store.append({ ...by(other.job), entries: [], messageAt })
    const told = await Promise.allSettled([two.use(), ...(isAsked ? [list()] : []), fail()])
    assert.deepEqual(new Set(told.map(({ status }) => status)), new Set(['rejected']))
    await two.use()
    assert.equal((await sumsOf(await killed(context, folder)))['day '], 3)
    assert.equal((await sumsOf(store))['day '], 3)
  })
}

test('[T27] usage that two ask for at once is added up once', async (context) => {
  const store = await opened(context, newFolder(context))
  const { use } = await run(store, 'one')
  await use()
  const list = () => store.listUsage(database, { by: 'day', after: null, limit: 1 })
  const [, second] = await Promise.all([list(), list()])
  assert.equal(second[0]?.toolCalls, 1)
})

test('[T27] many uses are added up unasked, and no more wait in memory', async (context) => {
  const folder = newFolder(context)
  const store = await opened(context, folder)
  const { job, use } = await run(store, 'parked')
  for (let time = 0; time < 1030; time += 1) await use()
  const db = new DatabaseSync(join(copyOf(context, folder), 'witan.db'))
  context.after(() => db.close())
  const day = db.prepare(`select tool_calls from usage where dimension = 'day'`).get()
  assert.equal(day?.['tool_calls'], 1024) // twice 512
  assert.ok((await store.append(change(job, rest('parked')))).ok)
  const again = await addJob(store, { id: 'again', in: job.conversation })
  const body = { ...by(again), entries: [started(again), toolOf('again')], usedBy: user }
  assert.ok((await store.append(body)).ok)
  const next = await killed(context, folder)
  assert.deepEqual(await sumsOf(next), await sumsOf(store))
  assert.equal((await sumsOf(next))[`user ${user}`], 1031)
})
