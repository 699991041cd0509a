/** What the store in memory keeps of conversations that rest, counted row by row; and what it never drops. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addJob,
  begin,
  by,
  change,
  database,
  entry,
  idleListener,
  idsOf,
  interruption,
  rest,
  settlement,
  start,
  wholePage,
} from '../../testing/conformance/store-fixtures.ts'
import type { JobRow, Store } from '../store.ts'
import { memoryStore, type MemoryStoreOptions } from './memory.ts'

const day = 86_400_000

/** A store with a clock that a test moves. */
function storeOf(options: MemoryStoreOptions = {}) {
  const clock = { now: 1_000_000 }
  return { clock, store: memoryStore({ now: () => clock.now, ...options }) }
}

/** A conversation of the store's whole life: a run with a task and an answered interruption, all of it over. */
async function restOne(store: Store, id: string): Promise<void> {
  const job = await begin(store, { id: `j ${id}`, in: id })
  const task = await addJob(store, { id: `t ${id}`, kind: 'task', in: id })
  await store.append({ ...by(job), entries: [entry('ask')], open: [interruption(job, `i ${id}`)] })
  await store.append({ ...by(job), entries: [entry('answer')], settle: [settlement(`i ${id}`)] })
  await store.append(change(task, rest(task.id)))
  await store.append(change(job, rest(job.id)))
}

/** How many rows the store holds of these conversations, by their tables. */
async function held(store: Store, ids: readonly string[]) {
  const count = { conversations: 0, entries: 0, jobs: 0, interruptions: 0 }
  for (const id of ids) {
    count.conversations += (await store.getConversation(database, id)) === null ? 0 : 1
    count.entries += (await store.readEntries(database, id, { after: 0, limit: 1000 })).length
    for (const job of [`j ${id}`, `t ${id}`]) count.jobs += (await store.getJob(database, job)) === null ? 0 : 1
    count.interruptions += (await store.getInterruption(database, `i ${id}`)) === null ? 0 : 1
  }
  return count
}

async function listed(store: Store): Promise<readonly string[]> {
  return idsOf(await store.listConversations(database, { ...wholePage, limit: 9999, agent: null, createdBy: null }))
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `chats/${index}`)
}

test('the store keeps at most `maxResting` conversations that rest, the latest ones, with all their rows', async () => {
  const { store } = storeOf({ maxResting: 10 })
  const ids = names(50)
  for (const id of ids) await restOne(store, id)
  assert.deepEqual(await held(store, ids), { conversations: 10, entries: 60, jobs: 20, interruptions: 10 })
  assert.deepEqual(await listed(store), ids.slice(40).reverse())
  assert.deepEqual(await store.listTasks(database, { ...wholePage, live: null }).then(idsOf), [
    ...ids
      .slice(40)
      .map((id) => `t ${id}`)
      .toSorted()
      .reverse(),
  ])
})

test('by default the store keeps a thousand conversations that rest, for a day', async () => {
  const { store, clock } = storeOf()
  const ids = names(1200)
  for (const id of ids) await start(store, id)
  assert.deepEqual(await held(store, ids), { conversations: 1000, entries: 1000, jobs: 0, interruptions: 0 })
  clock.now += day
  await start(store, 'chats/on-time')
  assert.equal((await listed(store)).length, 1000)
  clock.now += 1
  await start(store, 'chats/late')
  assert.deepEqual(await listed(store), ['chats/late', 'chats/on-time'])
})

test('a sweep drops what has rested too long, and returns what went', async () => {
  const { store, clock } = storeOf({ maxRestingMs: 1000 })
  for (const id of names(3)) await restOne(store, id)
  clock.now += 1000
  assert.deepEqual(await store.sweepConversations(10), [])
  clock.now += 1
  assert.deepEqual(idsOf(await store.sweepConversations(2)), ['chats/0', 'chats/1'])
  assert.deepEqual(idsOf(await store.sweepConversations(10)), ['chats/2'])
  assert.deepEqual(await held(store, names(3)), { conversations: 0, entries: 0, jobs: 0, interruptions: 0 })
})

test('a conversation with a live job or an open interruption is never dropped, and rests only from its end on', async () => {
  const { store, clock } = storeOf({ maxResting: 2, maxRestingMs: 1000 })
  const parked = await begin(store, { id: 'parked' })
  await store.append({
    ...by(parked),
    entries: [],
    open: [interruption(parked, 'i1')],
    jobs: [rest('parked', 'waiting')],
  })
  const busy = await begin(store, { id: 'busy' })
  const asked = await begin(store, { id: 'asked' })
  await store.append({ ...by(asked), entries: [], open: [interruption(asked, 'i2')], jobs: [rest('asked')] })
  clock.now += 10 * day
  for (const id of names(5)) await start(store, id)
  const kept = [parked, busy, asked].map(({ conversation }) => conversation)
  assert.deepEqual(await listed(store), ['chats/4', 'chats/3', ...kept.toReversed()])
  await endAll(store, [busy, parked])
  assert.deepEqual(await listed(store), ['chats/4', ...kept.toReversed()])
  for (const [id, { conversation }] of Object.entries({ i2: asked, i1: parked }))
    await store.append({ database, conversation, entries: [], settle: [settlement(id)] })
  assert.deepEqual(await listed(store), [kept[2], kept[0]])
})

async function endAll(store: Store, jobs: readonly JobRow[]): Promise<void> {
  for (const job of jobs) await store.append(change(job, rest(job.id)))
}

test('what is written in a conversation that rests puts it last in the line, and a new run takes it out', async () => {
  const { store } = storeOf({ maxResting: 3 })
  for (const id of names(3)) await start(store, id)
  await store.append({ database, conversation: 'chats/0', entries: [entry('more')] })
  const run = await addJob(store, { id: 'j1', in: 'chats/1' })
  for (const id of ['chats/3', 'chats/4']) await start(store, id)
  assert.deepEqual(await listed(store), ['chats/4', 'chats/3', 'chats/1', 'chats/0'])
  await store.append(change(run, rest('j1')))
  assert.deepEqual(await listed(store), ['chats/4', 'chats/3', 'chats/1'])
})

test('an append that is refused changes nothing about the line', async () => {
  const { store } = storeOf({ maxResting: 2 })
  for (const id of names(2)) await start(store, id)
  assert.equal((await store.append({ database, conversation: 'chats/0', entries: [], ifLastSeq: 7 })).ok, false)
  await start(store, 'chats/2')
  assert.deepEqual(await listed(store), ['chats/2', 'chats/1'])
})

test('conversations that were deleted, or arrive as snapshots from elsewhere, count as they should', async () => {
  const { store } = storeOf({ maxResting: 2 })
  const { store: other } = storeOf()
  for (const id of names(4)) await restOne(other, id)
  for (const id of names(2)) await start(store, id)
  await store.deleteConversation(database, 'chats/1')
  for (const id of ['chats/2', 'chats/3']) {
    const snapshot = (await other.readSnapshot(database, id)) ?? assert.fail()
    assert.equal(await store.putSnapshot(database, snapshot), true)
  }
  assert.deepEqual(await listed(store), ['chats/3', 'chats/2'])
  assert.deepEqual(await held(store, names(4)), { conversations: 2, entries: 12, jobs: 4, interruptions: 2 })
})

test('every listener, also the only one of the store itself, is notified of a drop', async () => {
  const { store } = storeOf({ maxResting: 1 })
  const gone: string[] = []
  store.listen({ ...idleListener, gone: ({ conversation }) => gone.push(conversation) })
  for (const id of names(3)) await start(store, id)
  await Promise.resolve()
  assert.deepEqual(gone, ['chats/0', 'chats/1'])
})

test('an id is free once its conversation was dropped', async () => {
  const { store } = storeOf({ maxResting: 1 })
  await restOne(store, 'chats/0')
  await start(store, 'chats/1')
  await restOne(store, 'chats/0')
  assert.deepEqual(await listed(store), ['chats/0'])
  assert.equal((await store.getConversation(database, 'chats/0'))?.lastSeq, 6)
})

test('without limits nothing is dropped', async () => {
  const never = Number.POSITIVE_INFINITY
  const { store, clock } = storeOf({ maxResting: never, maxRestingMs: never })
  for (const id of names(1100)) await start(store, id)
  clock.now += 1000 * day
  assert.deepEqual(await store.sweepConversations(9999), [])
  assert.equal((await listed(store)).length, 1100)
})

test('a store beside another keeps to the limits of that one', async () => {
  const { store } = storeOf({ maxResting: 2 })
  const second = memoryStore({ beside: store })
  for (const id of names(4)) await start(second, id)
  assert.deepEqual(await listed(store), ['chats/3', 'chats/2'])
})

test('a wrong limit is refused with the allowed values', () => {
  for (const maxResting of [0, -1, 1.5, Number.NaN, '10' as never]) {
    assert.throws(() => memoryStore({ maxResting }), { code: 'CONFIG_INVALID', path: 'maxResting' })
  }
  for (const maxRestingMs of [0, -1, Number.NaN, '10' as never]) {
    assert.throws(() => memoryStore({ maxRestingMs }), { code: 'CONFIG_INVALID', path: 'maxRestingMs' })
  }
})
