/** Every store through the conformance kit, and against the one in memory under random commands. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { memoryStore } from '../../store/drivers/memory.ts'
import { sqliteStore } from '../../store/drivers/sqlite.ts'
import type { Append, AppendResult, JobRow, Store } from '../../store/store.ts'
import { testStore } from './store.ts'
import type { StoreHarness } from './store-fixtures.ts'
import { begin, by, conversation, database, entry, interruption, textsOf } from './store-fixtures.ts'

const memory: StoreHarness = {
  name: 'memory',
  async open() {
    const store = memoryStore()
    await store.open()
    return store
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
}

for (const harness of [memory, sqlite]) {
  testStore(harness)
  test(`${harness.name}: pages of a log are the whole log while others append [P18]`, (context) =>
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
  await fc.assert(property, { numRuns: 60, seed: 18 })
  await store.close()
}

// random commands against the store in memory

type Command = (store: Store) => Promise<unknown>

const small = fc.integer({ min: 0, max: 2 })
const conversationId = small.map((number) => `chats/${number}`)
const jobId = fc.integer({ min: 0, max: 4 }).map((number) => `j${number}`)
/** `latest` is the one that was made last in the conversation. */
const targetId = fc.oneof({ weight: 3, arbitrary: fc.constant('latest') }, jobId)
const interruptionId = fc.integer({ min: 0, max: 3 }).map((number) => `i${number}`)
const databaseId = fc.constantFrom('default', 'default', 'other')
const past = 1000
const future = 9e15
const lease = fc.constantFrom(past, future)

/** A job that was ever made is not made again: its id is counted on. */
interface Counter {
  jobs: number
  interruptions: number
  /** The job that was made last in a conversation. */
  readonly latest: Map<string, string>
}

const changes = fc.oneof(
  fc.record({ kind: fc.constant('create'), leaseUntil: lease }),
  fc.record({ kind: fc.constant('wake'), id: targetId, leaseUntil: lease }),
  fc.record({ kind: fc.constant('rest'), id: targetId, status: fc.constantFrom('waiting', 'completed', 'failed') }),
)

const appendShape = fc.record(
  {
    database: databaseId,
    conversation: conversationId,
    create: fc.boolean(),
    expiresAt: fc.constantFrom(null, null, past, future),
    fence: fc.record({ job: jobId, epoch: fc.integer({ min: 1, max: 2 }) }),
    ifLastSeq: fc.integer({ min: 0, max: 4 }),
    texts: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
    change: changes,
    opens: fc.boolean(),
    settles: interruptionId,
    messageAt: fc.nat(),
  },
  { requiredKeys: ['database', 'conversation', 'texts'] },
)

/** Most random appends are refused; these are mostly not. */
const changeShape = fc.record({
  database: fc.constant('default'),
  conversation: conversationId,
  texts: fc.constant(['more']).map((texts) => [...texts]),
  change: changes,
})

type AppendShape = typeof appendShape extends fc.Arbitrary<infer Shape> ? Shape : never

function appendOf(shape: AppendShape, counter: Counter): Append {
  const {
    database,
    conversation: id,
    texts,
    create,
    change,
    opens,
    settles,
    fence,
    ifLastSeq,
    messageAt,
    expiresAt = null,
  } = shape
  const job = { database, conversation: id, id: 'j0' } as JobRow
  const base = { owner: 'w1', startedAt: 1, result: { texts }, at: 5 }
  const made = change === undefined ? {} : { id: targetOf(shape, change, counter) }
  return {
    database,
    conversation: id,
    entries: texts.map((text) => ({ ...entry(text), appendNo: 1 })),
    ...(create === true ? { create: conversation(id, { database, expiresAt }) } : {}),
    ...(fence === undefined ? {} : { fence }),
    ...(ifLastSeq === undefined ? {} : { ifLastSeq }),
    ...(change === undefined ? {} : { job: { ...base, ...change, ...made } as unknown as Append['job'] }),
    ...(opens === true ? { open: [interruption(job, `i${counter.interruptions++}`)] } : {}),
    ...(settles === undefined ? {} : { settle: [{ id: settles, state: 'answered', answer: texts, by: null, at: 6 }] }),
    ...(messageAt === undefined ? {} : { messageAt }),
  } as Append
}

function targetOf({ conversation: id }: AppendShape, change: NonNullable<AppendShape['change']>, counter: Counter) {
  if (change.kind !== 'create') return change.id === 'latest' ? (counter.latest.get(id) ?? 'none') : change.id
  counter.latest.set(id, `j${counter.jobs}`)
  return `j${counter.jobs++}`
}

function appending(shape: AppendShape): (counter: Counter) => Command {
  return (counter) => {
    const made = appendOf(shape, counter)
    return (store) => store.append(structuredClone(made))
  }
}

const commands: fc.Arbitrary<(counter: Counter) => Command> = fc.oneof(
  { weight: 6, arbitrary: appendShape.map(appending) },
  { weight: 6, arbitrary: changeShape.map(appending) },
  fc.integer({ min: 1, max: 50 }).map((limit) => () => async (store: Store) => {
    const jobs = await store.claimJobs({ owner: 'w2', leaseMs: limit > 25 ? -past : future, limit: 50 })
    return jobs.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  }),
  fc.tuple(fc.constantFrom('w1', 'w2'), jobId, fc.integer({ min: 1, max: 3 })).map(
    ([owner, id, epoch]) =>
      () =>
      (store: Store) =>
        store.heartbeat(owner, [{ id, epoch }], -past),
  ),
  fc.constantFrom('w1', 'w2').map((owner) => () => (store: Store) => store.releaseJobs(owner)),
  fc.constant(() => (store: Store) => swept(store)),
  fc.tuple(databaseId, conversationId).map(
    ([at, id]) =>
      () =>
      (store: Store) =>
        store.deleteConversation(at, id),
  ),
)

/** Of two that are over at the same time either may go first. */
async function swept(store: Store): Promise<readonly string[]> {
  return (await store.sweepConversations(10)).map(({ database: at, id }) => `${at} ${id}`).sort()
}

async function stateOf(store: Store, at: string): Promise<unknown> {
  const page = { limit: 100, after: null }
  const rows = await store.listConversations(at, { ...page, agent: null, createdBy: null })
  const inside = rows.map(async ({ id }) => [
    await store.listJobs(at, id),
    await store.readEntries(at, id, { after: 0, limit: 1000 }),
    await store.listInterruptions(at, { ...page, state: null, conversation: id }),
  ])
  return [
    rows,
    await Promise.all(inside),
    await store.listInterruptions(at, { ...page, state: 'open', conversation: null }),
  ]
}

/** Leases follow the clock, which runs on between the two. */
function withoutLeases(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (name, one) => (name === 'leaseUntil' ? 0 : one)))
}

test('sqlite: random commands have the results that they have in memory', async (context) => {
  const lists = fc.array(commands, { minLength: 5, maxLength: 40 })
  const seen = new Set<string>()
  const property = fc.asyncProperty(lists, async (list) => {
    const counter = { jobs: 0, interruptions: 0, latest: new Map<string, string>() }
    const reference = memoryStore()
    const store = await sqlite.open(context)
    for (const id of ['chats/0', 'chats/1']) {
      const append = { database, conversation: id, create: conversation(id), entries: [] }
      for (const one of [reference, store]) assert.ok((await one.append(append)).ok)
    }
    for (const make of list) {
      const command = make(counter)
      const [expected, actual] = [await command(reference), await command(store)]
      assert.deepEqual(withoutLeases(actual), withoutLeases(expected))
      seen.add(String((expected as AppendResult | undefined)?.ok ?? ''))
      const reason = (expected as { reason?: string } | undefined)?.reason
      if (reason !== undefined) seen.add(reason)
    }
    for (const at of ['default', 'other']) {
      assert.deepEqual(withoutLeases(await stateOf(store, at)), withoutLeases(await stateOf(reference, at)))
    }
    await store.close()
  })
  await fc.assert(property, { numRuns: 90, seed: 1 })
  const wanted = ['true', 'false', 'exists', 'missing', 'fenced', 'moved', 'active', 'inactive', 'woken', 'settled']
  assert.deepEqual(
    wanted.filter((one) => !seen.has(one)),
    [],
  )
})
