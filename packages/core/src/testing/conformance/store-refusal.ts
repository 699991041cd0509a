/** Conformance of stores: the refusals of an append, and that a refused append stores nothing. */
import assert from 'node:assert/strict'
import type { Entry } from '@witan/protocol/entries'
import type { Append, JobRow, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  change,
  conversation,
  database,
  entry,
  interruption,
  interruptionsOf,
  jobOf,
  newJob,
  rest,
  settlement,
  start,
  textsOf,
  wake,
} from './store-fixtures.ts'

/** The state that a refused append must not change. */
async function everythingOf(store: Store, id: string): Promise<unknown> {
  const entries = await store.readEntries(database, id, { after: 0, limit: 100 })
  const interruptions = await interruptionsOf(store, id)
  const jobs = await store.listJobs(database, id)
  return structuredClone([await store.getConversation(database, id), entries, interruptions, jobs])
}

interface Refused {
  readonly reason: string
  readonly append: (store: Store) => Promise<Append>
}

/** What a writer follows that knows of an entry with this seq. */
const follows = (store: Store, seq: number) => ({ history: store.history, entry: { ...entry('known'), seq } })

const entries = (): Entry[] => [entry('no')]
/** A reservation of a reply that was never begun. */
const note = { key: 'k', at: 1, text: 'no' }
/** The principal of nearly all conversations here has one run, and may have no other. */
const runLimit = { createdBy: conversation('').createdBy, most: 1 }

const refusals: readonly Refused[] = [
  {
    reason: 'reply-taken',
    append: async (store) => ({ ...(await writer(store)), entries: entries(), jobs: [rest('j1')], note }),
  },
  {
    reason: 'exists',
    append: async () => ({ database, conversation: 'chats/j1', create: conversation('chats/j1'), entries: entries() }),
  },
  { reason: 'missing', append: async () => ({ database, conversation: 'chats/2', entries: entries() }) },
  {
    reason: 'went-back',
    append: async (store) => ({ ...(await writer(store)), follows: follows(store, 7), entries: entries() }),
  },
  { reason: 'fenced', append: async (store) => ({ ...(await writer(store, 7)), entries: entries() }) },
  {
    reason: 'fenced',
    append: async (store) => {
      const { fence, ...at } = await writer(store)
      return { ...at, fence: { ...fence, owner: 'another' }, entries: entries() }
    },
  },
  { reason: 'moved', append: async (store) => ({ ...(await writer(store)), ifLastSeq: 7, entries: entries() }) },
  {
    reason: 'active',
    append: async () => {
      const jobs = [newJob({ id: 'j2' })]
      return { database, conversation: 'chats/j1', entries: entries(), messageAt: 99, jobs }
    },
  },
  {
    reason: 'inactive',
    append: async (store) => ({ ...(await writer(store)), entries: entries(), jobs: [wake('j0')] }),
  },
  {
    reason: 'settled',
    append: async (store) => {
      const settle = [settlement('i1'), settlement('i0')]
      return { ...(await writer(store)), entries: entries(), settle, jobs: [rest('j1')] }
    },
  },
  {
    reason: 'too-many',
    append: async () => {
      const create = conversation('chats/2')
      return { database, conversation: create.id, create, entries: entries(), jobs: [newJob({ id: 'j2' })], runLimit }
    },
  },
  {
    reason: 'woken',
    append: async (store) => {
      await store.append({ database, conversation: 'chats/j1', entries: [], jobs: [wake('j1')] })
      const open = [interruption(await jobOf(store, 'j1'), 'i2')]
      return { ...(await writer(store)), entries: entries(), open, jobs: [rest('j1')] }
    },
  },
]

async function writer(store: Store, epoch?: number): Promise<ReturnType<typeof by>> {
  const job = await jobOf(store, 'j1')
  return by({ ...job, epoch: epoch ?? job.epoch })
}

/** Registers the tests of refusals. */
export function checkRefusals(check: Check): void {
  for (const { reason, append } of refusals) {
    check(`an append refused with ${reason} stores nothing`, async (store) => {
      const job = await begin(store, { id: 'j1' })
      const open = [interruption(job, 'i0'), interruption(job, 'i1')]
      await store.append({ ...by(job), entries: [entry('ask', 'j1')], open })
      await store.append({ ...by(job), entries: [], settle: [settlement('i0')] })
      const member = await append(store)
      const before = await everythingOf(store, 'chats/j1')
      const result = await store.append(member)
      assertRefused(result, reason)
      const told = result.ok ? null : result.job
      if (reason === 'woken') {
        const cleared = await jobOf(store, 'j1')
        assert.equal(cleared.wake, false)
        assert.deepEqual(told, cleared)
        const again = await store.append({ ...by(job), entries: [], jobs: [wake('j1')] })
        assert.ok(again.ok)
      }
      assert.deepEqual(await everythingOf(store, 'chats/j1'), before)
      assert.equal(await store.getConversation(database, 'chats/2'), null)
      assert.equal(await store.getJob(database, 'j2'), null)
      if (reason === 'active') assert.equal(told?.id, 'j1')
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

  check('a refused append gives its entries no seq', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const entries = [entry('no', 'j1')]
    assertRefused(await store.append({ ...by(job), ifLastSeq: 9, entries }), 'moved')
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      [0],
    )
    assert.ok((await store.append({ ...by(job), ifLastSeq: 1, entries })).ok)
    assert.equal(entries[0]?.seq, 2)
  })
  checkFences(check)
  checkReasons(check)
}

async function assertFenced(store: Store, { database, conversation }: JobRow, fence: { job: string; epoch: number }) {
  const result = await store.append({ database, conversation, fence, entries: [entry('no', fence.job)] })
  assertRefused(result, 'fenced')
  return result.ok ? null : result.job
}

function checkFences(check: Check): void {
  check('a job fences only its own conversation', async (store) => {
    const elsewhere = await begin(store, { id: 'j1' })
    const job = await begin(store, { id: 'j2' })
    assert.equal(await assertFenced(store, job, { job: 'j1', epoch: 1 }), null)
    assert.equal(await assertFenced(store, job, { job: 'none', epoch: 1 }), null)
    for (const how of [rest('j1'), wake('j1')]) assertRefused(await store.append(change(job, how)), 'inactive')
    assert.deepEqual(await jobOf(store, 'j1'), elsewhere)
    const create = conversation('chats/new')
    const fence = { job: 'j1', epoch: 1 }
    assertRefused(await store.append({ database, conversation: create.id, create, fence, entries: [] }), 'fenced')
  })

  check(
    'only the owner of a live job writes for it: not before it has one, nor after it gave it up [D5]',
    async (store) => {
      const { conversation } = await begin(store, { id: 'j1' })
      const queued = await addJob(store, { id: 't1', kind: 'task', owner: null, in: conversation })
      assert.equal((await assertFenced(store, queued, { job: 't1', epoch: queued.epoch }))?.status, 'queued')
      for (const status of ['waiting', 'completed', 'failed', 'cancelled'] as const) {
        const job = await addJob(store, { id: `t ${status}`, kind: 'task', in: conversation })
        const { fence } = by(job)
        assert.ok(
          (await store.append({ ...by(job), entries: [entry('mine', job.id)], jobs: [rest(job.id, status)] })).ok,
        )
        assert.deepEqual(await assertFenced(store, job, fence), await jobOf(store, job.id))
      }
      const released = await addJob(store, { id: 't2', kind: 'task', in: conversation })
      await store.releaseJobs('w1', [{ database, id: 't2' }])
      assert.equal((await assertFenced(store, released, by(released).fence))?.owner, null)
      for (const epoch of [0, 2]) await assertFenced(store, released, { job: 'j1', epoch })
      assert.ok((await store.append({ ...by(await jobOf(store, 'j1')), entries: [] })).ok)
    },
  )

  check('a lease that has lapsed fences nobody until somebody else has the job', async (store) => {
    const job = await begin(store, { id: 'j1', leaseMs: -1000 })
    assert.ok((await store.append({ ...by(job), entries: [entry('late', 'j1')] })).ok)
    await store.claimJobs({ owner: 'w2', leaseMs: 60_000, limit: 1 })
    assert.equal((await assertFenced(store, job, by(job).fence))?.owner, 'w2')
  })
}

function checkReasons(check: Check): void {
  check(
    'of several reasons the first is told: reply, existence, what it follows, fence, seq, interruptions, jobs, limit',
    async (store) => {
      const job = await begin(store, { id: 'j1' })
      const settle = [settlement('none')]
      const jobs = [rest('none')]
      const wrong = { database, entries: [], ifLastSeq: 9, settle, jobs, fence: { job: 'j1', epoch: 7 }, runLimit }
      const at = { ...wrong, conversation: job.conversation }
      assertRefused(await store.append({ ...wrong, conversation: 'chats/none', note }), 'reply-taken')
      assertRefused(await store.append({ ...wrong, conversation: 'chats/none' }), 'missing')
      assertRefused(await store.append({ ...at, create: conversation(job.conversation) }), 'exists')
      assertRefused(await store.append({ ...at, follows: follows(store, 9) }), 'went-back')
      assertRefused(await store.append(at), 'fenced')
      assertRefused(await store.append({ ...at, ...by(job) }), 'moved')
      assertRefused(await store.append({ ...at, ...by(job), ifLastSeq: 1 }), 'settled')
      assertRefused(await store.append({ ...by(job), entries: [], jobs, runLimit }), 'inactive')
      const active = await store.append({ ...change(job, newJob({ id: 'j2' })), runLimit })
      assertRefused(active, 'active')
      assert.equal(active.ok ? null : active.job?.id, 'j1', 'a message for a live run is told so')
    },
  )

  check('the first change that is refused refuses all of them, and the mark of a later one stays', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const at = job.conversation
    const task = await addJob(store, { id: 't1', kind: 'task', in: at })
    await store.append(change(task, wake('t1')))
    const changes = [newJob({ id: 't2', kind: 'task' }), rest('j1', 'waiting'), wake('none'), rest('t1')]
    const result = await store.append({ database, conversation: at, entries: [entry('no')], jobs: changes })
    assertRefused(result, 'inactive')
    assert.equal(await store.getJob(database, 't2'), null)
    assert.deepEqual(await jobOf(store, 'j1'), job)
    assert.equal((await jobOf(store, 't1')).wake, true)
    assert.equal((await store.getConversation(database, at))?.lastSeq, 3)
  })

  check('the live run is told with active, and an id that is taken is told first', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const elsewhere = await begin(store, { id: 'j2' })
    const active = await store.append(change(job, newJob({ id: 'j3' })))
    assertRefused(active, 'active')
    assert.deepEqual(active.ok ? null : active.job, job)
    const again = await store.append(change(job, newJob({ id: 'j1' })))
    assertRefused(again, 'exists')
    assert.deepEqual(again.ok ? null : again.job, job)
    for (const kind of ['run', 'task'] as const) {
      assertRefused(await store.append(change(job, newJob({ id: 'j2', kind }))), 'exists')
    }
    await store.append(change(job, rest('j1')))
    assertRefused(await store.append(change(job, newJob({ id: 'j1' }))), 'exists')
    assertRefused(await store.append({ ...change(job, newJob({ id: 'j2' })), entries: [] }), 'exists')
    assert.deepEqual(await jobOf(store, 'j2'), elsewhere)
    assert.ok((await store.append(change(job, newJob({ id: 'j3' })))).ok)
  })

  check('an interruption is settled once, and only by an append to its own conversation', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await start(store, 'chats/other')
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1'), interruption(job, 'i2')] })
    const settle = [settlement('i1')]
    assertRefused(await store.append({ database, conversation: 'chats/other', entries: [], settle }), 'settled')
    const twice = [settlement('i2'), settlement('i1'), settlement('i2', { answer: 'no' })]
    assertRefused(await store.append({ ...by(job), entries: [], settle: twice }), 'settled')
    assert.deepEqual(
      (await interruptionsOf(store)).map(({ view }) => view.state),
      ['open', 'open'],
    )
    assert.ok((await store.append({ ...by(job), entries: [], settle })).ok)
  })
}
