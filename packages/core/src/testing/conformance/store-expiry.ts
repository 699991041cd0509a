/** Conformance of stores: expired conversations. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  claim,
  conversation,
  database,
  entry,
  future,
  idsOf,
  interruption,
  newJob,
  onlyJob,
  past,
  rest,
  settlement,
  start,
} from './store-fixtures.ts'

async function listed(store: Store): Promise<readonly string[]> {
  const rows = await store.listConversations(database, { limit: 50, after: null, agent: null, createdBy: null })
  return rows.map(({ id }) => id)
}

/** An expired conversation with a live job. */
async function beginOver(store: Store, id: string) {
  const create = conversation(`chats/${id}`, { expiresAt: past })
  const append = {
    database,
    conversation: create.id,
    create,
    entries: [entry('hello', id)],
    jobs: [newJob({ id })],
  }
  return onlyJob(await store.append(append))
}

/** Registers the tests of expiry. */
export function checkExpiry(check: Check): void {
  check('what has expired is missing, before it is swept and after [Rb35]', async (store) => {
    await start(store, 'chats/over', { expiresAt: past })
    await start(store, 'chats/open', { expiresAt: future })
    await start(store, 'chats/ever')
    for (const swept of [[{ database, id: 'chats/over' }], []]) {
      assert.equal(await store.getConversation(database, 'chats/over'), null)
      assert.equal((await store.getConversation(database, 'chats/open'))?.expiresAt, future)
      assert.deepEqual(await listed(store), ['chats/ever', 'chats/open'])
      const more = { database, conversation: 'chats/over', entries: [entry('more')] }
      assertRefused(await store.append(more), 'missing')
      assert.deepEqual(await store.sweepConversations(10), swept)
    }
    assert.deepEqual(await store.readEntries(database, 'chats/over', { after: 0, limit: 10 }), [])
  })

  check('a live job or an open interruption keeps an expired conversation [E79]', async (store) => {
    const job = await beginOver(store, 'j1')
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    assert.equal((await store.getConversation(database, job.conversation))?.expiresAt, past)
    assert.deepEqual(await store.sweepConversations(10), [])
    assert.ok((await store.append({ ...by(job), entries: [], jobs: [rest('j1')] })).ok)
    assert.deepEqual(await store.sweepConversations(10), [], 'an interruption is open')
    const settle = [settlement('i1', { state: 'cancelled' })]
    assert.ok((await store.append({ database, conversation: job.conversation, entries: [], settle })).ok)
    assert.deepEqual(await store.sweepConversations(10), [{ database, id: job.conversation }])
    assert.deepEqual([await store.getJob(database, 'j1'), await store.getInterruption(database, 'i1')], [null, null])
  })

  checkKept(check)
  check('a job id of a conversation that has expired is free for the one that follows it', async (store) => {
    const job = await beginOver(store, 'j1')
    await store.append({ ...by(job), entries: [], jobs: [rest('j1')] })
    const again = await begin(store, { id: 'j1' })
    assert.deepEqual([again.epoch, again.firstSeq, again.status], [1, 1, 'running'])
    assert.deepEqual(idsOf(await store.listJobs(database, job.conversation)), ['j1'])
  })

  check('an id whose conversation has expired is free again, and nothing of the old one is left', async (store) => {
    const job = await beginOver(store, 'j1')
    await store.append({ ...by(job), entries: [entry('old', 'j1')], jobs: [rest('j1')] })
    const again = await begin(store, { id: 'j2', in: job.conversation })
    assert.equal(again.firstSeq, 1)
    assert.equal(await store.getJob(database, 'j1'), null)
    assert.deepEqual(await store.sweepConversations(10), [])
    assert.equal((await store.getConversation(database, job.conversation))?.lastSeq, 1)
  })

  check('a sweep takes as many as it is told, of all databases, the longest over first', async (store) => {
    const dates = [past + 4, past + 2, past + 5, past + 1, past + 3]
    for (const [index, expiresAt] of dates.entries()) {
      await start(store, `chats/${index}`, { expiresAt, database: index === 3 ? 'other' : database })
    }
    const first = await store.sweepConversations(2)
    assert.deepEqual(first, [
      { database: 'other', id: 'chats/3' },
      { database, id: 'chats/1' },
    ])
    const rest = await store.sweepConversations(10)
    assert.deepEqual(
      rest.map(({ id }) => id),
      ['chats/4', 'chats/0', 'chats/2'],
    )
    assert.deepEqual(await listed(store), [])
  })
}

function checkKept(check: Check): void {
  check(
    'a task that is queued, at work or parked keeps an expired conversation, also without a run [E79]',
    async (store) => {
      const run = await beginOver(store, 'j1')
      await addJob(store, { id: 't1', kind: 'task', owner: null, in: run.conversation })
      await store.append({ ...by(run), entries: [], jobs: [rest('j1')] })
      const at = { database, conversation: run.conversation, entries: [] }
      assert.deepEqual(await store.sweepConversations(10), [], 'it is queued')
      assert.deepEqual(await claim(store, 'w2'), ['t1'])
      assert.deepEqual(await store.sweepConversations(10), [], 'it is at work')
      assert.ok((await store.append({ ...at, jobs: [rest('t1', 'waiting')] })).ok)
      assert.deepEqual(await store.sweepConversations(10), [], 'it is parked')
      assert.deepEqual(await listed(store), [run.conversation])
      assert.ok((await store.append({ ...at, jobs: [rest('t1', 'cancelled')] })).ok)
      assert.deepEqual(await listed(store), [])
      assert.deepEqual(await store.sweepConversations(10), [{ database, id: run.conversation }])
      assert.equal(await store.getJob(database, 't1'), null)
    },
  )

  check('an open interruption keeps an expired conversation only until its own time is over [E79]', async (store) => {
    const kept: string[] = []
    for (const [id, expiresAt] of Object.entries({ over: past, ahead: future, never: null })) {
      const job = await beginOver(store, id)
      const open = [interruption(job, `i ${id}`, { expiresAt })]
      await store.append({ ...by(job), entries: [], open, jobs: [rest(id)] })
      if ((await store.getConversation(database, job.conversation)) !== null) kept.push(id)
      const result = await store.append({ database, conversation: job.conversation, entries: [] })
      assert.equal(result.ok ? 'stored' : result.reason, id === 'over' ? 'missing' : 'stored')
    }
    assert.deepEqual(kept, ['ahead', 'never'])
    assert.deepEqual(await listed(store), ['chats/never', 'chats/ahead'])
    assert.deepEqual(idsOf(await store.sweepConversations(10)), ['chats/over'])
    assert.equal(await store.getInterruption(database, 'i over'), null)
  })
}
