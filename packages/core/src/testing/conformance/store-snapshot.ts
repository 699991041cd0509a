/** Conformance of stores: export and import of conversations, and the list of databases. */
import assert from 'node:assert/strict'
import { isWitanError } from '@witan/protocol'
import type { JobRow, Store, WholeConversation } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  change,
  claim,
  conversation,
  database,
  entry,
  idsOf,
  interruption,
  jobOf,
  past,
  reply,
  rest,
  settlement,
  start,
  wake,
  wholePage,
} from './store-fixtures.ts'

const other = 'other'

async function wholeOf(store: Store, id: string, at = database): Promise<WholeConversation> {
  return (await store.readWhole(at, id)) ?? assert.fail(`there is no ${id}`)
}

/** A conversation with jobs of every status and an interruption of every state. */
async function lively(store: Store): Promise<string> {
  const run = await begin(store, { id: 'j1', in: 'chats/1' })
  await store.append({ ...change(run, rest('j1')), hide: ['region'], messageAt: 77 })
  await addJob(store, { id: 'j2', in: 'chats/1' })
  for (const status of ['waiting', 'failed', 'cancelled'] as const) {
    const task = await addJob(store, { id: `t ${status}`, kind: 'task', in: 'chats/1' })
    await store.append({ ...by(task), entries: [entry('mine', task.id)], jobs: [rest(task.id, status)] })
  }
  const woken = await addJob(store, { id: 't woken', kind: 'task', in: 'chats/1' })
  await store.append({ ...by(woken), entries: [], jobs: [rest('t woken', 'waiting')] })
  await store.append(change(woken, wake('t woken', null)))
  await addJob(store, { id: 't queued', kind: 'task', owner: null, in: 'chats/1' })
  await addJob(store, { id: 't lapsed', kind: 'task', leaseMs: -1000, in: 'chats/1' })
  await store.claimJobs({ owner: 'w2', leaseMs: 60_000, limit: 10 })
  await addJob(store, { id: 't fresh', kind: 'task', owner: null, in: 'chats/1' })
  const open = ['i3', 'i1', 'i2'].map((id) => interruption(run, id, { expiresAt: id === 'i2' ? past : null }))
  await store.append({ database, conversation: 'chats/1', entries: [], open })
  await store.append({ database, conversation: 'chats/1', entries: [], settle: [settlement('i1')] })
  return 'chats/1'
}

/** Registers the tests of moving conversations. */
export function checkWhole(check: Check): void {
  check('a trial of the store leaves nothing, however often it is made', async (store) => {
    await store.checkWritable()
    assert.deepEqual(await store.listDatabases(), [])
    const id = await lively(store)
    const before = await wholeOf(store, id)
    await Promise.all([store.checkWritable(), store.checkWritable(), start(store, 'chats/beside')])
    await store.checkWritable()
    assert.deepEqual(await wholeOf(store, id), before)
    const all = await store.listConversations(database, { ...wholePage, agent: null, createdBy: null })
    assert.deepEqual(idsOf(all), ['chats/beside', id])
  })

  check('a whole conversation is its row, its entries, its jobs and its interruptions', async (store) => {
    const id = await lively(store)
    await begin(store, { id: 'elsewhere' })
    const { row, entries, jobs, interruptions } = await wholeOf(store, id)
    assert.deepEqual(row, await store.getConversation(database, id))
    assert.deepEqual(entries, await store.readEntries(database, id, { after: 0, limit: 1000 }))
    assert.equal(entries.length, row.lastSeq)
    assert.deepEqual(jobs, await store.listJobs(database, id))
    assert.deepEqual(
      interruptions.map(({ view }) => `${view.id} ${view.state}`),
      ['i3 open', 'i1 answered', 'i2 open'],
    )
    assert.deepEqual(interruptions[1], await store.getInterruption(database, 'i1'))
    assert.equal(await store.readWhole(database, 'chats/none'), null)
    assert.equal(await store.readWhole(other, id), null)
  })

  check('what is read whole is of one moment, also while others append', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const appends = Array.from({ length: 40 }, (_, index) =>
      store.append({ ...by(job), entries: [entry(`${index}`, 'j1')], open: [interruption(job, `i${index}`)] }),
    )
    for (let read = 0; read < 5; read += 1) {
      const { row, entries, interruptions } = await wholeOf(store, job.conversation)
      assert.deepEqual([entries.length, interruptions.length], [row.lastSeq, row.lastSeq - 1])
    }
    for (const { ok } of await Promise.all(appends)) assert.ok(ok)
    assert.equal((await wholeOf(store, job.conversation)).entries.length, 41)
  })

  check('a conversation that has expired is not there to be read whole', async (store) => {
    await start(store, 'chats/over', { expiresAt: past })
    assert.equal(await store.readWhole(database, 'chats/over'), null)
  })
  checkArrival(check)
  checkRefusedArrival(check)
  check('the databases that hold anything are listed in order', async (store) => {
    assert.deepEqual(await store.listDatabases(), [])
    await start(store, 'chats/1', { database: 'b' })
    await start(store, 'chats/2', { database: 'b' })
    await store.getConversation('nobody', 'chats/1')
    await store.listAgents('nobody')
    await start(store, 'chats/1', { database: 'a-1' })
    await start(store, 'chats/1', { database: 'B' })
    assert.deepEqual(await store.listDatabases(), ['B', 'a-1', 'b'])
    await store.deleteConversation('a-1', 'chats/1')
    await store.beginReply('c', reply('k'))
    assert.deepEqual(await store.listDatabases(), ['B', 'b', 'c'])
  })
}

/** An imported job without `wake` and without the lease, which means nothing for a job without an owner. */
function moved({ wake: _, leaseUntil: __, ...job }: JobRow) {
  return { ...job, database: other, owner: null }
}

function arrivedJobs({ jobs }: WholeConversation) {
  return jobs.map(({ wake: _, leaseUntil: __, ...job }) => job)
}

function checkArrival(check: Check): void {
  check('a whole conversation arrives as it was, with jobs that nobody owns', async (store) => {
    const id = await lively(store)
    const whole = structuredClone(await wholeOf(store, id))
    assert.equal(await store.putWhole(other, whole), true)
    const arrived = await wholeOf(store, id, other)
    assert.deepEqual(arrived.row, { ...whole.row, database: other })
    assert.deepEqual(arrived.entries, whole.entries)
    assert.deepEqual(arrivedJobs(arrived), whole.jobs.map(moved))
    assert.deepEqual(
      arrived.interruptions,
      whole.interruptions.map((one) => ({ ...one, database: other })),
    )
    assert.deepEqual(await wholeOf(store, id), whole, 'the first one is left as it was')
  })

  check(
    'of the jobs that arrive, those at work, queued or woken can be claimed, and parked ones wait',
    async (store) => {
      const id = await lively(store)
      const whole = structuredClone(await wholeOf(store, id))
      await store.deleteConversation(database, id)
      assert.deepEqual(await claim(store, 'w3'), [])
      assert.equal(await store.putWhole(database, whole), true)
      const woken = idsOf((await store.listJobs(database, id)).filter((job) => job.endedAt === null && job.wake))
      const claimed = await claim(store, 'w3')
      assert.deepEqual(claimed, ['j2', 't fresh', 't lapsed', 't queued', 't woken'])
      assert.deepEqual(woken.toSorted(), claimed)
      for (const job of whole.jobs.filter((one) => claimed.includes(one.id))) {
        assert.equal((await jobOf(store, job.id)).epoch, job.epoch + 1)
        if (job.owner !== null) assertRefused(await store.append({ ...by(job), entries: [] }), 'fenced')
      }
      const parked = await jobOf(store, 't waiting')
      assert.deepEqual([parked.status, parked.owner, parked.wake], ['waiting', null, false])
      assert.equal((await store.append(change(parked, wake('t waiting')))).ok, true)
    },
  )

  check('a conversation goes on where it was before it was moved', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [entry('more', 'j1')] })
    const whole = structuredClone(await wholeOf(store, 'chats/1'))
    await store.deleteConversation(database, 'chats/1')
    await start(store, 'chats/2')
    assert.ok(await store.putWhole(database, whole))
    const rows = await store.listConversations(database, { limit: 9, after: null, agent: null, createdBy: null })
    assert.deepEqual(idsOf(rows), ['chats/1', 'chats/2'])
    const more = [entry('then', 'j1')]
    const result = await store.append({ database, conversation: 'chats/1', entries: more })
    assert.deepEqual([result.ok && result.before, more[0]?.seq], [2, 3])
    assertRefused(await store.append(change(job, { ...wake('none') })), 'inactive')
    await addJob(store, { id: 't1', kind: 'task', in: 'chats/1' })
    assert.deepEqual(idsOf(await store.listJobs(database, 'chats/1', { live: true })), ['j1', 't1'])
  })

  check('a conversation whose time is over makes room for one that arrives', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')], jobs: [rest('j1')] })
    const whole = structuredClone(await wholeOf(store, 'chats/1'))
    await store.deleteConversation(database, 'chats/1')
    const over = conversation('chats/1', { expiresAt: past })
    await store.append({ database, conversation: 'chats/1', create: over, entries: [entry('old'), entry('older')] })
    assert.equal(await store.putWhole(database, whole), true)
    const { jobs: _, ...arrived } = await wholeOf(store, 'chats/1')
    const { jobs, ...expected } = whole
    assert.deepEqual(arrived, expected)
    assert.deepEqual(idsOf(await store.listJobs(database, 'chats/1')), idsOf(jobs))
    assert.deepEqual(await store.sweepConversations(10), [])
  })
}

function checkRefusedArrival(check: Check): void {
  check('a conversation does not arrive where an id of it is taken, and nothing of it is stored', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    const whole = structuredClone(await wholeOf(store, 'chats/1'))
    const elsewhere = { ...whole, row: { ...whole.row, id: 'chats/2' } }
    const renamed = { ...elsewhere, jobs: whole.jobs.map((one) => ({ ...one, id: 'j2' })) }
    for (const one of [whole, elsewhere, { ...elsewhere, interruptions: [] }, renamed]) {
      assert.equal(await store.putWhole(database, one), false)
    }
    assert.deepEqual(await wholeOf(store, 'chats/1'), whole)
    assert.equal(await store.getConversation(database, 'chats/2'), null)
    assert.equal(await store.getJob(database, 'j2'), null)
    assert.deepEqual(await store.readEntries(database, 'chats/2', { after: 0, limit: 9 }), [])
    const free = {
      ...renamed,
      interruptions: whole.interruptions.map((one) => ({ ...one, view: { ...one.view, id: 'i2' } })),
    }
    assert.equal(await store.putWhole(database, free), true)
    assert.equal((await store.getInterruption(database, 'i2'))?.conversation, 'chats/2')
  })

  check('of two arrivals at once one is stored', async (store) => {
    await begin(store, { id: 'j1', in: 'chats/1' })
    const whole = structuredClone(await wholeOf(store, 'chats/1'))
    const results = await Promise.all([1, 2, 3].map(() => store.putWhole(other, whole)))
    assert.deepEqual(results.toSorted(), [false, false, true])
    assert.deepEqual(await wholeOf(store, 'chats/1', other).then(({ entries }) => entries), whole.entries)
  })

  check('parts that do not belong together are an error, and nothing of them is stored', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [entry('more', 'j1')], open: [interruption(job, 'i1')] })
    const whole = structuredClone(await wholeOf(store, 'chats/1'))
    const { row, entries, jobs, interruptions } = whole
    const second = { ...(jobs[0] as JobRow), id: 'j2' }
    const broken: readonly WholeConversation[] = [
      { ...whole, entries: entries.slice(1) },
      { ...whole, entries: entries.slice(0, 1) },
      { ...whole, entries: entries.toReversed() },
      { ...whole, row: { ...row, lastSeq: 9 } },
      { ...whole, jobs: [...jobs, ...jobs] },
      { ...whole, jobs: [...jobs, second] },
      { ...whole, interruptions: [...interruptions, ...interruptions] },
    ]
    for (const one of broken) {
      const error = await store.putWhole(other, one).then(
        () => assert.fail('it was taken'),
        (reason: unknown) => reason,
      )
      assert.ok(isWitanError(error) && error.code === 'BODY_INVALID', String(error))
    }
    assert.equal(await store.getConversation(other, 'chats/1'), null)
    assert.deepEqual(await store.listDatabases(), [database])
    const ended = { ...second, status: 'completed', endedAt: 9 } as const
    assert.equal(await store.putWhole(other, { ...whole, jobs: [...jobs, ended] }), true)
  })
}
