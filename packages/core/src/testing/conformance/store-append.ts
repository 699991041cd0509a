/** Conformance of stores: what an append stores, what it refuses, and what comes back. */
import assert from 'node:assert/strict'
import type { Entry } from '@witan/protocol/entries'
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
  textsOf,
  wake,
} from './store-fixtures.ts'

/** Registers the tests of appends. */
export function checkAppends(check: Check): void {
  check('creation, entries and job are one append', async (store) => {
    const create = conversation('chats/1', { createdBy: 'user:bo', maxModelIterationsPerCall: 7 })
    const entries = [entry('one'), entry('two')]
    const job = newJob(store, { id: 'j1' })
    const result = await store.append({
      database,
      conversation: 'chats/1',
      create,
      entries,
      job,
      messageAt: 77,
    } as Append)
    assert.ok(result.ok)
    assert.deepEqual([result.before, result.lastSeq], [0, 2])
    assert.deepEqual(await store.getConversation(database, 'chats/1'), { ...create, lastSeq: 2, lastMessageAt: 77 })
    const { leaseUntil, ...row } = (await store.getJob(database, 'j1')) ?? assert.fail()
    assert.ok(leaseUntil > store.now())
    const times = { startedAt: 5, endedAt: null, firstSeq: 1 }
    const fresh = { status: 'running', owner: 'w1', epoch: 1, wake: false, attempts: 1, result: null }
    assert.deepEqual(row, { id: 'j1', database, conversation: 'chats/1', ...fresh, ...times })
    assert.deepEqual(result.job, { ...row, leaseUntil })
  })

  check('entries get their seq when they are stored', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const entries = [entry('a', 'j1'), entry('b', 'j1')]
    await store.append({ ...by(job), entries })
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      [2, 3],
    )
    const read = await store.readEntries(database, job.conversation, { after: 1, limit: 10 })
    assert.deepEqual(read, entries)
  })

  check('only a message moves the date of the last one', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...by(job), entries: [entry('a', 'j1')] })
    assert.equal((await store.getConversation(database, job.conversation))?.lastMessageAt, 1)
    await store.append({ ...by(job), entries: [entry('b', 'j1')], messageAt: 99 })
    assert.equal((await store.getConversation(database, job.conversation))?.lastMessageAt, 99)
  })

  check('seq has no gap when jobs and others append at once [I2]', interleaved)
  check('appends made in one turn are stored in their order', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const texts = Array.from({ length: 30 }, (_, index) => String(index))
    const results = await Promise.all(texts.map((text) => store.append({ ...by(job), entries: [entry(text, 'j1')] })))
    assert.deepEqual(
      results.map((result) => result.ok && result.before),
      texts.map((_, index) => index + 1),
    )
    assert.deepEqual(await textsOf(store, job.conversation), ['hello', ...texts])
  })
  check('a page of entries ends where it is told to', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...by(job), entries: ['a', 'b', 'c'].map((text) => entry(text, 'j1')) })
    const page = await store.readEntries(database, job.conversation, { after: 1, limit: 2 })
    assert.deepEqual(
      page.map(({ seq }) => seq),
      [2, 3],
    )
    assert.deepEqual(await store.readEntries(database, job.conversation, { after: 4, limit: 2 }), [])
    assert.deepEqual(await store.readEntries(database, 'chats/none', { after: 0, limit: 2 }), [])
  })
  checkRefusals(check)
}

async function interleaved(store: Store): Promise<void> {
  await start(store, 'chats/other')
  const jobs = await Promise.all(['j1', 'j2', 'j3'].map((id) => begin(store, { id })))
  const rounds = Array.from({ length: 10 }, (_, index) => index)
  const appends = rounds.flatMap((round) =>
    jobs.flatMap((job) => {
      const { database, conversation, fence } = by(job)
      const own = [entry(`own ${round}`, job.id), entry(`own ${round} too`, job.id)]
      const foreign = [entry(`foreign ${round}`, job.id)]
      return [
        store.append({ database, conversation, fence, entries: own }),
        store.append({ database, conversation, entries: foreign }),
      ]
    }),
  )
  for (const { ok } of await Promise.all(appends)) assert.ok(ok)
  const expected = rounds.flatMap((round) => [`own ${round}`, `own ${round} too`, `foreign ${round}`])
  for (const { conversation } of jobs) assert.deepEqual(await textsOf(store, conversation), ['hello', ...expected])
  assert.deepEqual(await textsOf(store, 'chats/other'), ['hello'])
}

/** What a refused append must leave as it was. */
async function everythingOf(store: Store, id: string): Promise<unknown> {
  const entries = await store.readEntries(database, id, { after: 0, limit: 100 })
  const interruptions = await store.listInterruptions(database, {
    limit: 100,
    after: null,
    state: null,
    conversation: id,
  })
  const jobs = await store.listJobs(database, id)
  return structuredClone([await store.getConversation(database, id), entries, interruptions, jobs])
}

interface Refused {
  readonly reason: string
  readonly append: (store: Store) => Promise<Append>
}

const entries = (): Entry[] => [entry('no')]

const refusals: readonly Refused[] = [
  {
    reason: 'exists',
    append: async () => ({ database, conversation: 'chats/j1', create: conversation('chats/j1'), entries: entries() }),
  },
  { reason: 'missing', append: async () => ({ database, conversation: 'chats/2', entries: entries() }) },
  { reason: 'fenced', append: async (store) => ({ ...(await writer(store, 7)), entries: entries() }) },
  { reason: 'moved', append: async (store) => ({ ...(await writer(store)), ifLastSeq: 7, entries: entries() }) },
  {
    reason: 'active',
    append: async (store) => {
      const job = newJob(store, { id: 'j2' })
      return { database, conversation: 'chats/j1', entries: entries(), messageAt: 99, job } as Append
    },
  },
  {
    reason: 'inactive',
    append: async (store) => ({ ...(await writer(store)), entries: entries(), job: wake(store, 'j0') }) as Append,
  },
  {
    reason: 'settled',
    append: async (store) => {
      const settle = [
        { id: 'i1', state: 'answered', answer: 1, by: null, at: 3 },
        { id: 'i0', state: 'answered', answer: 2, by: null, at: 3 },
      ] as const
      return { ...(await writer(store)), entries: entries(), settle, job: rest('j1') } as Append
    },
  },
  {
    reason: 'woken',
    append: async (store) => {
      await store.append({ database, conversation: 'chats/j1', entries: [], job: wake(store, 'j1') } as Append)
      const open = [interruption((await store.getJob(database, 'j1')) ?? assert.fail(), 'i2')]
      return { ...(await writer(store)), entries: entries(), open, job: rest('j1') } as Append
    },
  },
]

async function writer(store: Store, epoch?: number): Promise<ReturnType<typeof by>> {
  const job = (await store.getJob(database, 'j1')) ?? assert.fail()
  return by({ ...job, epoch: epoch ?? job.epoch })
}

function checkRefusals(check: Check): void {
  for (const { reason, append } of refusals) {
    check(`an append refused with ${reason} stores nothing`, async (store) => {
      const job = await begin(store, { id: 'j1' })
      const open = [interruption(job, 'i0'), interruption(job, 'i1')]
      await store.append({ ...by(job), entries: [entry('ask', 'j1')], open })
      const settle = [{ id: 'i0', state: 'answered', answer: 'yes', by: 'user:anna', at: 8 }] as const
      await store.append({ ...by(job), entries: [], settle })
      const member = await append(store)
      const before = await everythingOf(store, 'chats/j1')
      const result = await store.append(member)
      assertRefused(result, reason)
      if (reason === 'woken') {
        const cleared = (await store.getJob(database, 'j1')) ?? assert.fail()
        assert.equal(cleared.wake, false)
        assert.deepEqual(result.job, cleared)
        const again = await store.append({ ...by(job), entries: [], job: wake(store, 'j1') } as Append)
        assert.ok(again.ok)
      }
      assert.deepEqual(await everythingOf(store, 'chats/j1'), before)
      assert.equal(await store.getConversation(database, 'chats/2'), null)
      assert.equal(await store.getJob(database, 'j2'), null)
      if (reason === 'active') assert.equal(result.job?.id, 'j1')
    })
  }

  check('a refused append does not keep back the others of its turn', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const wrong = { ...by(job), fence: { job: 'j1', epoch: 9 } }
    const results = await Promise.all([
      store.append({ ...by(job), entries: [entry('a', 'j1')] }),
      store.append({ ...wrong, entries: [entry('no', 'j1')] }),
      store.append({ ...by(job), entries: [entry('b', 'j1')] }),
    ])
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [true, false, true],
    )
    assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'a', 'b'])
  })

  check('a job fences only its own conversation', async (store) => {
    await start(store, 'chats/1')
    const { fence } = by(await begin(store, { id: 'j1' }))
    assertRefused(await store.append({ database, conversation: 'chats/1', fence, entries: [] }), 'fenced')
    const job = rest('j1') as NonNullable<Append['job']>
    assertRefused(await store.append({ database, conversation: 'chats/1', entries: [], job }), 'inactive')
  })
}
