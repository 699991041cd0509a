/** A store over two PostgreSQL servers: the kit of stores, and one server that is away. */
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { emptySchema } from '../../../../../../test/postgres/support/stores.ts'
import { startServer, type TestServer } from '../../../../../../test/postgres/support/server.ts'
import { type StoreHarness, testStore } from '../../../testing/conformance/store.ts'
import { begin, database, entry, idleListener, start } from '../../../testing/conformance/store-fixtures.ts'
import type { Store } from '../../store.ts'
import { memoryStore } from '../memory.ts'
import { postgresStore } from '../postgres.ts'
import { routedStore } from '../routed.ts'

interface Places {
  readonly eu: { readonly url: string; readonly schema: string }
  readonly us: { readonly url: string; readonly schema: string }
}

let second: TestServer
const places = new WeakMap<Store, Places>()

/** The databases of the kit are apart: `default` on one server, `other` and `third` on the second. */
const homes = { other: 'us', third: 'us' }

async function openAt(at: Places): Promise<Store> {
  const away = { unavailableAfterMs: 1_000, timeouts: { connectMs: 1_000 } }
  const clusters = { eu: postgresStore(at.eu), us: postgresStore({ ...at.us, ...away }) }
  const store = routedStore({ clusters, homes, others: 'eu' })
  await store.open()
  places.set(store, at)
  return store
}

const newPlaces = async (context: TestContext): Promise<Places> => ({
  eu: await emptySchema(context),
  us: await emptySchema(context, second.url),
})

const harness: StoreHarness = {
  name: 'two servers',
  open: async (context) => openAt(await newPlaces(context)),
  async reopen(store) {
    await store.close()
    return openAt(places.get(store) ?? assert.fail())
  },
  second: (store) => openAt(places.get(store) ?? assert.fail()),
}

describe('a store over two servers', () => {
  before(async () => {
    second = await startServer()
  })
  after(() => second?.stop('immediate'))

  testStore(harness)

  test('what a cluster holds of a database whose home is elsewhere is not there', async (context) => {
    const at = await newPlaces(context)
    const stray = postgresStore(at.us)
    await stray.open()
    await begin(stray, { id: 'j1', in: 'chats/1', owner: null })
    await stray.close()
    const store = await openAt(at)
    assert.deepEqual(await store.listDatabases(), [])
    assert.equal(await store.getConversation(database, 'chats/1'), null)
    assert.deepEqual(await store.claimJobs({ owner: 'w1', leaseMs: 1_000, limit: 5 }), [])
    await store.close()
  })

  test('a server that is away fails its own databases, and none of the others', async (context) => {
    const at = await newPlaces(context)
    const store = await openAt(at)
    const here = await begin(store, { id: 'j1', in: 'chats/1' })
    const there = await begin(store, { id: 'j2', in: 'chats/2' }, 'other')
    await second.stop('immediate')
    const isAway = (error: unknown) => isWitanError(error) && error.code === 'STORE_UNAVAILABLE'
    await assert.rejects(
      store.append({ database: 'other', conversation: 'chats/2', entries: [entry('lost', 'j2')] }),
      isAway,
    )
    assert.ok((await store.append({ database, conversation: 'chats/1', entries: [entry('kept', 'j1')] })).ok)
    await store.checkWritable()
    assert.deepEqual(await store.claimJobs({ owner: 'w2', leaseMs: 1_000, limit: 4 }), [])
    const held = await store.heartbeat('w1', [here, there], 60_000)
    assert.deepEqual(held.map(({ id }) => id).sort(), ['j1', 'j2'], 'nobody knows of the second that it is lost')
    assert.deepEqual(await store.dueInterruptions(5), [])
    await assert.rejects(store.listDatabases(), 'a list without one of them would be a lie')
    await second.start()
    assert.ok((await store.append({ database: 'other', conversation: 'chats/2', entries: [entry('again', 'j2')] })).ok)
    await store.close()
  })

  test('a cluster that cannot be opened is named, and the others are closed again', async (context) => {
    const at = await newPlaces(context)
    const away = { url: 'postgres://postgres@127.0.0.1:9/postgres', schema: 'away' }
    await assert.rejects(openAt({ ...at, us: away }), /Cluster `us`: /)
  })
})

test('homes are clusters that are there', () => {
  const clusters = { eu: memoryStore() }
  assert.throws(() => routedStore({ clusters, others: 'us' }), /There is no cluster `us`\./)
  assert.throws(
    () => routedStore({ clusters, homes: { acme: 'constructor' }, others: 'eu' }),
    /no cluster `constructor`/,
  )
})

test('the histories of several stores are one number that each reads as its own', async () => {
  const history = { eu: 3, us: 0 }
  const followed: Record<string, number | undefined> = {}
  const fake = (name: 'eu' | 'us'): Store =>
    new Proxy(memoryStore(), {
      get(target, key, receiver) {
        if (key === 'history') return history[name]
        if (key !== 'append') return Reflect.get(target, key, receiver)
        return async (append: Parameters<Store['append']>[0]) => {
          followed[name] = append.follows?.history
          return { ok: false, reason: 'missing', job: null }
        }
      },
    })
  const store = routedStore({ clusters: { eu: fake('eu'), us: fake('us') }, homes: { other: 'us' }, others: 'eu' })
  const append = async (at: string, common: number) => {
    await store.append({
      database: at,
      conversation: 'chats/1',
      entries: [],
      follows: { history: common, entry: null },
    })
    return followed[at === 'other' ? 'us' : 'eu']
  }
  const before = store.history
  assert.deepEqual([await append('default', before), await append('other', before)], [3, 0])
  history.us = 1
  const later = store.history
  assert.ok(later > before)
  assert.deepEqual([await append('other', before), await append('other', later)], [0, 1])
  assert.equal(await append('default', later), 3)
})

test('a listener hears of each database from its home alone, and of trouble with any', async () => {
  const listeners: Parameters<Store['listen']>[0][] = []
  const listen: Store['listen'] = (one) => {
    listeners.push(one)
    return () => {}
  }
  const fake = () => Object.assign(memoryStore(), { listen })
  const store = routedStore({ clusters: { eu: fake(), us: fake() }, homes: { other: 'us' }, others: 'eu' })
  const heard: unknown[] = []
  const watched = [
    { database: 'default', conversation: 'c', lastSeq: null },
    { database: 'other', conversation: 'd', lastSeq: 1 },
  ]
  store.listen({
    ...idleListener,
    appended: ({ database: at }) => heard.push(at),
    watched: () => watched,
    listening: (problem) => heard.push(problem?.code ?? null),
  })
  const [eu, us] = listeners
  for (const one of listeners) one.appended({ database: 'other', conversation: 'd', lastSeq: 2 })
  assert.deepEqual([[...(eu?.watched() ?? [])], [...(us?.watched() ?? [])]], [[watched[0]], [watched[1]]])
  eu?.listening(null)
  us?.listening({ code: 'STORE_UNAVAILABLE' } as never)
  eu?.listening(null)
  us?.listening(null)
  assert.deepEqual(heard, ['other', null, 'STORE_UNAVAILABLE', null])
  await start(store, 'chats/1')
})
