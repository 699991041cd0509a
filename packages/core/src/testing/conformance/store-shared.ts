/** Conformance of stores: two stores on the same data, as in two processes. */
import assert from 'node:assert/strict'
import type { AppendResult, Store } from '../../store/store.ts'
import type { CheckTwo } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  change,
  conversation,
  database,
  entry,
  idsOf,
  interruption,
  interruptionsOf,
  jobOf,
  newJob,
  reply,
  rest,
  settlement,
  start,
  textsOf,
  wake,
} from './store-fixtures.ts'

const hour = 3_600_000

/** How often both stores act at once. */
const rounds = Array.from({ length: 12 }, (_, index) => index)

function reasonsOf(results: readonly AppendResult[]): readonly string[] {
  return results.map((result) => (result.ok ? 'stored' : result.reason)).sort()
}

/** Registers the tests of two stores. */
export function checkShared(check: CheckTwo): void {
  check('what one store did the other sees', async (first, second) => {
    const job = await begin(first, { id: 'j1' })
    await first.append({ ...by(job), entries: [entry('ask', 'j1')], open: [interruption(job, 'i1')] })
    assert.deepEqual(await second.getJob(database, 'j1'), job)
    assert.deepEqual(await textsOf(second, job.conversation), ['hello', 'ask'])
    const { conversation } = job
    assert.ok((await second.append({ database, conversation, entries: [entry('yes')], settle: [settlement('i1')] })).ok)
    assert.equal((await first.getInterruption(database, 'i1'))?.view.state, 'answered')
    assert.deepEqual(await textsOf(first, conversation), ['hello', 'ask', 'yes'])
    assert.ok(Math.abs(first.now(database) - second.now(database)) < 5000, 'they have one clock')
  })

  check('seq has no gap when two stores append to one conversation at once [I2]', async (first, second) => {
    const job = await begin(first, { id: 'j1' })
    const { conversation } = job
    const appends = rounds.flatMap((round) => [
      first.append({ ...by(job), entries: [entry(`1 ${round}`, 'j1'), entry(`1 ${round} too`, 'j1')] }),
      second.append({ database, conversation, entries: [entry(`2 ${round}`)] }),
    ])
    for (const { ok } of await Promise.all(appends)) assert.ok(ok)
    const texts = await textsOf(first, conversation)
    assert.deepEqual(await textsOf(second, conversation), texts)
    const of = (one: string) => texts.filter((text) => text.startsWith(`${one} `))
    assert.deepEqual(
      of('1'),
      rounds.flatMap((round) => [`1 ${round}`, `1 ${round} too`]),
    )
    assert.deepEqual(
      of('2'),
      rounds.map((round) => `2 ${round}`),
    )
    assert.equal(texts.length, 1 + rounds.length * 3)
  })

  check('two claimers get every job once', async (first, second) => {
    const { conversation } = await begin(first, { id: 'j1' })
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`)
    const jobs = ids.map((id) => newJob({ id, kind: 'task', owner: null }))
    assert.ok((await first.append({ database, conversation, entries: [entry('spawn', 'j1')], jobs })).ok)
    const taken = await Promise.all([claimAll(first, 'w2'), claimAll(second, 'w3')])
    assert.deepEqual(taken.flat().toSorted(), ids.toSorted())
    for (const [index, owner] of ['w2', 'w3'].entries()) {
      for (const id of taken[index] ?? []) assert.equal((await jobOf(first, id)).owner, owner)
    }
  })
  checkWriters(check)
  checkRaces(check)
  checkLimits(check)
}

async function claimAll(store: Store, owner: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let empty = 0; empty < 3; ) {
    const jobs = await store.claimJobs({ owner, leaseMs: hour, limit: 4 })
    ids.push(...idsOf(jobs))
    empty = jobs.length === 0 ? empty + 1 : 0
  }
  return ids
}

function checkWriters(check: CheckTwo): void {
  check('who lost a job to the other store is fenced, and the new owner writes on [D5]', async (first, second) => {
    const job = await begin(first, { id: 'j1', leaseMs: -1000 })
    assert.ok((await first.append({ ...by(job), entries: [entry('mine', 'j1')] })).ok)
    const [taken] = await second.claimJobs({ owner: 'w2', leaseMs: hour, limit: 5 })
    assert.equal(taken?.id, 'j1')
    const late = await Promise.all([
      first.append({ ...by(job), entries: [entry('late', 'j1')] }),
      second.append({ ...by(taken ?? assert.fail()), entries: [entry('new', 'j1')] }),
      first.append({ ...by(job), entries: [], jobs: [rest('j1')] }),
    ])
    assert.deepEqual(reasonsOf(late), ['fenced', 'fenced', 'stored'])
    assert.deepEqual(await first.heartbeat('w1', [job], hour), [])
    assert.deepEqual(await textsOf(first, job.conversation), ['hello', 'mine', 'new'])
  })

  check(
    'a wake from the other store is seen with the next heartbeat, and keeps the job from resting',
    async (first, second) => {
      const job = await begin(first, { id: 'j1' })
      assert.deepEqual(await first.heartbeat('w1', [job], hour), [{ id: 'j1', wake: false }])
      assert.ok((await second.append(change(job, wake('j1', null)))).ok)
      assert.deepEqual(await first.heartbeat('w1', [job], hour), [{ id: 'j1', wake: true }])
      assertRefused(await first.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] }), 'woken')
      assert.ok((await first.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })).ok)
      const taken = await second.append(change(job, wake('j1')))
      assert.equal(taken.ok && taken.jobs[0]?.owner, 'w2')
      assertRefused(await first.append({ ...by(job), entries: [] }), 'fenced')
    },
  )

  check('a rest and a wake at once lose nothing: one of them sees the other', async (first, second) => {
    for (const round of rounds) {
      const job = await begin(first, { id: `j${round}` })
      const [rested, woken] = await Promise.all([
        first.append({ ...by(job), entries: [], jobs: [rest(job.id, 'waiting')] }),
        second.append(change(job, wake(job.id, null))),
      ])
      assert.ok(woken?.ok)
      const after = await jobOf(first, job.id)
      if (rested?.ok) assert.deepEqual([after.owner, after.wake], [null, true])
      else assert.deepEqual([rested?.reason, after.owner], ['woken', 'w1'])
    }
  })
}

function checkRaces(check: CheckTwo): void {
  check(
    'of two who make a conversation, begin a run, make a job or answer at once, one does',
    async (first, second) => {
      const both = async (make: (store: Store, index: number) => Promise<AppendResult>) =>
        reasonsOf(await Promise.all([make(first, 1), make(second, 2)]))
      for (const round of rounds) {
        const at = { database, conversation: `chats/${round}`, entries: [] }
        const create = conversation(at.conversation)
        assert.deepEqual(await both((store) => store.append({ ...at, create })), ['exists', 'stored'])
        const id = (index: number) => `j${round} ${index}`
        const run = (store: Store, index: number) => store.append({ ...at, jobs: [newJob({ id: id(index) })] })
        assert.deepEqual(await both(run), ['active', 'stored'])
        const task = newJob({ id: `t${round}`, kind: 'task' })
        assert.deepEqual(await both((store) => store.append({ ...at, jobs: [task] })), ['exists', 'stored'])
        const open = [interruption(await jobOf(first, task.id), `i${round}`)]
        await first.append({ ...at, open })
        const answer = (store: Store, index: number) =>
          store.append({ ...at, entries: [entry('a')], settle: [settlement(`i${round}`, { answer: index })] })
        assert.deepEqual(await both(answer), ['settled', 'stored'])
        const moved = (store: Store) => store.append({ ...at, ifLastSeq: 1, entries: [entry('b')] })
        assert.deepEqual(await both(moved), ['moved', 'stored'])
      }
      assert.equal((await interruptionsOf(second)).length, rounds.length)
    },
  )

  check('jobs of one id in two conversations: one is made', async (first, second) => {
    await Promise.all(['chats/1', 'chats/2'].map((id) => start(first, id)))
    for (const round of rounds) {
      const jobs = [newJob({ id: `t${round}`, kind: 'task' })]
      const results = await Promise.all([
        first.append({ database, conversation: 'chats/1', entries: [], jobs }),
        second.append({ database, conversation: 'chats/2', entries: [], jobs }),
      ])
      assert.deepEqual(reasonsOf(results), ['exists', 'stored'])
    }
  })

  check('of two first requests with one key, to two stores, one is fresh', async (first, second) => {
    for (const round of rounds) {
      const key = `k${round}`
      const replies = await Promise.all([first, second].map((store) => store.beginReply(database, reply(key))))
      assert.equal(replies.filter((one) => one === null).length, 1)
      await second.finishReply(database, reply(key), { status: 200, body: key })
      assert.equal((await first.beginReply(database, reply(key)))?.body, key)
    }
  })

  check('of a late append and a request that takes its key at once, one wins [P20]', async (first, second) => {
    await start(first, 'chats/1')
    const stored = ['hello']
    for (const round of rounds) {
      const [key, text] = [`k${round}`, `late ${round}`]
      assert.equal(await first.beginReply(database, reply(key)), null)
      const note = { key, at: 100, text }
      const [late, known] = await Promise.all([
        first.append({ database, conversation: 'chats/1', entries: [entry(text)], note }),
        second.beginReply(database, reply(key, { at: 200, lostBefore: 150 })),
      ])
      assert.equal(late.ok, known !== null)
      if (late.ok) stored.push(text)
      else assertRefused(late, 'reply-taken')
      assert.equal(known?.note, late.ok ? text : undefined)
    }
    assert.deepEqual(await textsOf(second, 'chats/1'), stored)
  })

  check('a conversation that arrives through two stores at once is stored once', async (first, second) => {
    const job = await begin(first, { id: 'j1' })
    await addJob(first, { id: 't1', kind: 'task', in: job.conversation })
    const snapshot = structuredClone((await first.readSnapshot(database, job.conversation)) ?? assert.fail())
    for (const round of rounds) {
      const puts = await Promise.all([first, second].map((store) => store.putSnapshot(`other ${round}`, snapshot)))
      assert.deepEqual(puts.toSorted(), [false, true])
      const arrived = await first.readSnapshot(`other ${round}`, job.conversation)
      assert.equal(arrived?.entries.length, 2)
    }
  })
}

function checkLimits(check: CheckTwo): void {
  check('of two runs of one principal who may have one more, one begins', async (first, second) => {
    for (const round of rounds) {
      const createdBy = `@a@a${round}.test`
      const make = (store: Store, id: string, most: number) => {
        const create = conversation(`chats/${id}`, { createdBy })
        const jobs = [newJob({ id })]
        return store.append({
          database,
          conversation: create.id,
          create,
          entries: [],
          jobs,
          runLimit: { createdBy, most },
        })
      }
      assert.ok((await make(first, `a${round}`, 1)).ok)
      const both = [make(first, `b${round}`, 2), make(second, `c${round}`, 2)]
      assert.deepEqual(reasonsOf(await Promise.all(both)), ['stored', 'too-many'])
      assert.equal(await first.countLiveRunsOf(database, createdBy, 9), 2)
    }
  })

  check(
    'limits of many principals in many groups at once keep nobody waiting for each other',
    async (first, second) => {
      const makers = Array.from({ length: 8 }, (_, index) => `@a@a${index}.test`)
      const make = (store: Store, id: string, createdBy: string) => {
        const create = conversation(`chats/${id}`, { createdBy })
        const append = { database, conversation: create.id, create, entries: [], jobs: [newJob({ id })] }
        return store.append({ ...append, runLimit: { createdBy, most: 5 } })
      }
      const made = rounds.flatMap((round) => [
        ...makers.map((maker, index) => make(first, `a${round} ${index}`, maker)),
        ...makers.toReversed().map((maker, index) => make(second, `b${round} ${index}`, maker)),
      ])
      const told = reasonsOf(await Promise.all(made))
      assert.equal(told.filter((one) => one === 'stored').length, makers.length * 5)
      assert.equal(told.filter((one) => one === 'too-many').length, makers.length * (2 * rounds.length - 5))
    },
  )
}
