/** Conformance of stores: the list of conversations with its cursor, and the end of a conversation. */
import assert from 'node:assert/strict'
import type { Entry } from '@witan/protocol/entries'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import {
  addJob,
  assertRefused,
  begin,
  by,
  conversation,
  database,
  entry,
  idsOf,
  interruption,
  interruptionsOf,
  newJob,
  onlyJob,
  rest,
  start,
  wholePage,
} from './store-fixtures.ts'

interface Filter {
  readonly agent?: string
  readonly createdBy?: string
}

async function conversations(store: Store, limit: number, { agent = null, createdBy = null }: Filter | Nulls = {}) {
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const page = await store.listConversations(database, { limit, after, agent, createdBy })
    ids.push(...page.map(({ id }) => id))
    if (page.length < limit) return ids
    after = ids.at(-1) ?? null
  }
}

type Nulls = { readonly agent?: string | null; readonly createdBy?: string | null }

/** Registers the tests of lists. */
export function checkLists(check: Check): void {
  check('conversations are listed newest first, page by page, filtered by agent and maker', async (store) => {
    const ids = Array.from({ length: 9 }, (_, index) => `chats/${(index * 5) % 9}`)
    for (const [index, id] of ids.entries()) {
      await start(store, id, { agent: index % 2 === 0 ? 'clerk' : 'cook', createdBy: index % 3 === 0 ? 'a' : 'b' })
    }
    const newest = ids.toReversed()
    const which = (rule: (index: number) => boolean) => ids.filter((_, index) => rule(index)).reverse()
    for (const limit of [1, 2, 4, 9, 50]) {
      assert.deepEqual(await conversations(store, limit), newest)
      assert.deepEqual(
        await conversations(store, limit, { agent: 'cook' }),
        which((index) => index % 2 === 1),
      )
      assert.deepEqual(
        await conversations(store, limit, { createdBy: 'a' }),
        which((index) => index % 3 === 0),
      )
      const both = which((index) => index % 2 === 0 && index % 3 === 0)
      assert.deepEqual(await conversations(store, limit, { agent: 'clerk', createdBy: 'a' }), both)
    }
  })

  check('a list of conversations goes on where it was while others begin and end', async (store) => {
    for (const id of ['1', '2', '3', '4', '5']) await start(store, `chats/${id}`)
    const page = { agent: null, createdBy: null, limit: 2 }
    const first = await store.listConversations(database, { ...page, after: null })
    await start(store, 'chats/6')
    await store.deleteConversation(database, 'chats/5')
    const second = await store.listConversations(database, { ...page, after: first[1]?.id ?? '' })
    assert.deepEqual(
      [...first, ...second].map(({ id }) => id),
      ['chats/5', 'chats/4', 'chats/3', 'chats/2'],
    )
  })

  check('a list does not go on behind what is not there: it neither ends nor begins anew', async (store) => {
    await start(store, 'chats/1')
    await start(store, 'elsewhere', { database: 'other' })
    const gone = { code: 'BODY_INVALID', path: 'cursor' }
    await store.deleteConversation(database, 'chats/1')
    for (const after of ['chats/1', 'elsewhere', "x' or 1=1 --", '', '\ud800']) {
      const page = { limit: 2, after }
      await assert.rejects(store.listConversations(database, { ...page, agent: null, createdBy: null }), gone)
      await assert.rejects(store.listTasks(database, { ...page, live: null }), gone)
      const filter = { state: null, conversation: null, addressees: null }
      await assert.rejects(store.listInterruptions(database, { ...page, ...filter }), gone)
    }
  })
  checkBeginnings(check)
  checkDeletion(check)
}

function checkBeginnings(check: Check): void {
  check('a list tells how each conversation began, whatever its words are', async (store) => {
    const words: readonly (readonly [text: string, shown: string])[] = [
      ['', ''],
      ['Who is my manager?', 'Who is my manager?'],
      ['one\ntwo\ttabbed \\ "quoted", "text":"no"', 'one\ntwo\ttabbed \\ "quoted", "text":"no"'],
      ['nul \0, half \ud800 pair, mark \u001b', 'nul \0, half \ud800 pair, mark \u001b'],
      [`${'a'.repeat(199)}😀 tail`, 'a'.repeat(199)],
      ['\\'.repeat(5000), '\\'.repeat(200)],
      ['\u0001'.repeat(5000), '\u0001'.repeat(200)],
      ['😀'.repeat(5000), '😀'.repeat(100)],
    ]
    const startWith = (id: string, entries: readonly Entry[]) =>
      store.append({ database, conversation: id, create: conversation(id), entries })
    for (const [index, [text]] of words.entries()) await startWith(`chats/${index}`, [entry(text), entry('later')])
    await startWith('chats/none', [])
    const body = { code: 'RUN_RECOVERED', detail: '"text":"no"', attempt: 2 } as const
    const notice: Entry = { ...entry(''), type: 'notice', kind: null, body }
    await startWith('chats/notice', [notice, entry('then')])
    const rows = await store.listConversations(database, { ...wholePage, agent: null, createdBy: null })
    const shown = new Map(rows.map(({ id, firstMessage }) => [id, firstMessage]))
    for (const [index, [, expected]] of words.entries()) assert.equal(shown.get(`chats/${index}`), expected, `${index}`)
    assert.equal(shown.get('chats/none'), null)
    assert.equal(shown.get('chats/notice'), null)
  })

  check('a list tells the latest run of each conversation, live or over, and no task', async (store) => {
    await start(store, 'chats/none')
    const failed = await begin(store, { id: 'j1', in: 'chats/failed' })
    await store.append({ ...by(failed), entries: [], jobs: [rest('j1', 'failed')] })
    const first = await begin(store, { id: 'j2', in: 'chats/again' })
    await addJob(store, { id: 't1', kind: 'task', in: 'chats/again' })
    await store.append({ ...by(first), entries: [], jobs: [rest('j2', 'failed')] })
    await addJob(store, { id: 'j3', in: 'chats/again' })
    await addJob(store, { id: 't2', kind: 'task', in: 'chats/again' })
    const rows = await store.listConversations(database, { ...wholePage, agent: null, createdBy: null })
    const runs = new Map(rows.map(({ id, lastRun }) => [id, lastRun]))
    assert.equal(runs.get('chats/none'), null)
    for (const [conversation, id] of [
      ['chats/failed', 'j1'],
      ['chats/again', 'j3'],
    ] as const) {
      const job = await store.getJob(database, id)
      assert.ok(job)
      const { status, createdAt, endedAt, about } = job
      assert.deepEqual(runs.get(conversation), { id, status, createdAt, endedAt, about })
    }
  })
}

function checkDeletion(check: Check): void {
  check('deleting a conversation removes all of it, and nothing else', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const other = await begin(store, { id: 'j2' })
    await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [interruption(job, 'i1')] })
    await store.append({ ...by(other), entries: [], open: [interruption(other, 'i2')] })
    assert.equal(await store.deleteConversation(database, job.conversation), true)
    assert.equal(await store.deleteConversation(database, job.conversation), false)
    assert.equal(await store.getConversation(database, job.conversation), null)
    assert.deepEqual(await store.readEntries(database, job.conversation, { after: 0, limit: 10 }), [])
    assert.equal(await store.getJob(database, 'j1'), null)
    assert.equal(await store.getInterruption(database, 'i1'), null)
    assertRefused(await store.append({ ...by(job), entries: [] }), 'missing')
    assert.deepEqual(await store.heartbeat('w1', [job, other], 1000), [{ id: 'j2', wake: false }])
    assert.equal((await store.getConversation(database, other.conversation))?.lastSeq, 1)
    assert.equal((await store.getInterruption(database, 'i2'))?.view.state, 'open')
    assert.deepEqual(await conversations(store, 10), [other.conversation])
  })

  check('a conversation that is deleted takes its tasks with it, and their ids are free', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await addJob(store, { id: 't1', kind: 'task', owner: null, in: job.conversation })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1', { expiresAt: 1000 })] })
    await store.deleteConversation(database, job.conversation)
    assert.equal(await store.getJob(database, 't1'), null)
    assert.deepEqual(await store.listTasks(database, { ...wholePage, live: null }), [])
    assert.deepEqual(await store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 10 }), [])
    assert.deepEqual(await store.dueInterruptions(10), [])
    assert.deepEqual(await interruptionsOf(store), [])
    const again = await begin(store, { id: 'j1' })
    await addJob(store, { id: 't1', kind: 'task', in: again.conversation })
    assert.deepEqual(idsOf(await store.listJobs(database, again.conversation)), ['j1', 't1'])
  })

  check('a deletion of a conversation as it was read takes nothing that was appended since', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    const { createdAt, lastSeq } = (await store.getConversation(database, 'chats/1')) ?? assert.fail()
    await store.append({ ...by(job), entries: [entry('more', 'j1')] })
    assert.equal(await store.deleteConversation(database, 'chats/1', { createdAt, lastSeq }), false)
    assert.equal(await store.deleteConversation(database, 'chats/1', { createdAt: createdAt - 1, lastSeq: 2 }), false)
    assert.equal(await store.deleteConversation(database, 'chats/2', { createdAt, lastSeq: 2 }), false)
    assert.deepEqual(await conversations(store, 10), ['chats/1'])
    assert.equal(await store.deleteConversation(database, 'chats/1', { createdAt, lastSeq: 2 }), true)
    assert.deepEqual(await conversations(store, 10), [])
  })

  check('a conversation that is made again begins anew', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    await store.append({ ...by(job), entries: [entry('old', 'j1')] })
    await store.deleteConversation(database, 'chats/1')
    const again = await begin(store, { id: 'j2', in: 'chats/1' })
    assert.equal(again.firstSeq, 1)
    assert.deepEqual(
      (await store.listJobs(database, 'chats/1')).map(({ id }) => id),
      ['j2'],
    )
    const result = await store.append({ ...by(again), entries: [], jobs: [rest('j2')] })
    assert.deepEqual([result.ok && result.lastSeq, onlyJob(result).status], [1, 'completed'])
    const next = { database, conversation: 'chats/1', entries: [], jobs: [newJob({ id: 'j3' })] }
    assert.ok((await store.append(next)).ok)
  })
}
