/** Conformance of stores: conversations whose time is over. */
import assert from 'node:assert/strict'
import type { Append, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  assertRefused,
  begin,
  by,
  conversation,
  database,
  entry,
  interruption,
  newJob,
  rest,
  start,
} from './store-fixtures.ts'

/** Long over, whatever the store's clock says; and never over. */
const past = 1000
const future = 9e15

async function listed(store: Store): Promise<readonly string[]> {
  const rows = await store.listConversations(database, { limit: 50, after: null, agent: null, createdBy: null })
  return rows.map(({ id }) => id)
}

/** A conversation that is over, with a job that is still at work in it. */
async function beginOver(store: Store, id: string) {
  const create = conversation(`chats/${id}`, { expiresAt: past })
  const append = {
    database,
    conversation: create.id,
    create,
    entries: [entry('hello', id)],
    job: newJob(store, { id }),
  }
  const result = await store.append(append as Append)
  assert.ok(result.ok && result.job !== null)
  return result.job
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
    assert.ok((await store.append({ ...by(job), entries: [], job: rest('j1') } as Append)).ok)
    assert.deepEqual(await store.sweepConversations(10), [], 'an interruption is open')
    const settle = [{ id: 'i1', state: 'cancelled', answer: null, by: null, at: 8 }] as const
    assert.ok((await store.append({ database, conversation: job.conversation, entries: [], settle })).ok)
    assert.deepEqual(await store.sweepConversations(10), [{ database, id: job.conversation }])
    assert.deepEqual([await store.getJob(database, 'j1'), await store.getInterruption(database, 'i1')], [null, null])
  })

  check('an id whose conversation has expired is free again, and nothing of the old one is left', async (store) => {
    const job = await beginOver(store, 'j1')
    await store.append({ ...by(job), entries: [entry('old', 'j1')], job: rest('j1') } as Append)
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
