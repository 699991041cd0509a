/** API keys through the library: created and revoked by an admin of their database, and stored as a digest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, localPrincipal, memoryStore, type Principal, type Witan } from '@witan/core'
import { digestOfKey, keyPattern, listKeys } from '@witan/core/tooling'
import type { DatabaseId } from '@witan/protocol'
import { fakeClock } from '../support/clock.ts'

const from = (database: string, over: Partial<Principal> = {}): Principal => ({
  ...localPrincipal,
  database: database as DatabaseId,
  ...over,
})

function stage() {
  const clock = fakeClock()
  const store = memoryStore({ now: clock.now })
  return { clock, store, runtime: createRuntime({ clock, store }) }
}

test('[D17] a key is shown once; its row holds the digest, and lists hold neither', async () => {
  const { store, runtime, clock } = stage()
  const witan = runtime.as(from('shop'))
  const made = await witan.keys.create({ id: 'user:anna', roles: ['run', 'buyer', 'run'], name: 'Phone' })
  const { key, keyId, createdAt } = made
  assert.match(key, keyPattern)
  const shown = {
    keyId,
    id: 'user:anna',
    roles: ['run', 'buyer'],
    name: 'Phone',
    address: null,
    createdAt,
    expiresAt: null,
  }
  assert.deepEqual(made, { ...shown, key })
  assert.equal(createdAt, new Date(clock.now()).toISOString())
  assert.deepEqual((await witan.keys.list()).items, [{ ...shown, lastUsedAt: null }])
  const rows = JSON.stringify(await listKeys(store, 'shop', { limit: 9, after: null }))
  assert.equal(rows.includes(key) || rows.includes(key.slice(4)), false)
  const [found] = await runtime.keyLookup.find([digestOfKey(key)])
  assert.deepEqual(found?.principal, {
    database: 'shop',
    id: 'user:anna',
    roles: ['run', 'buyer'],
    address: null,
    via: 'key',
  })
  assert.deepEqual(await runtime.keyLookup.find([key, digestOfKey(`${key}x`)]), [])
  await runtime.close()
})

test('a key of nobody is a principal of its own, and two keys are never alike', async () => {
  const { runtime } = stage()
  const made = await Promise.all(Array.from({ length: 50 }, () => runtime.keys.create({ expiresInSeconds: 60 })))
  for (const { id, keyId, createdAt, expiresAt } of made) {
    assert.equal(id, `key:${keyId}`)
    assert.equal(Date.parse(expiresAt ?? '') - Date.parse(createdAt), 60_000)
  }
  assert.equal(new Set(made.map(({ key }) => key)).size, 50)
  assert.equal(new Set(made.map(({ keyId }) => keyId)).size, 50)
  const first = await runtime.keys.list({ limit: 30 })
  const second = await runtime.keys.list({ limit: 30, cursor: first.nextCursor })
  assert.deepEqual([first.items.length, second.items.length, second.nextCursor], [30, 20, null])
  assert.deepEqual(
    [...first.items, ...second.items].map(({ keyId }) => keyId),
    made.map(({ keyId }) => keyId).reverse(),
  )
  await runtime.close()
})

test('[R45] keys are for admins of their own database; for all others there are none', async () => {
  const { runtime } = stage()
  const { keyId } = await runtime.as(from('shop')).keys.create({ roles: ['admin'] })
  for (const roles of [[], ['run', 'answer', 'read'], ['Admin', 'administrator']]) {
    const other = runtime.as(from('shop', { roles })).keys
    const asked = [() => other.create({}), () => other.list(), () => other.revoke(keyId), () => other.revoke('x')]
    const told = await Promise.all(
      asked.map((ask) =>
        ask().then(
          () => assert.fail(),
          (error: Error) => error.message,
        ),
      ),
    )
    assert.deepEqual(new Set(told), new Set(['There are no keys here.']))
  }
  const elsewhere: Witan = runtime.as(from('other'))
  assert.deepEqual(await elsewhere.keys.list(), { items: [], nextCursor: null })
  await assert.rejects(elsewhere.keys.revoke(keyId), { code: 'NOT_FOUND', message: `There is no key \`${keyId}\`.` })
  assert.equal((await runtime.as(from('shop')).keys.list()).items.length, 1)
  await runtime.as(from('shop')).keys.revoke(keyId)
  await assert.rejects(runtime.as(from('shop')).keys.revoke(keyId), { code: 'NOT_FOUND' })
  await runtime.close()
})

test('a request for a key that makes no sense is refused with the field that is wrong', async () => {
  const { runtime } = stage()
  const wrong: readonly (readonly [body: unknown, path: string])[] = [
    [{ id: 'anna' }, 'id'],
    [{ id: 'user:' }, 'id'],
    [{ id: 'user:an na' }, 'id'],
    [{ id: 'user:role:admin' }, 'id'],
    [{ id: 'key:x' }, 'id'],
    [{ id: `user:${'x'.repeat(101)}` }, 'id'],
    [{ roles: 'admin' }, 'roles'],
    [{ roles: [''] }, 'roles.0'],
    [{ roles: ['a b'] }, 'roles.0'],
    [{ roles: [1] }, 'roles.0'],
    [{ roles: Array.from({ length: 51 }, (_, index) => `r${index}`) }, 'roles'],
    [{ name: '' }, 'name'],
    [{ address: 'anna@example.com' }, 'address'],
    [{ address: '@anna' }, 'address'],
    [{ expiresInSeconds: 0 }, 'expiresInSeconds'],
    [{ expiresInSeconds: 1.5 }, 'expiresInSeconds'],
    [{ expiresInSeconds: 1e12 }, 'expiresInSeconds'],
    [{ expiresIn: 5 }, 'expiresIn'],
    [{ database: 'other' }, 'database'],
    [[], ''],
    [null, ''],
  ]
  for (const [body, path] of wrong)
    await assert.rejects(runtime.keys.create(body as never), (error: { code: string; path: string }) => {
      assert.ok(['BODY_INVALID', 'UNKNOWN_KEY'].includes(error.code), JSON.stringify(body))
      assert.equal(error.path, path, JSON.stringify(body))
      return true
    })
  assert.deepEqual((await runtime.keys.list()).items, [])
  await runtime.close()
})
