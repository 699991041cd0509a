/** Conformance of stores: remembered replies, and the note that an append stores with one. */
import assert from 'node:assert/strict'
import type { Check } from './store-fixtures.ts'
import {
  assertRefused,
  begin,
  by,
  conversation,
  database,
  entry,
  newJob,
  reply,
  rest,
  start,
  textsOf,
} from './store-fixtures.ts'

/** Registers the tests of replies. */
export function checkReplies(check: Check): void {
  check('a reply is remembered under its key until it is too old or given up', async (store) => {
    const row = reply('k', { digest: 'd1' })
    assert.equal(await store.beginReply(database, row), null)
    const begun = { key: 'k', digest: 'd1', at: 100, status: null, body: null, note: null }
    assert.deepEqual(await store.beginReply(database, { ...row, digest: 'd2', at: 200 }), begun)
    await store.finishReply(database, row, { status: 202, body: '{"text":"å ☔"}' })
    const done = { ...begun, status: 202, body: '{"text":"å ☔"}' }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 100 }), done)
    assert.equal(await store.beginReply(database, { ...row, digest: 'd3', at: 300, expiresBefore: 101 }), null)
    const anew = { ...begun, digest: 'd3', at: 300 }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 101 }), anew)
    await store.finishReply(database, anew, null)
    assert.equal(await store.beginReply(database, row), null)
    await store.finishReply(database, reply('unknown'), { status: 200, body: '' })
    assert.equal(await store.beginReply(database, { ...row, key: 'unknown' }), null)
  })

  check('of two first requests with one key one is fresh', async (store) => {
    const replies = await Promise.all([1, 2, 3].map(() => store.beginReply(database, reply('k'))))
    assert.equal(replies.filter((one) => one === null).length, 1)
  })

  check('what was begun by a process that is dead counts as gone, unless it was finished or noted', async (store) => {
    await start(store, 'chats/1')
    for (const key of ['begun', 'finished', 'noted']) assert.equal(await store.beginReply(database, reply(key)), null)
    await store.finishReply(database, reply('finished'), { status: 200, body: 'done' })
    const note = { key: 'noted', at: 100, text: '{"run":"j1"}' }
    assert.ok((await store.append({ database, conversation: 'chats/1', entries: [], note })).ok)
    const alive = await store.beginReply(database, reply('begun', { at: 150, lostBefore: 100 }))
    assert.equal(alive?.at, 100, 'it began at the very moment')
    const other = await store.beginReply(database, reply('begun', { digest: 'other', at: 200, lostBefore: 101 }))
    assert.equal(other?.digest, 'd', 'the key stays with its first body')
    const seen = []
    for (const key of ['begun', 'finished', 'noted']) {
      const row = await store.beginReply(database, reply(key, { at: 200, lostBefore: 101 }))
      seen.push(row === null ? null : [row.at, row.status, row.note])
    }
    assert.deepEqual(seen, [null, [100, 200, null], [100, null, '{"run":"j1"}']])
    assert.equal((await store.beginReply(database, reply('begun', { lostBefore: 200 })))?.at, 200)
  })
  checkNotes(check)
}

/** A note for the reply that `reply(key)` begins, or one begun at another time. */
function note(text: string | null, { at = 100, key = 'k' } = {}) {
  return { note: { key, at, text } }
}

function checkNotes(check: Check): void {
  const at = { database, conversation: 'chats/1' }

  check('a note is stored with its append beside the reply, and stays with it [P20]', async (store) => {
    await store.beginReply(database, reply('k'))
    const noted = note('{"run":"å ☔"}')
    const create = conversation('chats/1')
    const jobs = [newJob({ id: 'j1' })]
    assert.ok((await store.append({ ...at, create, entries: [entry('hello', 'j1')], jobs, ...noted })).ok)
    const begun = { key: 'k', digest: 'd', at: 100, status: null, body: null, note: noted.note.text }
    assert.deepEqual(await store.beginReply(database, reply('k', { at: 300 })), begun)
    await store.finishReply(database, reply('k'), { status: 201, body: 'ok' })
    assert.deepEqual(await store.beginReply(database, reply('k')), { ...begun, status: 201, body: 'ok' })
    assert.equal(await store.beginReply(database, reply('k', { at: 500, expiresBefore: 400 })), null)
    assert.equal((await store.beginReply(database, reply('k')))?.note, null, 'a fresh reply has no note')
  })

  check('a reply takes one note, which outlives its request [P20]', async (store) => {
    await start(store, 'chats/1')
    assert.equal(await store.beginReply(database, reply('k')), null)
    const twice = ['first', 'second'].map((text) => store.append({ ...at, entries: [entry(text)], ...note(text) }))
    const [first, second] = await Promise.all(twice)
    assert.ok(first?.ok)
    assertRefused(second ?? assert.fail(), 'reply-taken')
    await store.finishReply(database, reply('k'), null)
    const kept = await store.beginReply(database, reply('k'))
    assert.equal(kept?.note, 'first', 'what was noted is not forgotten')
    assert.deepEqual(await textsOf(store, 'chats/1'), ['hello', 'first'])
  })

  check('an append whose note has no text only asks that its reply is under way [P20]', async (store) => {
    await start(store, 'chats/1')
    const late = () => store.append({ ...at, entries: [entry('more')], ...note(null) })
    assertRefused(await late(), 'reply-taken')
    await store.beginReply(database, reply('k'))
    for (let round = 0; round < 2; round += 1) assert.ok((await late()).ok)
    assert.equal((await store.beginReply(database, reply('k')))?.note, null)
    assert.ok((await store.append({ ...at, entries: [], ...note('a run') })).ok)
    assertRefused(await late(), 'reply-taken')
    assert.equal((await store.beginReply(database, reply('k')))?.note, 'a run')
    assert.deepEqual(await textsOf(store, 'chats/1'), ['hello', 'more', 'more'])
  })

  check('an append whose reply is gone, over or somebody else’s stores nothing [P20]', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    const assertTaken = async (reservation: { at?: number; key?: string } = {}) => {
      const jobs = [rest('j1', 'waiting')]
      const late = await store.append({ ...by(job), entries: [entry('late')], jobs, ...note('late', reservation) })
      assertRefused(late, 'reply-taken')
    }
    await assertTaken()
    await store.beginReply(database, reply('k'))
    for (const moment of [99, 101]) await assertTaken({ at: moment })
    await assertTaken({ key: 'other' })
    assert.equal(await store.beginReply(database, reply('k', { at: 300, lostBefore: 200 })), null)
    await assertTaken()
    await store.finishReply(database, reply('k', { at: 300 }), null)
    await assertTaken({ at: 300 })
    await store.beginReply(database, reply('k', { at: 400 }))
    await store.finishReply(database, reply('k', { at: 400 }), { status: 500, body: '' })
    await assertTaken({ at: 400 })
    assert.equal((await store.beginReply(database, reply('k')))?.note, null)
    assert.deepEqual(await textsOf(store, 'chats/1'), ['hello'])
    assert.equal((await store.getJob(database, 'j1'))?.status, 'running')
  })

  checkTaken(check)
}

function checkTaken(check: Check): void {
  check('whoever lost a key to another neither finishes nor forgets its reply [P20]', async (store) => {
    const [first, second] = [reply('k'), reply('k', { at: 300, lostBefore: 200 })]
    for (const row of [first, second]) assert.equal(await store.beginReply(database, row), null)
    const begun = { key: 'k', digest: 'd', at: 300, status: null, body: null, note: null }
    for (const late of [null, { status: 200, body: 'late' }]) {
      await store.finishReply(database, first, late)
      assert.deepEqual(await store.beginReply(database, first), begun)
    }
    await store.finishReply(database, second, { status: 200, body: 'mine' })
    assert.equal((await store.beginReply(database, first))?.body, 'mine')
  })

  check('an append that is refused leaves no note, and its reply can still take one [P20]', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.beginReply(database, reply('k'))
    assertRefused(await store.append({ ...by(job), ifLastSeq: 7, entries: [], ...note('no') }), 'moved')
    assert.equal((await store.beginReply(database, reply('k')))?.note, null)
    assert.ok((await store.append({ ...by(job), entries: [], ...note('yes') })).ok)
    assert.equal((await store.beginReply(database, reply('k')))?.note, 'yes')
  })
}
