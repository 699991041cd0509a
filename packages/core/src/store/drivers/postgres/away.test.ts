/** A server that goes and comes back, kills its connections or falls silent: nothing is lost or doubled, and nobody waits for ever. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openProxy } from '../../../../../../test/postgres/support/proxy.ts'
import { startServer } from '../../../../../../test/postgres/support/server.ts'
import { asAdmin, freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { begin, by, entry, textsOf } from '../../../testing/conformance/store-fixtures.ts'
import type { JobRow, Store } from '../../store.ts'

/** Appends to each conversation, one after the other, until told to stop; tells how many were acknowledged, and which. */
function appending(store: Store, jobs: readonly JobRow[]) {
  const acknowledged = new Map<string, string[]>()
  let count = 0
  let isOver = false
  const work = Promise.all(
    jobs.map(async (job) => {
      const texts: string[] = []
      acknowledged.set(job.conversation, texts)
      for (let round = 0; !isOver; round += 1) {
        const pair = [`${round} a`, `${round} b`]
        const results = await Promise.all(pair.map((text) => store.append({ ...by(job), entries: [entry(text)] })))
        assert.ok(results.every(({ ok }) => ok))
        texts.push(...pair)
        count += pair.length
      }
    }),
  )
  return {
    count: () => count,
    async stop() {
      isOver = true
      await work
      return acknowledged
    },
  }
}

async function assertStored(store: Store, acknowledged: ReadonlyMap<string, readonly string[]>): Promise<void> {
  for (const [conversation, texts] of acknowledged) {
    assert.deepEqual(await textsOf(store, conversation, 500), ['hello', ...texts])
  }
}

async function beginMany(store: Store, count: number): Promise<readonly JobRow[]> {
  const ids = Array.from({ length: count }, (_, index) => `j${index}`)
  return Promise.all(ids.map((id) => begin(store, { id })))
}

/** Waits until so many more appends were acknowledged. */
async function more(appends: { count(): number }, count: number): Promise<void> {
  const enough = appends.count() + count
  while (appends.count() < enough) await pause(5)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('connections that are killed again and again lose nothing [I1] [I2]', async (context) => {
  const place = await freshSchema(context)
  const url = new URL(place.url)
  url.searchParams.set('application_name', place.schema)
  const store = await openStore(context, { ...place, url: url.href })
  const appends = appending(store, await beginMany(store, 12))
  await asAdmin(place.url, async (client) => {
    let killed = 0
    for (let round = 0; killed < 40 || appends.count() < 100; round += 1) {
      await pause(15 + (round % 7) * 9)
      const { rowCount } = await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
        [place.schema],
      )
      killed += rowCount ?? 0
    }
  })
  await assertStored(store, await appends.stop())
})

test('a server that is stopped at once and started again loses nothing that was told [I1]', async (context) => {
  const server = await startServer({ fsync: true })
  context.after(() => server.stop('fast'))
  const store = await openStore(context, { url: server.url, schema: 'away' })
  const appends = appending(store, await beginMany(store, 8))
  for (const downMs of [0, 500]) {
    await more(appends, 20)
    await server.stop('immediate')
    await pause(downMs)
    await server.start()
  }
  await more(appends, 20)
  await assertStored(store, await appends.stop())
})

test('a network that falls silent is left, and what hung is done once [I1]', async (context) => {
  const place = await freshSchema(context)
  const proxy = await openProxy(place.url)
  context.after(() => proxy.close())
  const timeouts = { connectMs: 1_200, replyMs: 1_000, lockMs: 800, silentMs: 800 } // more than a busy machine takes
  const store = await openStore(context, { ...place, url: proxy.url, timeouts })
  const appends = appending(store, await beginMany(store, 6))
  for (let round = 0; round < 4; round += 1) {
    await more(appends, 10)
    await pause(round * 10)
    proxy.silence(true)
    await pause(1_500)
    proxy.silence(false)
  }
  await assertStored(await openStore(context, place), await appends.stop())
})

test('connections that died unheard cost one time-out together, not one each', async (context) => {
  const place = await freshSchema(context)
  const proxy = await openProxy(place.url)
  context.after(() => proxy.close())
  const timeouts = { replyMs: 2_000 } // more than a busy machine takes for a reply
  const store = await openStore(context, { ...place, url: proxy.url, timeouts, unavailableAfterMs: 1_900 })
  const jobs = await beginMany(store, 12)
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(jobs.map(({ id }) => store.getJob('default', id))) // opens them all
    await Promise.all(jobs.map(({ id }) => store.finishReply('default', { key: id, at: 1 }, null)))
    proxy.strand()
    await Promise.all(jobs.map((job) => store.append({ ...by(job), entries: [entry(`${round}`)] })))
    await Promise.all(jobs.map(({ id }) => store.getJob('default', id)))
  }
  assert.deepEqual(await textsOf(store, jobs[0]?.conversation ?? ''), ['hello', '0', '1', '2'])
})

test('a server that stays away is told of, with every append behind it, and then all goes on', async (context) => {
  const { store, server } = await shortOfPatience(context)
  const [job = assert.fail(), other = assert.fail()] = await beginMany(store, 2)
  await server.stop('fast')
  const from = performance.now()
  const append = (text: string) => store.append({ ...by(job), entries: [entry(text)] })
  const lost = append('lost')
  const behind = pause(100).then(() => append('behind'))
  const isRefused = (append: Promise<unknown>) => assert.rejects(append, { code: 'STORE_UNAVAILABLE' })
  await Promise.all([lost, behind].map(isRefused))
  await assert.rejects(store.getJob('default', 'j0'), { code: 'STORE_UNAVAILABLE' })
  await assert.rejects(store.claimJobs({ owner: 'w', leaseMs: 1, limit: 1 }), { code: 'STORE_UNAVAILABLE' })
  assert.ok(performance.now() - from < 20_000, 'nobody waits for long')
  await server.start()
  assert.deepEqual((await append('back')).ok, true)
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'back'])
  assert.deepEqual(await textsOf(store, other.conversation), ['hello'])
})

async function shortOfPatience(context: TestContext) {
  const server = await startServer()
  context.after(() => server.stop('fast'))
  const store = await openStore(context, { url: server.url, schema: 'short', unavailableAfterMs: 400 })
  return { server, store }
}

test('an append that cannot be stored takes only its own conversation with it', async (context) => {
  const store = await openStore(context)
  const [job = assert.fail(), other = assert.fail()] = await beginMany(store, 2)
  // No column holds a number like this: it stands for whatever a server may refuse.
  const bad = { ...by(job), entries: [entry('bad')], messageAt: 1e30 }
  const appends = [
    store.append({ ...by(job), entries: [entry('before')] }),
    store.append({ ...by(other), entries: [entry('one')] }),
    store.append(bad),
    store.append({ ...by(job), entries: [entry('after')] }),
    store.append({ ...by(other), entries: [entry('two')] }),
  ]
  const settled = await Promise.allSettled(appends)
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'before'])
  assert.deepEqual(await textsOf(store, other.conversation), ['hello', 'one', 'two'])
})

test('what waits behind an append that fails is not stored, even if it could be', async (context) => {
  const store = await openStore(context)
  const [job = assert.fail(), other = assert.fail()] = await beginMany(store, 2)
  const bad = store.append({ ...by(job), entries: [entry('bad')], messageAt: 1e30 })
  await new Promise((resolve) => setImmediate(resolve)) // it is on its way now
  const behind = [job, other, job].map((one) => store.append({ ...by(one), entries: [entry('behind')] }))
  const settled = await Promise.allSettled([bad, ...behind])
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled', 'rejected'],
  )
  assert.ok((await store.append({ ...by(job), entries: [entry('again')] })).ok)
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'again'])
})
