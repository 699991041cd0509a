/** Conformance of stores: tasks, queued until they have an owner, and listed over all conversations. */
import assert from 'node:assert/strict'
import type { ReadLimit } from '../../identity/rights.ts'
import type { JobRow, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  about,
  addJob,
  assertRefused,
  begin,
  beginFor,
  by,
  change,
  claim,
  database,
  entry,
  idsOf,
  jobOf,
  newJob,
  onlyJob,
  rest,
  start,
  wake,
} from './store-fixtures.ts'

/** Registers the tests of tasks. */
export function checkTasks(check: Check): void {
  check('a conversation has at most one live run and any number of live tasks', async (store) => {
    const run = await begin(store, { id: 'j1' })
    const at = run.conversation
    for (const id of ['t1', 't2', 't3']) await addJob(store, { id, kind: 'task', in: at })
    assertRefused(await store.append(change(run, newJob({ id: 'j2' }))), 'active')
    assertRefused(await store.append(change(run, newJob({ id: 'j2', owner: null }))), 'active')
    await store.append(change(run, rest('j1')))
    assert.deepEqual(idsOf(await store.listJobs(database, at, { live: true })), ['t1', 't2', 't3'])
    await addJob(store, { id: 'j2', in: at })
    const active = await store.append(change(run, newJob({ id: 'j3' })))
    assert.equal(active.ok ? '' : active.job?.id, 'j2')
    assert.deepEqual(idsOf(await store.listJobs(database, at)), ['j1', 't1', 't2', 't3', 'j2'])
    for (const id of ['t1', 't2', 't3']) assert.equal((await jobOf(store, id)).status, 'running')
  })

  check('a parked run is live: no other begins beside it', async (store) => {
    const run = await begin(store, { id: 'j1' })
    await store.append(change(run, rest('j1', 'waiting')))
    assertRefused(await store.append(change(run, newJob({ id: 'j2' }))), 'active')
  })

  check('live jobs of a conversation are listed without those that ended, oldest first', async (store) => {
    const run = await begin(store, { id: 'j1' })
    const at = run.conversation
    const tasks: JobRow[] = []
    for (let index = 0; index < 6; index += 1) {
      tasks.push(await addJob(store, { id: `t${(index * 5) % 6}`, kind: 'task', owner: null, in: at }))
    }
    for (const task of tasks.filter((_, index) => index % 2 === 0)) await takeAndRest(store, task, 'completed')
    await takeAndRest(store, tasks[1] as JobRow, 'waiting')
    assert.deepEqual(idsOf(await store.listJobs(database, at, { live: true })), ['j1', 't5', 't3', 't1'])
    assert.deepEqual(idsOf(await store.listJobs(database, at, { live: false })), ['j1', ...idsOf(tasks)])
    assert.deepEqual(idsOf(await store.listJobs(database, at, {})), ['j1', ...idsOf(tasks)])
    assert.deepEqual(await store.listJobs(database, 'chats/none', { live: true }), [])
    const [first] = await store.listJobs(database, at, { live: true })
    assert.deepEqual(first, run)
  })
  checkQueue(check)
  checkTaskLists(check)
}

/** Claims a queued job and parks or ends it. */
async function takeAndRest(store: Store, job: JobRow, status: 'waiting' | 'completed'): Promise<void> {
  const taken = onlyJob(await store.append(change(job, wake(job.id))))
  assert.ok((await store.append({ ...by(taken), entries: [], jobs: [rest(job.id, status)] })).ok)
}

function checkQueue(check: Check): void {
  check('a job without an owner is queued until it is claimed', async (store) => {
    for (const kind of ['run', 'task'] as const) {
      await start(store, `chats/${kind}`)
      const queued = await addJob(store, { id: kind, kind, owner: null, in: `chats/${kind}`, at: 6 })
      const { epoch, leaseUntil: _, ...row } = queued
      const times = { createdAt: 6, startedAt: null, endedAt: null, changedAt: 6, firstSeq: 2 }
      const fresh = { status: 'queued', owner: null, wake: true, attempts: 0, about, result: null } as const
      assert.deepEqual(row, { id: kind, database, conversation: `chats/${kind}`, kind, ...fresh, ...times })
      assert.deepEqual(await jobOf(store, kind), queued)
      const before = store.now(database)
      const [claimed, ...more] = await store.claimJobs({ owner: 'w2', leaseMs: 60_000, limit: 10 })
      assert.deepEqual(more, [])
      assert.deepEqual(await jobOf(store, kind), claimed)
      assert.deepEqual([claimed?.status, claimed?.owner, claimed?.attempts], ['running', 'w2', 1])
      assert.equal(claimed?.epoch, epoch + 1)
      assert.equal(claimed?.wake, false)
      assert.ok(Math.abs((claimed?.startedAt ?? 0) - before) < 60_000, 'startedAt is by the clock of the store')
      assert.ok((await store.append({ ...by(claimed ?? assert.fail()), entries: [entry('mine', kind)] })).ok)
    }
  })

  check('a claim does not change when a job was owned first', async (store) => {
    await begin(store, { id: 'j1', leaseMs: -1000 })
    await claim(store, 'w2')
    assert.equal((await jobOf(store, 'j1')).startedAt, 5)
  })

  check('who wakes a queued job takes it over; a wake for nobody leaves it queued', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    const queued = await addJob(store, { id: 't1', kind: 'task', owner: null, in: conversation })
    assert.deepEqual(onlyJob(await store.append(change(queued, wake('t1', null)))), queued)
    const taken = onlyJob(await store.append(change(queued, wake('t1'))))
    const { status, owner, epoch, attempts, wake: mark } = taken
    assert.deepEqual([status, owner, epoch, attempts, mark], ['running', 'w2', queued.epoch + 1, 1, false])
    assert.ok(taken.startedAt !== null)
    assert.deepEqual(await jobOf(store, 't1'), taken)
    assert.deepEqual(await claim(store, 'w3'), [])
    assert.ok((await store.append({ ...by(taken), entries: [], jobs: [rest('t1')] })).ok)
  })

  check('who would end a queued job is refused, and it can still be claimed', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    const queued = await addJob(store, { id: 't1', kind: 'task', owner: null, in: conversation })
    const refused = await store.append(change(queued, rest('t1', 'cancelled')))
    assert.deepEqual(refused, { ok: false, reason: 'woken', job: queued })
    assert.deepEqual(await jobOf(store, 't1'), queued)
    assert.deepEqual(await claim(store, 'w2'), ['t1'])
  })

  check('a task that was given back can be claimed, and one that ended cannot', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    const tasks = await Promise.all(
      ['t1', 't2', 't3'].map((id) => addJob(store, { id, kind: 'task', in: conversation })),
    )
    await store.append(change(tasks[1] as JobRow, rest('t2')))
    await store.append(change(tasks[2] as JobRow, rest('t3', 'waiting')))
    await store.releaseJobs(
      'w1',
      ['t1', 't2', 't3'].map((id) => ({ database, id })),
    )
    assert.deepEqual(await claim(store, 'w2'), ['t1'])
  })

  check('many queued jobs are claimed once each, as many at a time as is asked', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    const ids = Array.from({ length: 9 }, (_, index) => `t${index}`)
    const jobs = ids.map((id) => newJob({ id, kind: 'task', owner: null }))
    assert.ok((await store.append({ database, conversation, entries: [entry('spawn', 'j1')], jobs })).ok)
    const first = await store.claimJobs({ owner: 'w2', leaseMs: 60_000, limit: 4 })
    assert.equal(first.length, 4)
    assert.deepEqual([...idsOf(first), ...(await claim(store, 'w3'))].sort(), ids)
    assert.deepEqual(await store.claimJobs({ owner: 'w4', leaseMs: 60_000, limit: 4 }), [])
  })
}

async function tasks(
  store: Store,
  limit: number,
  of: boolean | null | { live: boolean | null; of: ReadLimit | null },
): Promise<readonly string[]> {
  const filter = typeof of === 'object' && of !== null ? of : { live: of }
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const page = await store.listTasks(database, { limit, after, ...filter })
    ids.push(...idsOf(page))
    if (page.length < limit) return ids
    after = ids.at(-1) ?? null
  }
}

function checkTaskLists(check: Check): void {
  check('tasks of all conversations are listed newest first, page by page, live or not', async (store) => {
    const runs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
    const made: JobRow[] = []
    for (let index = 0; index < 8; index += 1) {
      const { conversation } = runs[index % 2 === 0 ? 0 : 1]
      made.push(await addJob(store, { id: `t${(index * 3) % 8}`, kind: 'task', in: conversation, at: 100 + index }))
    }
    for (const job of made.slice(0, 3)) await store.append(change(job, rest(job.id)))
    await store.append(change(made[5] as JobRow, rest(made[5]?.id ?? '', 'waiting')))
    const newest = idsOf(made).toReversed()
    for (const limit of [1, 3, 8, 50]) {
      assert.deepEqual(await tasks(store, limit, null), newest)
      assert.deepEqual(await tasks(store, limit, true), newest.slice(0, 5))
      assert.deepEqual(await tasks(store, limit, false), newest.slice(5))
    }
    const [row] = await store.listTasks(database, { limit: 1, after: null, live: null })
    assert.deepEqual(row, made.at(-1))
    assert.deepEqual(await store.listTasks('other', { limit: 9, after: null, live: null }), [])
  })

  check(
    'tasks are listed for those who may read their conversations: a creator, and a person who takes part',
    async (store) => {
      const own = await beginFor(store, 'j1', { createdBy: 'key:k1' })
      const joined = await beginFor(store, 'j2', { createdBy: 'user:local', people: ['anna', 'bob'] })
      const foreign = await beginFor(store, 'j3', { createdBy: 'user:eve', people: ['bob'] })
      const made: JobRow[] = []
      for (const [index, conversation] of [own, joined, foreign, own, joined, foreign].entries())
        made.push(await addJob(store, { id: `t${index}`, kind: 'task', in: conversation, at: 100 + index }))
      await store.append(change(made[0] as JobRow, rest('t0')))
      const list = async (of: ReadLimit | null, live: boolean | null = null) =>
        (await tasks(store, 2, { live, of })).join(' ')
      const nobody = { createdBy: null, participant: null }
      assert.equal(await list(null), 't5 t4 t3 t2 t1 t0')
      assert.equal(await list(nobody), '')
      assert.equal(await list({ createdBy: 'key:k1', participant: null }), 't3 t0')
      assert.equal(await list({ createdBy: 'key:k1', participant: null }, true), 't3')
      assert.equal(await list({ createdBy: 'key:k1', participant: null }, false), 't0')
      assert.equal(await list({ createdBy: 'user:local', participant: 'local' }), 't4 t1')
      assert.equal(await list({ createdBy: 'key:k1', participant: 'anna' }), 't4 t3 t1 t0')
      assert.equal(await list({ createdBy: 'user:bob', participant: 'bob' }, true), 't5 t4 t2 t1')
      const participants = [{ user: 'bob', name: null, roles: [], joinedAt: 1, leftAt: 2 }]
      assert.ok((await store.append({ database, conversation: joined, entries: [entry('x')], participants })).ok)
      assert.equal(await list({ createdBy: 'user:bob', participant: 'bob' }), 't5 t2')
    },
  )

  check('tasks of one moment are all listed, each once', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    const ids = ['t3', 't1', 't5', 't2', 't4']
    for (const id of ids) await addJob(store, { id, kind: 'task', in: conversation, at: 100 })
    for (const limit of [1, 2, 50]) assert.deepEqual((await tasks(store, limit, null)).toSorted(), ids.toSorted())
  })

  check('a list of tasks goes on where it was while others begin and end', async (store) => {
    const { conversation } = await begin(store, { id: 'j1' })
    for (const [index, id] of ['t1', 't2', 't3', 't4'].entries()) {
      await addJob(store, { id, kind: 'task', in: conversation, at: 100 + index })
    }
    const first = await store.listTasks(database, { limit: 2, after: null, live: true })
    await addJob(store, { id: 't5', kind: 'task', in: conversation, at: 200 })
    await store.append(change(await jobOf(store, 't3'), rest('t3')))
    const second = await store.listTasks(database, { limit: 2, after: 't3', live: true })
    assert.deepEqual(idsOf([...first, ...second]), ['t4', 't3', 't2', 't1'])
  })
}
