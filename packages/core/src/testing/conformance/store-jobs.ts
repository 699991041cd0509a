/** Conformance of stores: jobs that are woken, claimed, renewed, released and ended. */
import assert from 'node:assert/strict'
import type { JobRow } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  about,
  assertRefused,
  begin,
  by,
  change,
  claim,
  database,
  idsOf,
  interruption,
  jobOf,
  newJob,
  onlyJob,
  rest,
  progress,
  wake,
} from './store-fixtures.ts'

const hour = 3_600_000

/** The result of `rest`. */
const told = { text: 'done', path: [1, null] }

/** Registers the tests of jobs. */
export function checkJobs(check: Check): void {
  check('waking an owned job sets its flag and nothing else', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const result = await store.append(change(job, wake('j1')))
    assert.deepEqual(onlyJob(result), { ...job, wake: true })
    assert.deepEqual(await jobOf(store, 'j1'), { ...job, wake: true })
  })

  check('waking a job that nobody owns takes it over in a higher epoch', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...change(job, rest('j1', 'waiting')), fence: by(job).fence })
    const parked = await jobOf(store, 'j1')
    assert.deepEqual([parked.status, parked.owner, parked.endedAt], ['waiting', null, null])
    assert.deepEqual(parked.result, told)
    const result = await store.append(change(job, wake('j1')))
    const { status, owner, epoch, attempts } = onlyJob(result)
    assert.deepEqual([status, owner, epoch, attempts], ['running', 'w2', 2, 1])
    assert.deepEqual(await jobOf(store, 'j1'), onlyJob(result))
    assertRefused(await store.append({ ...by(job), entries: [] }), 'fenced')
  })

  check('an ended job is over: it is not woken, and another may begin', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const result = await store.append(change(job, rest('j1', 'failed')))
    const { status, owner, endedAt } = onlyJob(result)
    assert.deepEqual([status, owner, endedAt], ['failed', null, 9])
    assertRefused(await store.append(change(job, wake('j1'))), 'inactive')
    assertRefused(await store.append(change(job, rest('j1'))), 'inactive')
    const next = await store.append(change(job, newJob({ id: 'j2' })))
    assert.equal(onlyJob(next).firstSeq, 3)
    const jobs = await store.listJobs(database, job.conversation)
    assert.deepEqual(
      jobs.map(({ id }) => id),
      ['j1', 'j2'],
    )
    assert.deepEqual(await store.listJobs(database, 'chats/none'), [])
  })

  check('a job that was woken at work does not rest, but after it looked again', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append(change(job, wake('j1')))
    assertRefused(await store.append(change(job, rest('j1', 'waiting'))), 'woken')
    assert.equal((await store.append(change(job, rest('j1', 'waiting')))).ok, true)
  })

  check('a result is told with every rest, and stays until the next one', async (store) => {
    const job = await begin(store, { id: 'j1' })
    assert.equal(job.result, null)
    const none = { ...rest('j1', 'waiting'), result: null } as const
    assert.deepEqual(
      onlyJob(await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })).result,
      told,
    )
    const again = onlyJob(await store.append(change(job, wake('j1'))))
    assert.deepEqual([again.result, again.about], [told, about])
    assert.equal(onlyJob(await store.append({ ...by(again), entries: [], jobs: [none] })).result, null)
    assert.deepEqual((await jobOf(store, 'j1')).about, about)
  })

  check('a wake for nobody leaves an owned job to its owner and lets a parked one be claimed', async (store) => {
    const job = await begin(store, { id: 'j1' })
    assert.deepEqual(onlyJob(await store.append(change(job, wake('j1', null)))), { ...job, wake: true })
    assertRefused(await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] }), 'woken')
    assert.ok((await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })).ok)
    assert.deepEqual(await claim(store, 'w2'), [])
    const woken = onlyJob(await store.append(change(job, wake('j1', null))))
    const { status, owner, epoch, wake: mark, endedAt } = woken
    assert.deepEqual([status, owner, epoch, mark, endedAt], ['waiting', null, 1, true, null])
    assert.deepEqual(await claim(store, 'w2'), ['j1'])
    const claimed = await jobOf(store, 'j1')
    assert.deepEqual([claimed.status, claimed.owner, claimed.epoch, claimed.wake], ['running', 'w2', 2, false])
  })
  checkClaims(check)
  checkProgress(check)
  checkLeases(check)
  checkStranded(check)
}

function checkClaims(check: Check): void {
  check('a lapsed lease is taken over as one attempt more; others are left', async (store) => {
    const lapsed = await begin(store, { id: 'j1', leaseMs: -1000 })
    const kept = await begin(store, { id: 'j2' })
    const ended = await begin(store, { id: 'j3', leaseMs: -1000 })
    await store.append(change(ended, rest('j3')))
    const parked = await begin(store, { id: 'j4' })
    await store.append(change(parked, rest('j4', 'waiting')))
    const [job, ...more] = await store.claimJobs({ owner: 'w2', leaseMs: hour, limit: 50 })
    assert.deepEqual(more, [])
    assert.deepEqual([job?.id, job?.owner, job?.epoch, job?.attempts], ['j1', 'w2', 2, 2])
    assert.ok(job !== undefined && job.leaseUntil > store.now(database))
    assert.deepEqual(await jobOf(store, 'j1'), job)
    assert.deepEqual(await jobOf(store, 'j2'), kept)
    assertRefused(await store.append({ ...by(lapsed), entries: [] }), 'fenced')
    assert.deepEqual(await claim(store, 'w3'), [])
  })

  check('a claim clears the wake flag', async (store) => {
    const job = await begin(store, { id: 'j1', leaseMs: -1000 })
    await store.append(change(job, wake('j1')))
    await claim(store, 'w2')
    assert.equal((await jobOf(store, 'j1')).wake, false)
  })

  check('a claim takes no more than its limit, and two at once share nothing', async (store) => {
    const ids = Array.from({ length: 12 }, (_, index) => `j${index}`)
    await Promise.all(ids.map((id) => begin(store, { id, leaseMs: -1000 })))
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

function checkProgress(check: Check): void {
  check('progress resets the count of tries, and changes nothing else', async (store) => {
    const lost = await begin(store, { id: 'j1', leaseMs: -1000 })
    assertRefused(await store.append({ ...by(lost), entries: [], jobs: [progress('none')] }), 'inactive')
    await claim(store, 'w2')
    const claimed = await jobOf(store, 'j1')
    const result = await store.append({ ...by(claimed), entries: [], jobs: [progress('j1')] })
    assert.deepEqual(onlyJob(result), { ...claimed, attempts: 1 })
    assert.deepEqual(await jobOf(store, 'j1'), { ...claimed, attempts: 1 })
    await store.append({ ...by(claimed), entries: [], jobs: [rest('j1')] })
    assertRefused(await store.append(change(claimed, progress('j1'))), 'inactive')
  })

  check('progress leaves the mark that somebody woke the job', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append(change(job, wake('j1')))
    await store.append({ ...by(job), entries: [], jobs: [progress('j1')] })
    assertRefused(await store.append({ ...by(job), entries: [], jobs: [rest('j1')] }), 'woken')
  })
}

function checkLeases(check: Check): void {
  check('a heartbeat prolongs only what is still owned in that epoch', async (store) => {
    for (const id of ['j1', 'j2', 'j3']) await begin(store, { id, leaseMs: -1000, owner: id === 'j3' ? 'w9' : 'w1' })
    const held = [
      { database, id: 'j1', epoch: 1 },
      { database, id: 'j2', epoch: 2 },
      { database, id: 'j3', epoch: 1 },
      { database, id: 'j4', epoch: 1 },
    ]
    assert.deepEqual(await store.heartbeat('w1', held, hour), [{ id: 'j1', wake: false }])
    assert.ok((await jobOf(store, 'j1')).leaseUntil > store.now(database))
    assert.deepEqual(await claim(store, 'w2'), ['j2', 'j3'])
    assert.deepEqual(await store.heartbeat('w1', held, hour), [{ id: 'j1', wake: false }])
    assert.deepEqual(await store.heartbeat('w1', [], hour), [])
  })

  check('a heartbeat tells which jobs were woken, and leaves the mark', async (store) => {
    const jobs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
    await store.append(change(jobs[1], wake('j2')))
    for (let beat = 0; beat < 2; beat += 1) {
      const held = (await store.heartbeat('w1', jobs, hour)).toSorted((one, other) => (one.id < other.id ? -1 : 1))
      assert.deepEqual(held, [
        { id: 'j1', wake: false },
        { id: 'j2', wake: true },
      ])
    }
    assertRefused(await store.append({ ...by(jobs[1]), entries: [], jobs: [rest('j2')] }), 'woken')
  })

  check('a heartbeat does not bring back what has ended, was parked or was given back', async (store) => {
    const jobs = await Promise.all(['j1', 'j2', 'j3', 'j4'].map((id) => begin(store, { id })))
    await store.append(change(jobs[0] as JobRow, rest('j1')))
    await store.append(change(jobs[1] as JobRow, rest('j2', 'waiting')))
    await store.releaseJobs('w1', [{ database, id: 'j3' }])
    assert.deepEqual(await store.heartbeat('w1', jobs, hour), [{ id: 'j4', wake: false }])
    assert.deepEqual(await claim(store, 'w2'), ['j3'])
  })

  check('a heartbeat may shorten a lease: it ends so long after now', async (store) => {
    const job = await begin(store, { id: 'j1', leaseMs: hour })
    assert.deepEqual(idsOf(await store.heartbeat('w1', [job], -1000)), ['j1'])
    assert.deepEqual(await claim(store, 'w2'), ['j1'])
  })

  check('only the jobs that are named are given back, and only those of the owner', async (store) => {
    await Promise.all(['j1', 'j2', 'j3'].map((id) => begin(store, { id, owner: id === 'j3' ? 'w2' : 'w1' })))
    await store.releaseJobs('w1', [])
    await store.releaseJobs(
      'w1',
      ['j2', 'j3', 'none'].map((id) => ({ database, id })),
    )
    const { status, owner, wake: mark, epoch, attempts, startedAt } = await jobOf(store, 'j2')
    assert.deepEqual([status, owner, mark, epoch, attempts, startedAt], ['running', null, true, 1, 0, 5])
    assert.deepEqual(await claim(store, 'w3'), ['j2'])
    await store.releaseJobs('w1')
    assert.deepEqual(await claim(store, 'w3'), ['j1'])
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
    const result = await store.append(change(job, wake('j1')))
    const { owner, epoch, wake: mark, startedAt } = onlyJob(result)
    assert.deepEqual([owner, epoch, mark, startedAt], ['w2', 2, false, 5])
    assert.deepEqual(await claim(store, 'w3'), [])
  })
  check('a job that was given back after its worker was lost is left to a claim, which counts that', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.heartbeat('w1', [job], -1000)
    assert.deepEqual(await claim(store, 'w2'), ['j1'])
    await store.releaseJobs('w2')
    const result = await store.append(change(job, wake('j1')))
    const { owner, epoch, wake: mark, attempts } = onlyJob(result)
    assert.deepEqual([owner, epoch, mark, attempts], [null, 2, true, 1])
    const [claimed] = await store.claimJobs({ owner: 'w3', leaseMs: hour, limit: 1 })
    assert.deepEqual([claimed?.id, claimed?.epoch, claimed?.attempts], ['j1', 3, 2])
  })
}

function checkStranded(check: Check): void {
  check(
    'a parked job without an open interruption is found and claimed, which is no attempt; nothing else is',
    async (store) => {
      const names = ['j1', 'j2', 'j3', 'j4', 'j5']
      for (const id of names) {
        const job = await begin(store, { id })
        if (id === 'j1') continue
        const parked = { ...change(job, rest(id, id === 'j5' ? 'completed' : 'waiting')), fence: by(job).fence }
        const open = id === 'j2' ? [interruption(job, 'i1')] : []
        const result = await store.append({ ...parked, open })
        assert.ok(result.ok)
      }
      let woken = 0
      for (let next: string | null = null, pages = 0; pages === 0 || next !== null; pages += 1) {
        const page = await store.wakeStranded(next, 2)
        woken += page.woken
        next = page.next
        assert.ok(pages < 4)
      }
      assert.equal(woken, 2)
      const claimed = await store.claimJobs({ owner: 'w2', leaseMs: hour, limit: 10 })
      assert.deepEqual(
        claimed.map(({ id, attempts, epoch }) => [id, attempts, epoch]),
        [
          ['j3', 1, 2],
          ['j4', 1, 2],
        ],
      )
      assert.equal((await store.wakeStranded(null, 10)).woken, 0)
    },
  )
}
