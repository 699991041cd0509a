/** Conformance of stores: jobs that are woken, claimed, kept, given back and ended. */
import assert from 'node:assert/strict'
import type { Append, JobRow, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import { assertRefused, begin, by, database, entry, newJob, rest, wake } from './store-fixtures.ts'

const hour = 3_600_000

async function jobOf(store: Store, id: string): Promise<JobRow> {
  return (await store.getJob(database, id)) ?? assert.fail(`there is no job ${id}`)
}

function change(job: JobRow, how: Append['job']): Append {
  const { database, conversation } = job
  return { database, conversation, entries: [entry('change', job.id)], job: how } as Append
}

async function claim(store: Store, owner: string, leaseMs = hour): Promise<readonly string[]> {
  const jobs = await store.claimJobs({ owner, leaseMs, limit: 50 })
  return jobs.map(({ id }) => id).sort()
}

/** Registers the tests of jobs. */
export function checkJobs(check: Check): void {
  check('waking an owned job sets its flag and nothing else', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const result = await store.append(change(job, wake(store, 'j1')))
    assert.deepEqual(result.job, { ...job, wake: true })
    assert.deepEqual(await jobOf(store, 'j1'), { ...job, wake: true })
  })

  check('waking a job that nobody owns takes it over in a higher epoch', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...change(job, rest('j1', 'waiting')), fence: by(job).fence })
    const parked = await jobOf(store, 'j1')
    assert.deepEqual([parked.status, parked.owner, parked.endedAt], ['waiting', null, null])
    assert.deepEqual(parked.result, { text: 'done', path: [1, null] })
    const result = await store.append(change(job, wake(store, 'j1')))
    const { status, owner, epoch, attempts } = result.job ?? assert.fail()
    assert.deepEqual([status, owner, epoch, attempts], ['running', 'w2', 2, 1])
    assert.deepEqual(await jobOf(store, 'j1'), result.job)
    assertRefused(await store.append({ ...by(job), entries: [] }), 'fenced')
  })

  check('an ended job is over: it is not woken, and another may begin', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const result = await store.append(change(job, rest('j1', 'failed')))
    const { status, owner, endedAt } = result.job ?? assert.fail()
    assert.deepEqual([status, owner, endedAt], ['failed', null, 9])
    assertRefused(await store.append(change(job, wake(store, 'j1'))), 'inactive')
    assertRefused(await store.append(change(job, rest('j1'))), 'inactive')
    const next = await store.append(change(job, newJob(store, { id: 'j2' })))
    assert.equal(next.job?.firstSeq, 3)
    const jobs = await store.listJobs(database, job.conversation)
    assert.deepEqual(
      jobs.map(({ id }) => id),
      ['j1', 'j2'],
    )
    assert.deepEqual(await store.listJobs(database, 'chats/none'), [])
  })

  check('a job that was woken at work does not rest, but after it looked again', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append(change(job, wake(store, 'j1')))
    assertRefused(await store.append(change(job, rest('j1', 'waiting'))), 'woken')
    assert.equal((await store.append(change(job, rest('j1', 'waiting')))).ok, true)
  })
  checkClaims(check)
  checkLeases(check)
}

function checkClaims(check: Check): void {
  check('a lapsed lease is taken over as one attempt more; others are left', async (store) => {
    const lapsed = await begin(store, { id: 'j1', leaseUntil: store.now() - 1000 })
    const kept = await begin(store, { id: 'j2' })
    const ended = await begin(store, { id: 'j3', leaseUntil: store.now() - 1000 })
    await store.append(change(ended, rest('j3')))
    const parked = await begin(store, { id: 'j4' })
    await store.append(change(parked, rest('j4', 'waiting')))
    const [job, ...more] = await store.claimJobs({ owner: 'w2', leaseMs: hour, limit: 50 })
    assert.deepEqual(more, [])
    assert.deepEqual([job?.id, job?.owner, job?.epoch, job?.attempts], ['j1', 'w2', 2, 2])
    assert.ok(job !== undefined && job.leaseUntil > store.now())
    assert.deepEqual(await jobOf(store, 'j1'), job)
    assert.deepEqual(await jobOf(store, 'j2'), kept)
    assertRefused(await store.append({ ...by(lapsed), entries: [] }), 'fenced')
    assert.deepEqual(await claim(store, 'w3'), [])
  })

  check('a claim clears the wake flag', async (store) => {
    const job = await begin(store, { id: 'j1', leaseUntil: store.now() - 1000 })
    await store.append(change(job, wake(store, 'j1')))
    await claim(store, 'w2')
    assert.equal((await jobOf(store, 'j1')).wake, false)
  })

  check('a claim takes no more than its limit, and two at once share nothing', async (store) => {
    const ids = Array.from({ length: 12 }, (_, index) => `j${index}`)
    await Promise.all(ids.map((id) => begin(store, { id, leaseUntil: store.now() - 1000 })))
    const claims = await Promise.all(
      ['w2', 'w3', 'w4'].map((owner) => store.claimJobs({ owner, leaseMs: hour, limit: 5 })),
    )
    const taken = claims.flat().map(({ id }) => id)
    assert.ok(claims.every(({ length }) => length <= 5))
    assert.equal(new Set(taken).size, taken.length)
    const rest = await claim(store, 'w5')
    assert.deepEqual([...taken, ...rest].sort(), ids.toSorted())
  })

  check('a crash counts as an attempt, an orderly end does not', async (store) => {
    await begin(store, { id: 'j1' })
    await store.releaseJobs('w1')
    const released = await jobOf(store, 'j1')
    assert.deepEqual([released.owner, released.attempts, released.epoch], [null, 0, 1])
    assert.deepEqual(await claim(store, 'w2', -1000), ['j1'])
    assert.equal((await jobOf(store, 'j1')).attempts, 1)
    assert.deepEqual(await claim(store, 'w3'), ['j1'])
    const { attempts, epoch } = await jobOf(store, 'j1')
    assert.deepEqual([attempts, epoch], [2, 3])
  })
}

function checkLeases(check: Check): void {
  check('a heartbeat prolongs only what is still owned in that epoch', async (store) => {
    const soon = store.now() - 1000
    for (const id of ['j1', 'j2', 'j3']) await begin(store, { id, leaseUntil: soon, owner: id === 'j3' ? 'w9' : 'w1' })
    const held = [
      { id: 'j1', epoch: 1 },
      { id: 'j2', epoch: 2 },
      { id: 'j3', epoch: 1 },
      { id: 'j4', epoch: 1 },
    ]
    assert.deepEqual(await store.heartbeat('w1', held, hour), ['j1'])
    assert.ok((await jobOf(store, 'j1')).leaseUntil > store.now())
    assert.deepEqual(await claim(store, 'w2'), ['j2', 'j3'])
    assert.deepEqual(await store.heartbeat('w1', held, hour), ['j1'])
    assert.deepEqual(await store.heartbeat('w1', [], hour), [])
  })

  check('jobs are given back by their owner only, and parked ones stay parked', async (store) => {
    await begin(store, { id: 'j1' })
    await begin(store, { id: 'j2', owner: 'w2' })
    const parked = await begin(store, { id: 'j3' })
    await store.append(change(parked, rest('j3', 'waiting')))
    await store.releaseJobs('w1')
    assert.deepEqual(await claim(store, 'w3'), ['j1'])
  })

  check('a job that was given back may be taken by a message before it is claimed', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.releaseJobs('w1')
    const result = await store.append(change(job, wake(store, 'j1')))
    assert.deepEqual([result.job?.owner, result.job?.epoch], ['w2', 2])
    assert.deepEqual(await claim(store, 'w3'), [])
  })
}
