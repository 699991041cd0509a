/** Conformance of stores: the runs of one principal, listed by their last change. */
import assert from 'node:assert/strict'
import type { RunLimit } from '../../store/append-terms.ts'
import type { JobChange, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  beginFor,
  change,
  conversation,
  database,
  entry,
  idsOf,
  jobOf,
  newJob,
  rest,
  wake,
} from './store-fixtures.ts'

/** Registers the tests of the runs of one principal. */
export function checkRunsOf(check: Check): void {
  check('runs of the conversations of one principal are listed, and the live ones are counted', async (store) => {
    const makers = ['key:k1', '@a@a.test', '@a@a.test', 'user:local', '@a@a.test'] as const
    const made: string[] = []
    for (const [index, createdBy] of makers.entries()) made.push(await beginFor(store, `j${index}`, { createdBy }))
    const [first = '', second = '', conversation = ''] = made
    const ending = { database, conversation, fence: { job: 'j2', epoch: 1 }, entries: [] }
    await store.append({ ...ending, jobs: [rest('j2')] })
    const list = runsOf(store)
    assert.equal(await list('@a@a.test'), 'j2 j4 j1')
    assert.equal(await list('@a@a.test', { limit: 2 }), 'j2 j4')
    assert.equal(await list('@a@a.test', { live: true }), 'j4 j1')
    assert.equal(await list('@a@a.test', { live: false }), 'j2')
    assert.equal(await list('@a@a.test', { status: 'completed' }), 'j2')
    assert.equal(await list('@a@a.test', { status: 'failed' }), '')
    assert.equal(await list('@a@a.test', { conversation: second }), 'j1')
    assert.equal(await list('@a@a.test', { conversation: first }), '')
    assert.equal(await list('@a@a.test', { conversation: 'chats/none' }), '')
    assert.equal(await list('@a@a.test', { agents: ['nobody'] }), '')
    assert.equal(await list('key:k1'), 'j0')
    assert.equal(await list('user:local'), 'j3')
    assert.equal(await list('nobody'), '')
    const count = (createdBy: string, most = 9, at: string = database) => store.countLiveRunsOf(at, createdBy, most)
    assert.deepEqual(await Promise.all([count('@a@a.test'), count('@a@a.test', 1), count('key:k1')]), [2, 1, 1])
    assert.deepEqual(await Promise.all([count('nobody'), count('@a@a.test', 9, 'other')]), [0, 0])
  })

  check(
    'who began a run finds it where it changed last; a place in the list stays when the run moves on',
    async (store) => {
      const list = runsOf(store)
      const [a, b] = ['@a@a.test', 'b'] as const
      const at: string[] = []
      for (let index = 0; index < 5; index += 1) at.push(await beginFor(store, `j${index}`, { createdBy: a }))
      const places = async () => (await store.listRunsOf(database, { ...allRuns, createdBy: a })).rows
      assert.equal(await list(a), 'j4 j3 j2 j1 j0')
      const job = async (id: string) => jobOf(store, id)
      const moved = async (id: string, how: JobChange) =>
        assert.ok((await store.append(change(await job(id), how))).ok, `${id} ${how.kind}`)
      const parked = (id: string, at: number) =>
        moved(id, { kind: 'rest', id, status: 'waiting', result: { text: '' }, at })
      await parked('j0', 20)
      await parked('j3', 21)
      assert.equal(await list(a), 'j3 j0 j4 j2 j1')
      const second = (await places())[1] ?? assert.fail()
      // Its answer moves it, a claim and progress do not.
      await moved('j0', wake('j0', null))
      assert.equal(await list(a), 'j0 j3 j4 j2 j1')
      const woken = (await job('j0')).changedAt
      await moved('j0', wake('j0', null))
      await store.claimJobs({ owner: 'w9', leaseMs: 60_000, limit: 10 })
      await moved('j0', { kind: 'progress', id: 'j0' })
      assert.equal((await job('j0')).changedAt, woken)
      assert.equal(await list(a, { after: second }), 'j4 j2 j1')
      assert.equal(await list(a, { since: 21 }), 'j0 j3')
      assert.equal(await list(b), '')
      assert.equal(await store.deleteConversation(database, at[3] ?? ''), true)
      assert.equal(await list(a, { after: { changedAt: 21, id: 'j3' } }), 'j4 j2 j1')
      assert.deepEqual(await store.countRunsOf(database, { ...allRuns, createdBy: a }), 4)
    },
  )
  checkLooks(check)
  checkLimit(check)
}

function checkLimit(check: Check): void {
  check('a run that its principal has no room for is refused, and only that', async (store) => {
    const a = (most: number) => ({ createdBy: '@a@a.test', most })
    const b = (most: number) => ({ createdBy: 'Å "b" \u0000', most })
    const { createdBy } = a(1)
    const first = await beginFor(store, 'j1', { createdBy })
    await addJob(store, { id: 't1', kind: 'task', in: first })
    const more = (id: string, runLimit: RunLimit, at: string = database) => {
      const { createdBy } = runLimit
      const create = conversation(`chats/${id}`, { createdBy, database: at })
      const append = { database: at, conversation: create.id, create, entries: [entry('hi', id)] }
      return store.append({ ...append, jobs: [newJob({ id })], runLimit })
    }
    const told = async (...made: ReturnType<typeof more>[]) =>
      (await Promise.all(made)).map((one) => (one.ok ? 'stored' : one.reason))
    // Of one turn, each counts those before it; those of others, and in other databases, count for themselves.
    const turn = [more('j2', a(3)), more('j3', b(1)), more('j4', a(3)), more('j5', a(3)), more('j6', b(1))]
    assert.deepEqual(await told(...turn, more('j7', a(1), 'other')), [
      'stored',
      'stored',
      'stored',
      'too-many',
      'too-many',
      'stored',
    ])
    assert.equal(await store.getConversation(database, 'chats/j5'), null)
    assert.ok((await store.append(change(await jobOf(store, 'j2'), rest('j2', 'waiting')))).ok)
    assert.deepEqual(await told(more('j8', a(3))), ['too-many'], 'one that waits is live')
    assert.ok((await store.append(change(await jobOf(store, 'j1'), rest('j1')))).ok)
    assert.deepEqual(await told(more('j8', a(3))), ['stored'], 'one that has ended is not')
    assert.deepEqual(await told(more('j9', a(3))), ['too-many'])
    await beginFor(store, 'j10', { createdBy })
    assert.equal(await store.countLiveRunsOf(database, createdBy, 9), 4, 'an append without a limit has none')
  })
}

function checkLooks(check: Check): void {
  check('a list of runs looks at a bounded number, and says where to go on', async (store) => {
    const createdBy = '@a@a.test'
    const of = { ...allRuns, createdBy }
    for (let index = 0; index < 5; index += 1)
      await beginFor(store, `j${index}`, { createdBy, agent: index % 2 === 0 ? 'even' : 'odd' })
    const open = await store.listRunsOf(database, { ...of, live: true, look: 1, agents: ['odd'] })
    assert.deepEqual([idsOf(open.rows), open.next], [['j3', 'j1'], null], 'live ones are all found')
    const j3 = await jobOf(store, 'j3')
    const live = { ...of, live: true, look: 1 }
    assert.deepEqual(idsOf((await store.listRunsOf(database, { ...live, after: j3 })).rows), ['j2', 'j1', 'j0'])
    assert.deepEqual(idsOf((await store.listRunsOf(database, { ...live, agents: ['even'], limit: 1 })).rows), ['j4'])
    assert.deepEqual(idsOf((await store.listRunsOf(database, { ...live, since: 6 })).rows), [])
    for (let index = 0; index < 5; index += 1)
      assert.ok((await store.append(change(await jobOf(store, `j${index}`), rest(`j${index}`)))).ok)
    const first = await store.listRunsOf(database, { ...of, agents: ['odd'], look: 3 })
    assert.deepEqual([idsOf(first.rows), first.next], [['j3'], { changedAt: 9, id: 'j2' }])
    const further = await store.listRunsOf(database, { ...of, agents: ['odd', 'none'], look: 3, after: first.next })
    assert.deepEqual([idsOf(further.rows), further.next], [['j1'], null])
    assert.equal((await store.listRunsOf(database, { ...of, look: 3, since: 10 })).next, null)
    assert.equal(await store.countRunsOf(database, { ...of, agents: ['even'], look: 4 }), 2)
    const conversation = await beginFor(store, 'r1', { createdBy })
    for (const id of ['r2', 'r3', 'r4']) {
      const last = await jobOf(store, `r${Number(id.slice(1)) - 1}`)
      assert.ok((await store.append(change(last, rest(last.id)))).ok)
      await addJob(store, { id, kind: 'run', in: conversation })
    }
    const within = await store.listRunsOf(database, { ...of, conversation, look: 2 })
    assert.deepEqual([idsOf(within.rows), within.next?.id], [['r4', 'r3'], 'r3'])
    const more = await store.listRunsOf(database, { ...of, conversation, look: 3, after: within.next })
    assert.deepEqual([idsOf(more.rows), more.next], [['r2', 'r1'], null])
    assert.equal(await store.countRunsOf(database, { ...of, conversation, status: 'completed' }), 3)
  })
}

const allRuns = {
  ...{ limit: 50, after: null, agents: null, conversation: null, live: null, status: null, since: null, look: 100 },
} as const

/** The ids of the runs of a principal. */
function runsOf(store: Store) {
  return async (createdBy: string, more: Partial<Parameters<Store['listRunsOf']>[1]> = {}): Promise<string> =>
    idsOf((await store.listRunsOf(database, { ...allRuns, createdBy, ...more })).rows).join(' ')
}
