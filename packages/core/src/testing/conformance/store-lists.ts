/** Conformance of stores: lists with their cursors, interruptions, and the end of a conversation. */
import assert from 'node:assert/strict'
import type { Append, Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import { assertRefused, begin, by, database, entry, interruption, newJob, rest, start } from './store-fixtures.ts'

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
  checkInterruptions(check)
  checkDeletion(check)
}

function checkInterruptions(check: Check): void {
  check('an interruption is kept with its bound values until it is settled, once', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const row = interruption(job, 'i1')
    await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [row] })
    assert.deepEqual(await store.getInterruption(database, 'i1'), row)
    const settle = [{ id: 'i1', state: 'answered', answer: { ok: [1, 'å'] }, by: 'user:anna', at: 8 }] as const
    assert.ok((await store.append({ ...by(job), entries: [entry('yes', 'j1')], settle })).ok)
    const answered = { answer: { ok: [1, 'å'] }, answeredBy: 'user:anna', settledAt: 8 }
    const settled = { ...row, ...answered, view: { ...row.view, state: 'answered' } }
    assert.deepEqual(await store.getInterruption(database, 'i1'), settled)
    const late = [{ id: 'i1', state: 'expired', answer: null, by: null, at: 9 }] as const
    assertRefused(await store.append({ ...by(job), entries: [], settle: late }), 'settled')
    assert.deepEqual(await store.getInterruption(database, 'i1'), settled)
    assert.equal(await store.getInterruption(database, 'i9'), null)
  })

  check('of two answers at once one is stored [I8]', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    const answers = ['yes', 'no', 'maybe'].map((answer) => {
      const settle = [{ id: 'i1', state: 'answered', answer, by: null, at: 8 }] as const
      return store.append({ database, conversation: job.conversation, entries: [entry(answer)], settle })
    })
    const results = await Promise.all(answers)
    assert.equal(results.filter(({ ok }) => ok).length, 1)
    const { answer } = (await store.getInterruption(database, 'i1')) ?? assert.fail()
    const log = await store.readEntries(database, job.conversation, { after: 1, limit: 10 })
    assert.deepEqual(
      log.map(({ body }) => (body as { text: string }).text),
      [answer],
    )
  })

  check('an interruption may be opened and settled in one append', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const settle = [{ id: 'i1', state: 'cancelled', answer: null, by: null, at: 8 }] as const
    assert.ok((await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')], settle })).ok)
    assert.equal((await store.getInterruption(database, 'i1'))?.view.state, 'cancelled')
  })

  check('interruptions are listed oldest first, by state and conversation', async (store) => {
    const jobs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
    for (let index = 0; index < 8; index += 1) {
      const job = index % 2 === 0 ? jobs[0] : jobs[1]
      await store.append({ ...by(job), entries: [], open: [interruption(job, `i${(index * 3) % 8}`)] })
    }
    const settle = ['i0', 'i3'].map((id) => ({ id, state: 'expired', answer: null, by: null, at: 8 }) as const)
    await store.append({ database, conversation: 'chats/j1', entries: [], settle })
    const list = async (state: string | null, conversation: string | null, limit: number) => {
      const ids: string[] = []
      for (let after: string | null = null; ; ) {
        const page = await store.listInterruptions(database, { limit, after, state, conversation })
        ids.push(...page.map(({ view }) => view.id))
        if (page.length < limit) return ids.join(' ')
        after = ids.at(-1) ?? null
      }
    }
    for (const limit of [1, 3, 20]) {
      assert.equal(await list(null, null, limit), 'i0 i3 i6 i1 i4 i7 i2 i5')
      assert.equal(await list('open', null, limit), 'i6 i1 i4 i7 i2 i5')
      assert.equal(await list('expired', null, limit), 'i0 i3')
      assert.equal(await list(null, 'chats/j1', limit), 'i0 i6 i4 i2')
      assert.equal(await list('open', 'chats/j2', limit), 'i1 i7 i5')
      assert.equal(await list('open', 'chats/none', limit), '')
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
    assert.deepEqual(await store.heartbeat('w1', [job, other], 1000), ['j2'])
    assert.equal((await store.getConversation(database, other.conversation))?.lastSeq, 1)
    assert.equal((await store.getInterruption(database, 'i2'))?.view.state, 'open')
    assert.deepEqual(await conversations(store, 10), [other.conversation])
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
    const result = await store.append({ ...by(again), entries: [], job: rest('j2') } as Append)
    assert.deepEqual([result.ok && result.lastSeq, result.job?.status], [1, 'completed'])
    const next = { database, conversation: 'chats/1', entries: [], job: newJob(store, { id: 'j3' }) } as Append
    assert.ok((await store.append(next)).ok)
  })
}
