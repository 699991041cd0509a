/** Conformance of stores: interruptions, opened and settled with an append, listed, and due. */
import assert from 'node:assert/strict'
import type { InterruptionRow, JobRow, Store } from '../../store/store.ts'
import type { InterruptionReader } from '../../store/list-filters.ts'
import type { Check } from './store-fixtures.ts'
import {
  assertRefused,
  begin,
  beginFor,
  by,
  database,
  entry,
  future,
  interruption,
  interruptionsOf,
  jobOf,
  past,
  rest,
  settlement,
  wholePage,
} from './store-fixtures.ts'

/** Registers the tests of interruptions. */
export function checkInterruptions(check: Check): void {
  check('an interruption is kept with its bound values until it is settled, once', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const row = interruption(job, 'i1')
    await store.append({ ...by(job), entries: [entry('ask', 'j1')], open: [row] })
    assert.deepEqual(await store.getInterruption(database, 'i1'), row)
    const open = () => Promise.all([database, 'other'].map((at) => store.countOpenInterruptions(at, 5)))
    assert.deepEqual(await open(), [1, 0])
    const settle = [settlement('i1', { answer: { ok: [1, 'å'] } })]
    assert.ok((await store.append({ ...by(job), entries: [entry('yes', 'j1')], settle })).ok)
    const answered = { answer: { ok: [1, 'å'] }, answeredBy: 'user:anna', settledAt: 8 }
    const settled = { ...row, ...answered, view: { ...row.view, state: 'answered' } }
    assert.deepEqual(await store.getInterruption(database, 'i1'), settled)
    assert.deepEqual(await open(), [0, 0])
    const late = [settlement('i1', { state: 'expired', answer: null, by: null, at: 9 })]
    assertRefused(await store.append({ ...by(job), entries: [], settle: late }), 'settled')
    assert.deepEqual(await store.getInterruption(database, 'i1'), settled)
    assert.equal(await store.getInterruption(database, 'i9'), null)
  })

  check('of two answers at once one is stored [I8]', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')] })
    const answers = ['yes', 'no', 'maybe'].map((answer) => {
      const settle = [settlement('i1', { answer })]
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
    const settle = [settlement('i1', { state: 'cancelled', answer: null, by: null })]
    assert.ok((await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1')], settle })).ok)
    assert.equal((await store.getInterruption(database, 'i1'))?.view.state, 'cancelled')
  })

  check('interruptions are listed oldest first, by state and conversation', async (store) => {
    const jobs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
    for (let index = 0; index < 8; index += 1) {
      const job = index % 2 === 0 ? jobs[0] : jobs[1]
      await store.append({ ...by(job), entries: [], open: [interruption(job, `i${(index * 3) % 8}`)] })
    }
    for (const [id, job] of [
      ['i0', jobs[0]],
      ['i3', jobs[1]],
    ] as const) {
      const settle = [settlement(id, { state: 'expired', answer: null, by: null })]
      assert.ok((await store.append({ ...by(job), entries: [], settle })).ok)
    }
    const list = async (state: string | null, conversation: string | null, limit: number) => {
      const ids: string[] = []
      for (let after: string | null = null; ; ) {
        const page = await store.listInterruptions(database, { limit, after, state, conversation, addressees: null })
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

  checkTerms(check)
  checkAddressees(check)
  checkReaders(check)
  checkDue(check)
}

function checkTerms(check: Check): void {
  check('what an answer must keep to is kept as it was, and nothing where anything goes', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const terms = { questions: [{ id: 'q', options: ['å', null] }], digest: 'x'.repeat(2000), limit: 0 }
    const open = [interruption(job, 'i1', { terms }), interruption(job, 'i2', { terms: null })]
    await store.append({ ...by(job), entries: [], open })
    await store.append({ ...by(job), entries: [], settle: [settlement('i1')] })
    assert.deepEqual((await store.getInterruption(database, 'i1'))?.terms, terms)
    assert.equal((await store.getInterruption(database, 'i2'))?.terms, null)
  })
}

function to(job: JobRow, id: string, addressee: string | null): InterruptionRow {
  const { view, ...row } = interruption(job, id)
  return { ...row, view: { ...view, addressee } }
}

function checkAddressees(check: Check): void {
  check('interruptions are listed for whom they are: all of them, or those for one of some names', async (store) => {
    const jobs = [await begin(store, { id: 'j1' }), await begin(store, { id: 'j2' })] as const
    const names = ['user:anna', null, 'role:desk', 'user:Anna', 'user:anna', 'user:bo', 'role:desk', null]
    for (const [index, name] of names.entries()) {
      const job = jobs[index % 2 === 0 ? 0 : 1]
      await store.append({ ...by(job), entries: [], open: [to(job, `i${index}`, name)] })
    }
    await store.append({ ...by(jobs[0]), entries: [], settle: [settlement('i0')] })
    const list = async (addressees: readonly string[] | null, limit: number, over = {}) => {
      const page = { limit, state: null, conversation: null, addressees, ...over }
      const ids: string[] = []
      for (let after: string | null = null; ; ) {
        const rows = await store.listInterruptions(database, { ...page, after })
        ids.push(...rows.map(({ view }) => view.id))
        if (rows.length < limit) return ids.join(' ')
        after = ids.at(-1) ?? null
      }
    }
    for (const limit of [1, 2, 20]) {
      assert.equal(await list(null, limit), 'i0 i1 i2 i3 i4 i5 i6 i7')
      assert.equal(await list(['user:anna'], limit), 'i0 i4')
      assert.equal(await list(['user:anna', 'role:desk'], limit), 'i0 i2 i4 i6')
      assert.equal(await list(['role:desk', 'nobody'], limit, { conversation: 'chats/j1' }), 'i2 i6')
      assert.equal(await list(['user:anna', 'user:bo'], limit, { state: 'open' }), 'i4 i5')
      assert.equal(await list(['user:bo'], limit, { state: 'open', conversation: 'chats/j1' }), '')
      assert.equal(await list([], limit), '')
      assert.equal(await list(["x' or 1=1 --", '["user:bo"]', ''], limit), '')
    }
  })
}

type Listing = Parameters<Store['listInterruptions']>[1]

function checkReaders(check: Check): void {
  check('interruptions are listed for a reader: those of its conversations, and those for it', async (store) => {
    const places = [
      await beginFor(store, 'j1', { createdBy: 'key:k1' }),
      await beginFor(store, 'j2', { createdBy: 'user:local', people: ['anna', 'bob'] }),
      await beginFor(store, 'j3', { createdBy: 'user:eve', people: ['bob'] }),
    ]
    const names = [null, 'anna', 'role:desk', 'bob', null, 'anna', 'role:desk', null, 'bob']
    for (const [index, name] of names.entries()) {
      const job = await jobOf(store, `j${(index % 3) + 1}`)
      await store.append({ ...by(job), entries: [], open: [to(job, `i${index}`, name)] })
    }
    await store.append({ ...by(await jobOf(store, 'j1')), entries: [], settle: [settlement('i0')] })
    const list = async (reader: InterruptionReader | null, over: Partial<Listing> = {}) => {
      const seen: string[] = []
      for (let after: string | null = null; ; ) {
        const page = { limit: 2, after, state: null, conversation: null, addressees: null, reader, ...over }
        const rows = await store.listInterruptions(database, page)
        seen.push(...rows.map(({ view }) => view.id))
        if (rows.length < 2) return seen.join(' ')
        after = seen.at(-1) ?? null
      }
    }
    const reader = (over: Partial<InterruptionReader>) => ({
      createdBy: null,
      participant: null,
      addressees: [],
      ...over,
    })
    assert.equal(await list(null), 'i0 i1 i2 i3 i4 i5 i6 i7 i8')
    assert.equal(await list(reader({})), '')
    assert.equal(await list(reader({ createdBy: 'key:k1' })), 'i0 i3 i6')
    assert.equal(await list(reader({ createdBy: 'key:k1' }), { state: 'open' }), 'i3 i6')
    assert.equal(await list(reader({ createdBy: 'user:local' })), 'i1 i4 i7')
    assert.equal(await list(reader({ participant: 'anna' })), 'i1 i4 i7')
    assert.equal(await list(reader({ participant: 'anna' }), { addressees: ['anna'] }), 'i1')
    assert.equal(await list(reader({ participant: 'anna' }), { addressees: [null] }), 'i4 i7')
    assert.equal(await list(reader({ createdBy: 'key:k1', participant: 'anna' })), 'i0 i1 i3 i4 i6 i7')
    assert.equal(await list(reader({ addressees: ['anna', 'role:desk'] })), 'i1 i2 i5 i6')
    assert.equal(await list(reader({ addressees: [null] }), { state: 'open' }), 'i4 i7')
    assert.equal(await list(reader({ participant: 'bob', addressees: [null, 'bob'] })), 'i0 i1 i2 i3 i4 i5 i7 i8')
    assert.equal(await list(reader({ participant: 'bob' }), { conversation: places[2] ?? '' }), 'i2 i5 i8')
    assert.equal(await list(reader({ addressees: [null] }), { conversation: places[1] ?? '' }), 'i4 i7')
    assert.equal(await list(null, { addressees: [null] }), 'i0 i4 i7')
    assert.equal(await list(null, { addressees: [null, 'bob'], conversation: places[2] ?? '' }), 'i8')
    const participants = [{ user: 'bob', name: null, roles: [], joinedAt: 1, leftAt: 2 }]
    assert.ok((await store.append({ database, conversation: places[2] ?? '', entries: [entry('x')], participants })).ok)
    assert.equal(await list(reader({ participant: 'bob' })), 'i1 i4 i7')
  })
}

const ids = (rows: readonly InterruptionRow[]) => rows.map(({ view }) => view.id).join(' ')

function checkDue(check: Check): void {
  check('open interruptions whose time is over are due, the longest over first, in all databases', async (store) => {
    const job = await begin(store, { id: 'j1' })
    const other = await begin(store, { id: 'j1' }, 'other')
    const times: readonly (readonly [JobRow, string, number | null])[] = [
      [job, 'i1', past + 3],
      [job, 'i2', future],
      [other, 'i3', past + 1],
      [job, 'i4', null],
      [job, 'i5', past + 2],
      [job, 'i6', past],
    ]
    for (const [one, id, expiresAt] of times) {
      await store.append({ ...by(one), entries: [], open: [interruption(one, id, { expiresAt })] })
    }
    await store.append({ ...by(job), entries: [], settle: [settlement('i6')] })
    assert.equal(ids(await store.dueInterruptions(10)), 'i3 i5 i1')
    assert.equal(ids(await store.dueInterruptions(2)), 'i3 i5')
    const [first] = await store.dueInterruptions(1)
    assert.deepEqual(first, interruption(other, 'i3', { expiresAt: past + 1 }))
    assert.deepEqual(first, await store.getInterruption('other', 'i3'))
    const expire = [settlement('i5', { state: 'expired', answer: null, by: null })]
    await store.append({ ...by(job), entries: [], settle: expire })
    assert.equal(ids(await store.dueInterruptions(10)), 'i3 i1')
  })

  check('an interruption that is due is still open: whoever settles it first has settled it', async (store: Store) => {
    const job = await begin(store, { id: 'j1' })
    await store.append({ ...by(job), entries: [], open: [interruption(job, 'i1', { expiresAt: past })] })
    await store.append({ ...by(job), entries: [], jobs: [rest('j1', 'waiting')] })
    const page = { ...wholePage, state: 'open', conversation: null, addressees: null }
    assert.equal(ids(await store.listInterruptions(database, page)), 'i1')
    const { conversation } = job
    assert.ok((await store.append({ database, conversation, entries: [], settle: [settlement('i1')] })).ok)
    const late = [settlement('i1', { state: 'expired' })]
    assertRefused(await store.append({ database, conversation, entries: [], settle: late }), 'settled')
    assert.deepEqual(await store.dueInterruptions(10), [])
    assert.equal((await interruptionsOf(store))[0]?.view.state, 'answered')
  })
}
