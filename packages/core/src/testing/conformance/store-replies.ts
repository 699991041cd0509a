/** Conformance of stores: remembered replies, and the note that an append leaves beside one. */
import assert from 'node:assert/strict'
import type { Check } from './store-fixtures.ts'
import { assertRefused, begin, by, conversation, database, entry, newJob, reply, start } from './store-fixtures.ts'

/** Registers the tests of replies. */
export function checkReplies(check: Check): void {
  check('a reply is remembered under its key until it is too old or given up', async (store) => {
    const row = reply('k', { digest: 'd1' })
    assert.equal(await store.beginReply(database, row), null)
    const begun = { key: 'k', digest: 'd1', at: 100, status: null, body: null, note: null }
    assert.deepEqual(await store.beginReply(database, { ...row, digest: 'd2', at: 200 }), begun)
    await store.finishReply(database, 'k', { status: 202, body: '{"text":"å ☔"}' })
    const done = { ...begun, status: 202, body: '{"text":"å ☔"}' }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 100 }), done)
    assert.equal(await store.beginReply(database, { ...row, digest: 'd3', at: 300, expiresBefore: 101 }), null)
    const anew = { ...begun, digest: 'd3', at: 300 }
    assert.deepEqual(await store.beginReply(database, { ...row, expiresBefore: 101 }), anew)
    await store.finishReply(database, 'k', null)
    assert.equal(await store.beginReply(database, row), null)
    await store.finishReply(database, 'unknown', { status: 200, body: '' })
    assert.equal(await store.beginReply(database, { ...row, key: 'unknown' }), null)
  })

  check('of two first requests with one key one is fresh', async (store) => {
    const replies = await Promise.all([1, 2, 3].map(() => store.beginReply(database, reply('k'))))
    assert.equal(replies.filter((one) => one === null).length, 1)
  })

  check('what was begun by a process that is dead counts as gone, unless it was finished or noted', async (store) => {
    await start(store, 'chats/1')
    for (const key of ['begun', 'finished', 'noted']) assert.equal(await store.beginReply(database, reply(key)), null)
    await store.finishReply(database, 'finished', { status: 200, body: 'done' })
    const note = { key: 'noted', text: '{"run":"j1"}' }
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

function checkNotes(check: Check): void {
  check('a note is stored with its append beside the reply, and stays with it [P20]', async (store) => {
    await store.beginReply(database, reply('k'))
    const note = { key: 'k', text: '{"run":"å ☔"}' }
    const create = conversation('chats/1')
    const jobs = [newJob({ id: 'j1' })]
    const append = { database, conversation: 'chats/1', create, entries: [entry('hello', 'j1')], jobs, note }
    assert.ok((await store.append(append)).ok)
    const begun = { key: 'k', digest: 'd', at: 100, status: null, body: null, note: note.text }
    assert.deepEqual(await store.beginReply(database, reply('k', { at: 300 })), begun)
    await store.finishReply(database, 'k', { status: 201, body: 'ok' })
    assert.deepEqual(await store.beginReply(database, reply('k')), { ...begun, status: 201, body: 'ok' })
    assert.equal(await store.beginReply(database, reply('k', { at: 500, expiresBefore: 400 })), null)
    assert.equal((await store.beginReply(database, reply('k')))?.note, null, 'a fresh reply has no note')
  })

  check('the last note stands and outlives its request, and one without its reply is not kept [P20]', async (store) => {
    await start(store, 'chats/1')
    const noted = (key: string, text: string) => {
      return store.append({ database, conversation: 'chats/1', entries: [], note: { key, text } })
    }
    assert.ok((await noted('k', 'too early')).ok)
    assert.equal(await store.beginReply(database, reply('k')), null)
    assert.equal((await store.beginReply(database, reply('k')))?.note, null)
    await noted('k', 'first')
    await noted('k', 'second')
    assert.equal((await store.beginReply(database, reply('k')))?.note, 'second')
    await store.finishReply(database, 'k', null)
    assert.equal((await store.beginReply(database, reply('k')))?.note, 'second', 'what was noted is not forgotten')
  })

  check('an append that is refused leaves no note [P20]', async (store) => {
    const job = await begin(store, { id: 'j1' })
    await store.beginReply(database, reply('k'))
    const note = { key: 'k', text: 'no' }
    assertRefused(await store.append({ ...by(job), ifLastSeq: 7, entries: [], note }), 'moved')
    assert.equal((await store.beginReply(database, reply('k')))?.note, null)
  })
}
