/** Conformance of stores: what an append stores and returns. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  about,
  assertRefused,
  begin,
  by,
  change,
  conversation,
  database,
  entry,
  jobOf,
  newJob,
  rest,
  start,
  textsOf,
  wake,
  wholePage,
} from './store-fixtures.ts'

/** Registers the tests of appends. */
export function checkAppends(check: Check): void {
  check('creation, entries and job are one append', async (store) => {
    const create = conversation('chats/1', { createdBy: 'user:bo', maxModelIterationsPerCall: 7 })
    const entries = [entry('one'), entry('two')]
    const jobs = [newJob({ id: 'j1' })]
    const result = await store.append({
      database,
      conversation: 'chats/1',
      create,
      entries,
      jobs,
      messageAt: 77,
    })
    assert.ok(result.ok)
    assert.deepEqual([result.before, result.lastSeq], [0, 2])
    assert.deepEqual(await store.getConversation(database, 'chats/1'), { ...create, lastSeq: 2, lastMessageAt: 77 })
    const { leaseUntil, ...row } = (await store.getJob(database, 'j1')) ?? assert.fail()
    assert.ok(leaseUntil > store.now(database))
    const times = { createdAt: 5, startedAt: 5, endedAt: null, changedAt: 5, firstSeq: 1 }
    const fresh = {
      kind: 'run',
      status: 'running',
      owner: 'w1',
      epoch: 1,
      wake: false,
      attempts: 1,
      about,
      result: null,
    }
    assert.deepEqual(row, { id: 'j1', database, conversation: 'chats/1', ...fresh, ...times })
    assert.deepEqual(result.jobs, [{ ...row, leaseUntil }])
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

  check('a long log is copied whole or not at all, under one id once [Rb55]', copied)
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
  checkBounds(check)
  checkChanges(check)
}

function checkBounds(check: Check): void {
  check('a bounded read gives at least one row, ends with the one that fills it, and says so', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const long = 'x'.repeat(10_000)
    const texts = [long, 'b', long, 'd']
    for (const text of texts) await store.append({ ...by(job), entries: [entry(text, 'j1')] })
    const seen: number[][] = []
    for (let after = 1, isCut = true; isCut; ) {
      isCut = false
      const cut = () => {
        isCut = true
      }
      const bound = { characters: 10_000, cut }
      const page = await store.readEntries(database, job.conversation, { after, limit: 100, bound })
      seen.push(page.map(({ seq }) => seq))
      after = page.at(-1)?.seq ?? after
    }
    assert.deepEqual(seen, [[2], [3, 4], [5]])
    const bound = { characters: 1, cut: () => undefined }
    const wanted = {
      ...wholePage,
      state: null,
      conversation: null,
      addressees: null,
      agent: null,
      createdBy: null,
      live: null,
    }
    const first = { ...wanted, bound }
    assert.equal((await store.listRuns(database, job.conversation, first)).length, 1)
    assert.equal((await store.listConversations(database, first)).length, 1)
    assert.deepEqual(await store.listInterruptions(database, first), [])
    assert.deepEqual(await store.listTasks(database, first), [])
  })
}

/** Registers the tests of what is read of an entry. */
export function checkEntries(check: Check): void {
  check('[O3] the branches and the view of an entry are read as they were stored, with either alone', async (store) => {
    const views = [undefined, { by: 'run/9', upTo: 4 }, { upTo: 7 }, { by: 'run/9' }]
    const branches = [undefined, ['left', 'right']]
    const entries = views.flatMap((view) =>
      branches.map((list) => {
        const made = entry(`${JSON.stringify(view)} ${JSON.stringify(list)}`)
        const placed = list === undefined ? made : { ...made, place: { ...made.place, branches: list } }
        return view === undefined ? placed : { ...placed, view }
      }),
    )
    const stored = structuredClone(entries).map((one, at) => ({ ...one, seq: at + 1 }))
    assert.ok((await store.append({ database, conversation: 'c', create: conversation('c'), entries })).ok)
    assert.deepEqual(await store.readEntries(database, 'c', { after: 0, limit: 100 }), stored)
  })
}

function checkChanges(check: Check): void {
  check('what an append does to jobs is done in its order: a run may end and the next one begin', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const jobs = [newJob({ id: 't1', kind: 'task' }), rest('j1'), newJob({ id: 'j2', owner: null })]
    const result = await store.append({ ...by(job), entries: [entry('a', 'j1'), entry('b', 'j2')], jobs })
    assert.ok(result.ok)
    const seen = result.jobs.map(({ id, kind, status, firstSeq }) => [id, kind, status, firstSeq])
    const expected = [
      ['t1', 'task', 'running', 2],
      ['j1', 'run', 'completed', 1],
      ['j2', 'run', 'queued', 2],
    ]
    assert.deepEqual(seen, expected)
    for (const one of result.jobs) assert.deepEqual(await jobOf(store, one.id), one)
  })

  check('a row that was read before does not change under its reader', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const read = await jobOf(store, 'j1')
    const before = structuredClone(read)
    await store.append(change(job, wake('j1')))
    assert.deepEqual(read, before)
    assert.deepEqual(job, before)
  })
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

/** Two copies of 3 MB of one id at once, and readers who look for it meanwhile. */
async function copied(store: Store): Promise<void> {
  const id = 'chats/copy'
  const texts = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(100_000)}`)
  const copy = () => {
    const entries = texts.map((text) => entry(text))
    return store.append({ database, conversation: id, create: conversation(id), entries })
  }
  let isOver = false
  const copies = Promise.all([copy(), copy()]).finally(() => {
    isOver = true
  })
  while (!isOver) {
    const found = (await store.getConversation(database, id))?.lastSeq
    assert.ok(found === undefined || found === texts.length, `${found} entries are there`)
    const page = { ...wholePage, agent: null, createdBy: null }
    const listed = (await store.listConversations(database, page)).map(({ lastSeq }) => lastSeq)
    assert.deepEqual(
      listed.filter((lastSeq) => lastSeq !== texts.length),
      [],
    )
    await store.sweepConversations(10)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const results = await copies
  assert.deepEqual(results.map(({ ok }) => ok).sort(), [false, true])
  assertRefused(results.find(({ ok }) => !ok) ?? assert.fail(), 'exists')
  assert.deepEqual(await textsOf(store, id, 50), texts)
  assert.equal(await store.deleteConversation(database, id), true)
  assert.equal(await store.getConversation(database, id), null)
  assert.deepEqual(await store.readEntries(database, id, { after: 0, limit: 1 }), [])
  assert.ok((await copy()).ok)
}
