/** An append knows what the earlier ones left, and nothing that another write has changed since. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import {
  assertRefused,
  begin,
  by,
  conversation,
  database,
  entry,
  jobOf,
  rest,
  start,
} from '../../testing/conformance/store-fixtures.ts'
import { sqliteStore } from './sqlite.ts'

async function openStore(context: TestContext, now = Date.now) {
  const folder = mkdtempSync(join(tmpdir(), 'witan-append-'))
  const store = sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal', now })
  context.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  await store.open()
  return store
}

test('[I7] what is appended in one turn follows on, and is fenced once another has claimed its job between', async (context) => {
  const store = await openStore(context)
  const job = await begin(store, { id: 'j1' })
  const append = () => store.append({ ...by(job), entries: [entry('more', 'j1')] })
  const [first, second, , claimed, late] = await Promise.all([
    append(),
    append(),
    store.releaseJobs('w1'),
    store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 1 }),
    append(),
  ])
  assert.deepEqual(
    [first, second],
    [
      { ok: true, before: 1, lastSeq: 2, jobs: [] },
      { ok: true, before: 2, lastSeq: 3, jobs: [] },
    ],
  )
  assert.equal(claimed.length, 1)
  assertRefused(late, 'fenced')
})

test('[I7] an append knows what the commits before have left, and is fenced once another has claimed its job', async (context) => {
  const store = await openStore(context)
  const job = await begin(store, { id: 'j1' })
  const append = () => store.append({ ...by(job), entries: [entry('more', 'j1')] })
  assert.deepEqual(await append(), { ok: true, before: 1, lastSeq: 2, jobs: [] })
  assert.deepEqual(await append(), { ok: true, before: 2, lastSeq: 3, jobs: [] })
  await store.releaseJobs('w1')
  const [claimed] = await store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 1 })
  assertRefused(await append(), 'fenced')
  const after = { ...by(claimed ?? assert.fail()), entries: [entry('last', 'j1')] }
  const ended = await store.append({ ...after, jobs: [rest('j1', 'completed')] })
  assert.ok(ended.ok)
  assert.deepEqual([ended.before, ended.jobs[0]?.status], [3, 'completed'])
  const late = await store.append(after)
  assert.ok(!late.ok && late.reason === 'fenced')
  assert.deepEqual(late.job, await jobOf(store, 'j1'))
})

test('[I1] after a commit that failed, an append follows what is stored', async (context) => {
  const store = await openStore(context)
  const [job, other] = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })]
  const append = (text: string) => store.append({ ...by(job), entries: [entry(text, 'j1')] })
  const messageAt = {} as number // SQLite takes no object
  const told = await Promise.allSettled([append('lost'), store.append({ ...by(other), entries: [], messageAt })])
  assert.deepEqual(
    told.map((one) => (one.status === 'rejected' ? one.reason.code : one.value)),
    ['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  )
  assert.deepEqual(await append('kept'), { ok: true, before: 1, lastSeq: 2, jobs: [] })
})

test('[Rb35] an append finds a conversation gone that has expired since the last one', async (context) => {
  let now = 1
  const store = await openStore(context, () => now)
  await start(store, 'chats/1', { expiresAt: 10 })
  const append = () => store.append({ database, conversation: 'chats/1', entries: [entry('more')] })
  assert.equal((await append()).ok, true)
  now = 10
  assertRefused(await append(), 'missing')
})

test('[T27] what an append has used counts for no conversation that is deleted in the same turn, and for all else', async (context) => {
  const store = await openStore(context)
  const body = { code: 'USAGE_INCOMPLETE', detail: 'lost', model: 'local/small' }
  const lost = { ...entry('', 'j1'), type: 'notice', kind: null, body } as Entry
  const used = { database, entries: [lost], usedBy: 'user:anna' }
  const [, , isGone] = await Promise.all([
    store.append({ ...used, conversation: 'chats/gone', create: conversation('chats/gone') }),
    store.append({ ...used, conversation: 'chats/kept', create: conversation('chats/kept') }),
    store.deleteConversation(database, 'chats/gone'),
  ])
  assert.equal(isGone, true)
  const countsBy = async (dimension: 'conversation' | 'user') => {
    const rows = await store.listUsage(database, { by: dimension, after: null, limit: 9 })
    return rows.map(({ key, incomplete }) => [key, incomplete])
  }
  assert.deepEqual(await countsBy('conversation'), [['chats/kept', 1]])
  assert.deepEqual(await countsBy('user'), [['user:anna', 2]])
})

test('usage that is appended in one turn with a deletion counts for its agent, and the conversation begins anew', async (context) => {
  const store = await openStore(context)
  const used = (): Entry => {
    const body = { name: 'look', toolCallId: 't1', arguments: {}, bound: [] }
    return { ...entry('used'), type: 'start', kind: 'tool', body } as Entry
  }
  const append = (fresh: boolean) => {
    const create = fresh ? { create: conversation('chats/1') } : {}
    return store.append({ database, conversation: 'chats/1', ...create, entries: [used()], usedBy: 'user:anna' })
  }
  await Promise.all([append(true), append(false), store.deleteConversation(database, 'chats/1'), append(true)])
  const callsBy = async (by: 'agent' | 'conversation') =>
    (await store.listUsage(database, { by, after: null, limit: 9 })).map(({ toolCalls }) => toolCalls)
  assert.deepEqual([await callsBy('agent'), await callsBy('conversation')], [[3], [1]])
  for (let time = 0; time < 600; time += 1) await append(false)
  await store.close()
  await store.open()
  assert.deepEqual([await callsBy('agent'), await callsBy('conversation')], [[603], [601]])
})
