/** Conformance of stores: notifications between stores on the same data. They may be late or repeated, so a test waits and retries. */
import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { Check, CheckTwo } from './store-fixtures.ts'
import {
  addJob,
  begin,
  by,
  change,
  conversation,
  database,
  entry,
  idleListener,
  newJob,
  past,
  rest,
  start,
  textsOf,
  wake,
} from './store-fixtures.ts'

interface Heard {
  readonly what: 'appended' | 'due' | 'gone' | 'said'
  readonly database?: string
  readonly conversation?: string
  readonly lastSeq?: number
  readonly text?: string
}

interface Ear {
  readonly heard: Heard[]
  /** Resolves at the next notification. */
  next(): Promise<void>
  end(): void
}

function listen(store: Store): Ear {
  const heard: Heard[] = []
  let tell: () => void = () => {}
  const add = (one: Heard) => {
    heard.push(one)
    tell()
  }
  const end = store.listen({
    ...idleListener,
    appended: (at) => add({ what: 'appended', ...at }),
    due: () => add({ what: 'due' }),
    gone: (at) => add({ what: 'gone', ...at }),
    received: (at, text) => add({ what: 'said', ...at, text }),
  })
  const next = () =>
    new Promise<void>((resolve) => {
      tell = resolve
    })
  return { heard, next, end }
}

/** Repeats an action until this notification arrives, up to the test's time limit. A lost notice may come with the next try. */
async function untilHeard(ear: Ear, wanted: (one: Heard) => boolean, act: () => Promise<unknown>): Promise<Heard> {
  for (;;) {
    await act()
    for (let wait = 0; wait < 20; wait += 1) {
      const found = ear.heard.find(wanted)
      if (found !== undefined) return found
      await Promise.race([ear.next(), pause(10, undefined, { ref: true })])
    }
  }
}

/** Registers the tests for a store that no other process can open. */
export function checkAlone(check: Check): void {
  check('a store that no other process can open never calls', async (store) => {
    const ear = listen(store)
    await triggerEveryNotification(store)
    for (let turns = 0; turns < 3; turns += 1) await turn()
    assert.deepEqual(ear.heard, [])
    ear.end()
    ear.end()
  })
}

/** Triggers every kind of notification (`appended`, `due`, `gone`, `said`) at least once. */
async function triggerEveryNotification(store: Store): Promise<void> {
  const job = await begin(store, { id: 'n1' })
  await addJob(store, { id: 'n2', kind: 'task', owner: null, in: job.conversation })
  store.notify(database, job.conversation, 'å')
  await store.releaseJobs('w1')
  const snapshot = (await store.readSnapshot(database, job.conversation)) ?? assert.fail()
  await store.deleteConversation(database, job.conversation)
  await store.putSnapshot(database, structuredClone(snapshot))
}

/** Registers the tests of notifications between two stores on the same data. */
export function checkListening(check: CheckTwo): void {
  check('what one store appends the other hears of, and finds', async (first, second) => {
    const job = await begin(first, { id: 'j1' })
    const ear = listen(second)
    const texts = ['hello']
    const told = await untilHeard(
      ear,
      ({ what, conversation, lastSeq = 0 }) => what === 'appended' && conversation === job.conversation && lastSeq > 1,
      async () => {
        texts.push(`${texts.length}`)
        assert.ok((await first.append({ ...by(job), entries: [entry(texts.at(-1) ?? '', 'j1')] })).ok)
      },
    )
    assert.equal(told.database, database)
    assert.ok((told.lastSeq ?? 0) <= texts.length)
    assert.deepEqual(await textsOf(second, job.conversation), texts)
    ear.end()
  })

  checkDue(check)
  checkSaying(check)
}

function checkDue(check: CheckTwo): void {
  check('a store hears that a job can be claimed: queued, woken, given back or arrived', async (first, second) => {
    const { conversation } = await begin(first, { id: 'j1' })
    const parked = await addJob(first, { id: 't0', kind: 'task', in: conversation })
    await first.append({ ...by(parked), entries: [], jobs: [rest('t0', 'waiting')] })
    let made = 0
    const acts = {
      queued: async () => {
        made += 1
        return first.append({
          database,
          conversation,
          entries: [],
          jobs: [newJob({ id: `q${made}`, kind: 'task', owner: null })],
        })
      },
      woken: () => first.append({ ...change(parked, wake('t0', null)), entries: [] }),
      released: async () => {
        made += 1
        await addJob(first, { id: `r${made}`, kind: 'task', owner: 'w3', in: conversation })
        await first.releaseJobs('w3')
      },
      arrived: async () => {
        made += 1
        const snapshot = (await first.readSnapshot(database, conversation)) ?? assert.fail()
        return first.putSnapshot(`other ${made}`, structuredClone(snapshot))
      },
    }
    for (const act of Object.values(acts)) {
      const ear = listen(second)
      await untilHeard(ear, ({ what }) => what === 'due', act)
      ear.end()
    }
  })

  check('a store hears that a conversation is gone: deleted, or swept', async (first, second) => {
    const ear = listen(second)
    const isGone = (id: string) => (one: Heard) =>
      one.what === 'gone' && one.conversation === id && one.database === database
    await untilHeard(ear, isGone('chats/1'), async () => {
      await start(first, 'chats/1')
      await first.deleteConversation(database, 'chats/1')
    })
    await untilHeard(ear, isGone('chats/2'), async () => {
      await start(first, 'chats/2', { expiresAt: past })
      await first.sweepConversations(10)
    })
    ear.end()
  })

  check(
    'making a conversation ends no stream, but where it takes the place of one that is over',
    async (first, second) => {
      const ear = listen(second)
      const goneOf = () => ear.heard.filter(({ what }) => what === 'gone').map((one) => one.conversation)
      let made = 0
      await untilHeard(
        ear,
        ({ what, conversation }) => what === 'gone' && conversation === `over/${made}`,
        async () => {
          made += 1
          await start(first, `fresh/${made}`)
          await start(first, `over/${made}`, { expiresAt: past })
          await start(first, `over/${made}`)
        },
      )
      assert.ok(goneOf().every((id) => id?.startsWith('over/')))
      ear.end()
    },
  )
}

function checkSaying(check: CheckTwo): void {
  check('what one store says the others hear, whole and unchanged; it does not hear itself', async (first, second) => {
    const ears = [listen(first), listen(second)] as const
    const odd = `å☔ '"\\ \n$1 `
    const long = odd + 'x'.repeat(4_900 - Buffer.byteLength(odd))
    for (const text of ['{"delta":"å"}', '', long]) {
      const told = await untilHeard(
        ears[1],
        (one) => one.what === 'said' && one.text === text,
        async () => first.notify('other', 'chats/1 å', text),
      )
      assert.deepEqual(told, { what: 'said', database: 'other', conversation: 'chats/1 å', text })
    }
    assert.deepEqual(
      ears[0].heard.filter(({ what }) => what === 'said'),
      [],
    )
    for (const ear of ears) ear.end()
  })

  check('who stopped listening hears nothing more, and the others do', async (first, second) => {
    const ears = [listen(second), listen(second)] as const
    await untilHeard(
      ears[0],
      ({ what }) => what === 'said',
      async () => first.notify(database, 'chats/1', 'one'),
    )
    ears[0].end()
    const before = ears[0].heard.length
    await untilHeard(
      ears[1],
      ({ text }) => text === 'two',
      async () => first.notify(database, 'chats/1', 'two'),
    )
    assert.equal(ears[0].heard.length, before)
    const last = first.append({
      database,
      conversation: 'chats/1',
      create: conversation('chats/1'),
      entries: [entry('a')],
    })
    const heard = ears[1].heard.length
    ears[1].end()
    assert.ok((await last).ok)
    for (let turns = 0; turns < 3; turns += 1) await turn()
    assert.equal(ears[1].heard.length, heard)
  })

  check('nobody is called from within the call that it is about', async (first, second) => {
    const ear = listen(second)
    first.notify(database, 'chats/1', 'one')
    const append = first.append({ database, conversation: 'chats/none', entries: [] })
    assert.deepEqual(ear.heard, [])
    assert.equal((await append).ok, false)
    ear.end()
  })
}
