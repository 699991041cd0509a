/** Notifications between stores on PostgreSQL: few statements for many of them, none too large, and a connection that comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdmin, freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { begin, by, database, entry, idleListener } from '../../../testing/conformance/store-fixtures.ts'
import type { Store } from '../../store.ts'
import { gatherNotifications, type Notification, readText, textsOf } from './notification.ts'
import { createOpener, createSealer, mostSealed } from './seal.ts'
import { restored, stored } from './text.ts'

const at = (conversation: string) => ({ database: 'd', conversation })
const appended = (conversation: string, lastSeq: number): Notification => ({
  kind: 'appended',
  at: at(conversation),
  lastSeq,
})
const said = (conversation: string, text: string): Notification => ({ kind: 'said', at: at(conversation), text })

test('of what was appended to a conversation the last is told, in its place, and once that something is due', () => {
  const gathered = gatherNotifications()
  const all: Notification[] = [appended('a', 1), { kind: 'due' }, said('a', 'x'), appended('b', 1), appended('a', 2)]
  for (const notification of [...all, { kind: 'due' } as const]) gathered.add(notification)
  assert.deepEqual(gathered.take(), [{ kind: 'due' }, said('a', 'x'), appended('b', 1), appended('a', 2)])
  assert.deepEqual(gathered.take(), [])
  const anew: Notification[] = [appended('a', 9), { kind: 'gone', at: at('a') }, appended('a', 1)]
  for (const notification of anew) gathered.add(notification)
  assert.deepEqual(gathered.take(), anew)
})

test('what is said has an end: too much at once is left out, what was stored never', () => {
  const gathered = gatherNotifications()
  for (let index = 0; index < 3000; index += 1) gathered.add(said('a', `${index}`))
  gathered.add(appended('a', 7))
  const taken = gathered.take()
  assert.equal(taken.length, 2001)
  assert.deepEqual(taken.at(-1), appended('a', 7))
})

test('notifications come back as they were, in sealed texts that a channel takes', () => {
  const odd = '\u001b\u001e\u001f\0\n"\\ å ☔ \ud800 1'
  const notifications: Notification[] = Array.from({ length: 400 }, (_, index) =>
    said(`${odd} ${index}`, odd.repeat(index % 20)),
  )
  const all: Notification[] = [
    ...notifications,
    { kind: 'gone', at: at(odd) },
    said('large', 'x'.repeat(8000)),
    { kind: 'due' },
  ]
  const [key, sender] = [Buffer.alloc(32, 'k'), Buffer.alloc(16, 's')]
  const seal = createSealer({ sender, channel: 'notifications' })
  const payloads = textsOf(all, mostSealed).map((text) => seal(key, text, 1))
  for (const payload of payloads) assert.match(payload, /^2\.[\w-]{1,7890}$/)
  const open = createOpener({ key, channel: 'notifications', since: 0 })
  const read = payloads.map((payload) => {
    const opened = open(payload)
    assert.ok(typeof opened === 'object' && opened.sender.equals(sender))
    return readText(opened.text) ?? assert.fail(opened.text)
  })
  assert.deepEqual(read.flat(), [...notifications, { kind: 'gone', at: at(odd) }, { kind: 'due' }])
  assert.ok(payloads.length < notifications.length / 4, `${payloads.length} texts`)
  assert.deepEqual(textsOf([], mostSealed), [])
})

test('text at the border comes back as it was', () => {
  for (const text of ['', 'plain', '\0', '\u001b', '\u001b0', 'a\0b\u001b\ud83d', '\udc00x', '👩‍👩‍👧', '\u001bd800']) {
    assert.equal(restored(stored(text)), text)
    assert.ok(stored(text).isWellFormed() && !stored(text).includes('\0'))
  }
})

/** The last seq heard of each conversation. */
function listen(store: Store) {
  const heard = new Map<string, number>()
  const texts: string[] = []
  let wake = () => {}
  const hear =
    <Value>(take: (value: Value) => void) =>
    (value: Value) => {
      take(value)
      wake()
    }
  const end = store.listen({
    ...idleListener,
    appended: hear(({ conversation, lastSeq }) => heard.set(conversation, lastSeq)),
    received(_, text) {
      texts.push(text)
      wake()
    },
  })
  const next = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 50)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return { heard, texts, next, end }
}

test('hundreds of appends are told in a few statements', async (context) => {
  const place = await freshSchema(context)
  const [first, second] = [await openStore(context, place), await openStore(context, place)]
  const jobs = await Promise.all(Array.from({ length: 50 }, (_, index) => begin(first, { id: `j${index}` })))
  const ear = listen(second)
  while (!ear.texts.includes('ready')) {
    first.notify(database, 'x', 'ready')
    await ear.next()
  }
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(jobs.map((job) => first.append({ ...by(job), entries: [entry('more')] })))
  }
  while (jobs.some(({ conversation }) => ear.heard.get(conversation) !== 11)) await ear.next()
  ear.end()
})

test('a listener whose connection was cut hears again, and the store was never in its way', async (context) => {
  const place = await freshSchema(context)
  const url = new URL(place.url)
  url.searchParams.set('application_name', place.schema)
  const speaking = await openStore(context, place)
  const hearing = await openStore(context, { ...place, url: url.href })
  const ear = listen(hearing)
  for (let round = 0; round < 5; round += 1) {
    while (!ear.texts.includes(`${round}`)) {
      speaking.notify(database, 'x', `${round}`)
      await ear.next()
    }
    const { rowCount } = await asAdmin(place.url, (client) =>
      client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
        place.schema,
      ]),
    )
    assert.ok((rowCount ?? 0) > 0, 'there was a connection to cut')
    const job = await begin(hearing, { id: `j${round}` })
    assert.ok((await hearing.append({ ...by(job), entries: [entry('on')] })).ok)
  }
  ear.end()
})
