/** The cache of API keys: how long it trusts, how it asks, and that floods neither grow it nor hold up those who are known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPrincipal } from '@witan/core'
import type { KnownKey } from '@witan/core/tooling'
import { createKeyCache, keyAgeMs, mostAskingMs } from './key-cache.ts'

const limits = { known: 3, unknown: 3, waiting: 4, atOnce: 2 }

function stage(names: readonly string[] = ['a', 'b', 'c', 'd', 'e']) {
  const existing = new Set(names)
  const looks: (readonly string[])[] = []
  const clock = { now: 1_000 }
  const hold = { until: Promise.resolve() as Promise<unknown>, error: null as unknown }
  const cache = createKeyCache(
    {
      async find(digests) {
        looks.push(digests)
        await hold.until
        if (hold.error !== null) throw hold.error
        return digests.filter((one) => existing.has(one)).map(keyOf)
      },
    },
    { limits, now: () => clock.now },
  )
  return { cache, existing, looks, clock, hold }
}

const keyOf = (digest: string): KnownKey => ({
  ...{ keyId: `k_${digest}`, digest, expiresAt: null, lastUsedAt: null },
  principal: { ...localPrincipal, id: `user:${digest}` },
})

/** Waits until the store has been asked that often. A timer may fire before the look that it should follow. */
async function begun(looks: readonly unknown[], count: number): Promise<void> {
  while (looks.length < count) await new Promise((next) => setImmediate(next))
}

test('a key is looked up once, and again when its answer is old: then it may be gone', async () => {
  const { cache, existing, looks, clock } = stage()
  const first = await cache.find('a')
  assert.equal(first?.keyId, 'k_a')
  clock.now += keyAgeMs - 1
  assert.equal(await cache.find('a'), first)
  clock.now += 1
  assert.equal((await cache.find('a'))?.principal, first?.principal, 'the same object of its principal')
  assert.equal(looks.length, 2)
  existing.delete('a')
  clock.now += keyAgeMs
  assert.equal(await cache.find('a'), null)
  assert.equal(await cache.find('a'), null)
  assert.equal(looks.length, 3, 'that there is no key is known for a while too')
})

test('an answer counts from when it was asked for, and one that took too long counts for nobody', async () => {
  const { cache, clock, hold, looks } = stage()
  const { promise, resolve } = Promise.withResolvers<void>()
  hold.until = promise
  const slow = cache.find('a')
  await begun(looks, 1)
  clock.now += keyAgeMs - 10
  resolve()
  assert.equal((await slow)?.keyId, 'k_a')
  clock.now += 10
  await cache.find('a')
  assert.equal(looks.length, 2)
  const late = Promise.withResolvers<void>()
  hold.until = late.promise
  clock.now += keyAgeMs
  const lost = cache.find('a')
  await begun(looks, 3)
  clock.now += mostAskingMs + 1
  late.resolve()
  await assert.rejects(lost, { code: 'STORE_UNAVAILABLE' })
})

test('who misses at the same time shares a look, and a store that fails lets nobody in and is asked again', async () => {
  const { cache, looks, hold } = stage()
  const found = await Promise.all([cache.find('a'), cache.find('a'), cache.find('x')])
  assert.deepEqual(
    found.map((key) => key?.keyId ?? null),
    ['k_a', 'k_a', null],
  )
  assert.deepEqual(looks, [['a', 'x']])
  hold.error = new Error('away')
  await assert.rejects(cache.find('b'), { message: 'away' })
  hold.error = null
  assert.equal((await cache.find('b'))?.keyId, 'k_b')
})

test('a flood of unknown keys waits in bounds, behind those that are known', async () => {
  const { cache, looks, clock, hold } = stage()
  await Promise.all([cache.find('a'), cache.find('b')])
  clock.now += keyAgeMs
  const { promise, resolve } = Promise.withResolvers<void>()
  hold.until = promise
  const flood = ['x1', 'x2', 'x3', 'x4'].map((one) => cache.find(one))
  await assert.rejects(cache.find('x5'), { code: 'STORE_UNAVAILABLE' })
  const known = [cache.find('a'), cache.find('b')]
  resolve()
  assert.deepEqual(
    (await Promise.all([...known, ...flood])).map((key) => key?.keyId ?? null),
    ['k_a', 'k_b', null, null, null, null],
  )
  assert.deepEqual(looks.slice(1, 2), [['a', 'b']])
  assert.ok(looks.every((digests) => digests.length <= limits.atOnce))
})

test('unknown keys displace no known ones, and neither list outgrows its bound', async () => {
  const { cache, looks } = stage()
  for (const one of ['a', 'b', 'c', 'x1', 'x2', 'x3', 'x4']) await cache.find(one)
  const before = looks.length
  for (const one of ['a', 'b', 'c', 'x2', 'x3', 'x4']) await cache.find(one)
  assert.equal(looks.length, before)
  await cache.find('x1')
  await cache.find('d')
  assert.equal(looks.length, before + 2)
  await cache.find('a')
  assert.equal(looks.length, before + 3, 'the fourth key has displaced the first')
})
