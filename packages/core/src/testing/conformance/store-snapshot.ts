/** Conformance of stores: export and import of conversations, and the list of databases. */
import assert from 'node:assert/strict'
import { isWitanError } from '@witan/protocol'
import { auditOf, auditTable } from '../../store/audit.ts'
import { collected } from '../../store/open-snapshot.ts'
import type { ConversationSnapshot, JobRow, Store } from '../../store/store.ts'
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

async function snapshotOf(store: Store, id: string, at = database): Promise<ConversationSnapshot> {
  return (await store.readSnapshot(at, id)) ?? assert.fail(`there is no ${id}`)
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
export function checkSnapshots(check: Check): void {
  check('a trial of the store leaves nothing, however often it is made', async (store) => {
    await store.checkWritable()
    await store.confirmStored(database)
    assert.deepEqual(await store.listDatabases(), [])
    const id = await lively(store)
    const before = await snapshotOf(store, id)
    await Promise.all([store.checkWritable(), store.checkWritable(), start(store, 'chats/beside')])
    await store.checkWritable()
    assert.deepEqual(await snapshotOf(store, id), before)
    const all = await store.listConversations(database, { ...wholePage, agent: null, createdBy: null })
    assert.deepEqual(idsOf(all), ['chats/beside', id])
  })

  check('a snapshot has the row of a conversation, its entries, its jobs and its interruptions', async (store) => {
    const id = await lively(store)
    await begin(store, { id: 'elsewhere' })
    const { row, entries, jobs, interruptions } = await snapshotOf(store, id)
    assert.deepEqual(row, await store.getConversation(database, id))
    assert.deepEqual(entries, await store.readEntries(database, id, { after: 0, limit: 1000 }))
    assert.equal(entries.length, row.lastSeq)
    assert.deepEqual(jobs, await store.listJobs(database, id))
    assert.deepEqual(
      interruptions.map(({ view }) => `${view.id} ${view.state}`),
      ['i3 open', 'i1 answered', 'i2 open'],
    )
    assert.deepEqual(interruptions[1], await store.getInterruption(database, 'i1'))
    assert.equal(await store.readSnapshot(database, 'chats/none'), null)
    assert.equal(await store.readSnapshot(other, id), null)
  })

  check('a snapshot is of one moment, also while others append', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const appends = Array.from({ length: 40 }, (_, index) =>
      store.append({ ...by(job), entries: [entry(`${index}`, 'j1')], open: [interruption(job, `i${index}`)] }),
    )
    for (let read = 0; read < 5; read += 1) {
      const { row, entries, interruptions } = await snapshotOf(store, job.conversation)
      assert.deepEqual([entries.length, interruptions.length], [row.lastSeq, row.lastSeq - 1])
    }
    for (const { ok } of await Promise.all(appends)) assert.ok(ok)
    assert.equal((await snapshotOf(store, job.conversation)).entries.length, 41)
  })

  check('a conversation that has expired has no snapshot', async (store) => {
    await start(store, 'chats/over', { expiresAt: past })
    assert.equal(await store.readSnapshot(database, 'chats/over'), null)
  })
  checkOpenSnapshots(check)
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

function checkOpenSnapshots(check: Check): void {
  check('an open snapshot stays as it was, whatever happens before it is read', async (store) => {
    const id = await lively(store)
    const before = await snapshotOf(store, id)
    const snapshot = (await store.openSnapshot(database, id)) ?? assert.fail()
    const [run, queued] = [await jobOf(store, 'j2'), await jobOf(store, 't queued')]
    const settle = [settlement('i3'), settlement('i2')]
    await store.append({ ...by(run), entries: [entry('later', 'j2')], settle, jobs: [rest('j2')] })
    await store.append({ ...by(queued), entries: [], jobs: [rest('t queued', 'failed')] })
    await addJob(store, { id: 'j3', in: id })
    await addJob(store, { id: 't later', kind: 'task', in: id })
    await store.append({ database, conversation: id, entries: [], open: [interruption(run, 'i0')] })
    for (let read = 0; read < 2; read += 1) assert.deepEqual(await collected(snapshot), before)
    assert.notDeepEqual(await snapshotOf(store, id), before)
  })

  check(
    'an open snapshot of a long conversation throws once it is deleted, also if its id is used again',
    async (store) => {
      for (const isAgain of [false, true]) {
        const job = await begin(store, { id: `j${isAgain}` })
        const words = Array.from({ length: 1_300 }, (_, index) => entry(`${index}`, job.id))
        await store.append({ ...by(job), entries: words })
        const snapshot = (await store.openSnapshot(database, job.conversation)) ?? assert.fail()
        assert.equal((await collected(snapshot)).entries.length, 1_301)
        await store.deleteConversation(database, job.conversation)
        if (isAgain)
          await store.append({ ...by(await begin(store, { id: 'again', in: job.conversation })), entries: words })
        await assert.rejects(collected(snapshot), { code: 'NOT_FOUND' })
        assert.equal((await store.readSnapshot(database, job.conversation))?.row.lastSeq, isAgain ? 1_301 : undefined)
      }
    },
  )
}

/** An imported job without `wake` and without the lease, which means nothing for a job without an owner. */
function moved({ wake: _, leaseUntil: __, ...job }: JobRow) {
  return { ...job, database: other, owner: null }
}

function arrivedJobs({ jobs }: ConversationSnapshot) {
  return jobs.map(({ wake: _, leaseUntil: __, ...job }) => job)
}

function checkArrival(check: Check): void {
  check('a snapshot arrives as it was, with jobs that nobody owns', async (store) => {
    const id = await lively(store)
    const snapshot = structuredClone(await snapshotOf(store, id))
    assert.equal(await store.putSnapshot(other, snapshot), true)
    const arrived = await snapshotOf(store, id, other)
    assert.deepEqual(arrived.row, { ...snapshot.row, database: other })
    assert.deepEqual(arrived.entries, snapshot.entries)
    assert.deepEqual(arrivedJobs(arrived), snapshot.jobs.map(moved))
    assert.deepEqual(
      arrived.interruptions,
      snapshot.interruptions.map((one) => ({ ...one, database: other })),
    )
    assert.deepEqual(await snapshotOf(store, id), snapshot, 'the first one is left as it was')
  })

  check(
    'of the jobs that arrive, those at work, queued or woken can be claimed, and parked ones wait',
    async (store) => {
      const id = await lively(store)
      const snapshot = structuredClone(await snapshotOf(store, id))
      await store.deleteConversation(database, id)
      assert.deepEqual(await claim(store, 'w3'), [])
      assert.equal(await store.putSnapshot(database, snapshot), true)
      const woken = idsOf((await store.listJobs(database, id)).filter((job) => job.endedAt === null && job.wake))
      const claimed = await claim(store, 'w3')
      assert.deepEqual(claimed, ['j2', 't fresh', 't lapsed', 't queued', 't woken'])
      assert.deepEqual(woken.toSorted(), claimed)
      for (const job of snapshot.jobs.filter((one) => claimed.includes(one.id))) {
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
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    await store.deleteConversation(database, 'chats/1')
    await start(store, 'chats/2')
    assert.ok(await store.putSnapshot(database, snapshot))
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
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    await store.deleteConversation(database, 'chats/1')
    const over = conversation('chats/1', { expiresAt: past })
    await store.append({ database, conversation: 'chats/1', create: over, entries: [entry('old'), entry('older')] })
    assert.equal(await store.putSnapshot(database, snapshot), true)
    const { jobs: _, ...arrived } = await snapshotOf(store, 'chats/1')
    const { jobs, ...expected } = snapshot
    assert.deepEqual(arrived, expected)
    assert.deepEqual(idsOf(await store.listJobs(database, 'chats/1')), idsOf(jobs))
    assert.deepEqual(await store.sweepConversations(10), [])
  })
}

function checkRefusedArrival(check: Check): void {
  check('a conversation does not arrive where an id of it is taken, and nothing of it is stored', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const elsewhere = { ...snapshot, row: { ...snapshot.row, id: 'chats/2' } }
    const renamed = { ...elsewhere, jobs: snapshot.jobs.map((one) => ({ ...one, id: 'j2' })) }
    for (const one of [snapshot, elsewhere, { ...elsewhere, interruptions: [] }, renamed]) {
      assert.equal(await store.putSnapshot(database, one), false)
    }
    assert.deepEqual(await snapshotOf(store, 'chats/1'), snapshot)
    assert.equal(await store.getConversation(database, 'chats/2'), null)
    assert.equal(await store.getJob(database, 'j2'), null)
    assert.deepEqual(await store.readEntries(database, 'chats/2', { after: 0, limit: 9 }), [])
    const free = {
      ...renamed,
      interruptions: snapshot.interruptions.map((one) => ({ ...one, view: { ...one.view, id: 'i2' } })),
    }
    assert.equal(await store.putSnapshot(database, free), true)
    assert.equal((await store.getInterruption(database, 'i2'))?.conversation, 'chats/2')
  })

  check('a conversation arrives with the records beside it, or neither does', async (store) => {
    await begin(store, { id: 'j1', in: 'chats/1' })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const changed = { by: 'user:anna', via: 'import', at: 1 } as const
    const put = (name: string) =>
      store.putSnapshot(other, snapshot, [auditOf(changed, { kind: 'database', name, action: 'import' })])
    assert.deepEqual([await put('first'), await put('second')], [true, false])
    const records = await store.listRecords(other, auditTable, { limit: 9, after: null })
    assert.deepEqual(
      records.map(({ name }) => name),
      ['first'],
    )
  })

  check('of two arrivals at once one is stored', async (store) => {
    await begin(store, { id: 'j1', in: 'chats/1' })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const results = await Promise.all([1, 2, 3].map(() => store.putSnapshot(other, snapshot)))
    assert.deepEqual(results.toSorted(), [false, false, true])
    assert.deepEqual(await snapshotOf(store, 'chats/1', other).then(({ entries }) => entries), snapshot.entries)
  })

  check('parts that do not belong together are an error, and nothing of them is stored', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [entry('more', 'j1')], open: [interruption(job, 'i1')] })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const { row, entries, jobs, interruptions } = snapshot
    const second = { ...(jobs[0] as JobRow), id: 'j2' }
    const broken: readonly ConversationSnapshot[] = [
      { ...snapshot, entries: entries.slice(1) },
      { ...snapshot, entries: entries.slice(0, 1) },
      { ...snapshot, entries: entries.toReversed() },
      { ...snapshot, row: { ...row, lastSeq: 9 } },
      { ...snapshot, jobs: [...jobs, ...jobs] },
      { ...snapshot, jobs: [...jobs, second] },
      { ...snapshot, entries: entries.map((one) => ({ ...one, epoch: job.epoch + 1 })) },
      { ...snapshot, interruptions: [...interruptions, ...interruptions] },
    ]
    for (const one of broken) {
      const error = await store.putSnapshot(other, one).then(
        () => assert.fail('it was taken'),
        (reason: unknown) => reason,
      )
      assert.ok(isWitanError(error) && error.code === 'BODY_INVALID', String(error))
    }
    assert.equal(await store.getConversation(other, 'chats/1'), null)
    assert.deepEqual(await store.listDatabases(), [database])
    const ended = { ...second, status: 'completed', endedAt: 9 } as const
    assert.equal(await store.putSnapshot(other, { ...snapshot, jobs: [...jobs, ended] }), true)
  })
}
