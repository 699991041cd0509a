/** Mode `keys`: who is let in with a key, a cookie or neither. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, localPrincipal, memoryStore } from '@witan/core'
import { sessionOfKey } from '@witan/core/tooling'
import type { DatabaseId } from '@witan/protocol'
import { fakeClock } from '../../../test/support/clock.ts'
import { createKeyAuth } from './auth-keys.ts'

const url = 'http://127.0.0.1:4747/api/v1/agents'
const request = (headers: Record<string, string>) => new Request(url, { headers })
const bearer = (key: string) => request({ authorization: `Bearer ${key}` })

function stage() {
  const clock = fakeClock()
  const store = memoryStore({ now: clock.now })
  const runtime = createRuntime({ clock, store })
  const said: unknown[] = []
  const log = (...line: unknown[]) => said.push(line)
  const auth = createKeyAuth({ lookup: runtime.keyLookup, port: () => 4747, log })
  const shop = runtime.as({ ...localPrincipal, database: 'shop' as DatabaseId })
  return { clock, store, runtime, auth, shop, said }
}
const refused = { code: 'UNAUTHENTICATED' }

test('[D17] a key lets in as whom it names, into its own database', async () => {
  const { auth, runtime, shop } = stage()
  const anna = await shop.keys.create({ id: 'user:anna', roles: ['run'], address: '@anna@example.com' })
  const own = await runtime.keys.create({})
  const principal = { database: 'shop', id: 'user:anna', roles: ['run'], address: '@anna@example.com', via: 'key' }
  assert.deepEqual(await auth.check(bearer(anna.key)), principal)
  assert.deepEqual((await auth.check(bearer(own.key))).id, `key:${own.keyId}`)
  assert.equal(await auth.check(bearer(anna.key)), await auth.check(bearer(anna.key)), 'one object while it is known')
  await runtime.close()
})

test('everything else is refused with 401, in words that repeat nothing', async () => {
  const { auth, runtime, shop } = stage()
  const { key, keyId } = await shop.keys.create({ roles: ['admin'] })
  const wrong = [
    '',
    'Bearer',
    `Basic ${key}`,
    key,
    `Bearer ${key}x`,
    `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '4' : '0'}`,
    `Bearer ${keyId}`,
  ]
  wrong.push(`Bearer wtn_${'0'.repeat(43)}`, `Bearer ${sessionOfKey(key)}`, 'Bearer null', `Bearer ${key}, ${key}`)
  for (const authorization of wrong)
    await assert.rejects(auth.check(request({ authorization })), (error: { code: string; message: string }) => {
      assert.equal(error.code, 'UNAUTHENTICATED')
      assert.doesNotMatch(JSON.stringify([error, error.message]), /wtn_\w/)
      return true
    })
  await assert.rejects(auth.check(request({})), refused)
  assert.equal(auth.exchange(new URL(`http://127.0.0.1:4747/?token=${key}`)), null, 'a key in an address is no key')
  await runtime.close()
})

test('a key that has expired is refused at once, by the clock of the store', async () => {
  const { auth, runtime, shop, clock } = stage()
  const { key } = await shop.keys.create({ expiresInSeconds: 60 })
  await auth.check(bearer(key))
  clock.advance(59_999)
  await auth.check(bearer(key))
  clock.advance(1)
  await assert.rejects(auth.check(bearer(key)), { ...refused, message: 'This API key has expired.' })
  await runtime.close()
})

test('a browser gets a cookie that is not the key, for its own pages only, and it ends with the key', async () => {
  const { auth, runtime, shop, clock } = stage()
  const { key } = await shop.keys.create({ id: 'user:anna', expiresInSeconds: 60 })
  const set = (await auth.signIn(bearer(key))) ?? ''
  assert.match(set, /^witan_4747=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.equal(set.includes(key.slice(4)), false)
  const [cookie = ''] = set.split(';')
  assert.equal((await auth.check(request({ cookie }))).id, 'user:anna')
  await assert.rejects(auth.check(request({ cookie }), 'listed'), refused)
  await assert.rejects(auth.check(request({ cookie, authorization: 'Bearer wrong' })), refused)
  await assert.rejects(auth.check(request({ cookie: `witan_4747=${key}` })), refused)
  const secure = await auth.signIn(request({ authorization: `Bearer ${key}`, origin: 'https://bots.example' }))
  assert.match(secure ?? '', /; Secure$/)
  await assert.rejects(auth.signIn(request({ cookie })), refused)
  assert.match(auth.signOut(), /^witan_4747=; .*Max-Age=0$/)
  clock.advance(60_000)
  await assert.rejects(auth.check(request({ cookie })), refused)
  await runtime.close()
})

test('a store that does not answer lets nobody in', async () => {
  const { auth, runtime, shop, store } = stage()
  const { key } = await shop.keys.create({ roles: ['admin'] })
  const { findRecords } = store
  Object.assign(store, { findRecords: () => Promise.reject(Object.assign(new Error('away'), { code: 'x' })) })
  await assert.rejects(auth.check(bearer(key)), { message: 'away' })
  Object.assign(store, { findRecords })
  assert.equal((await auth.check(bearer(key))).roles[0], 'admin')
  await runtime.close()
})

test('uses are written to the minute, in one batch', async () => {
  const { auth, runtime, shop, store, clock } = stage()
  const made = await Promise.all([shop.keys.create({}), shop.keys.create({}), runtime.keys.create({})])
  const batches: unknown[] = []
  const { useRecords } = store
  const counted = (...of: Parameters<typeof useRecords>) => {
    batches.push(of)
    return useRecords(...of)
  }
  Object.assign(store, { useRecords: counted })
  const at = Math.floor(clock.now() / 60_000) * 60_000
  for (const { key } of [...made, ...made]) await auth.check(bearer(key))
  assert.deepEqual(batches, [])
  await auth.close()
  assert.equal(batches.length, 1)
  assert.deepEqual(
    (await shop.keys.list()).items.map(({ lastUsedAt }) => lastUsedAt),
    [new Date(at).toISOString(), new Date(at).toISOString()],
  )
  await runtime.close()
})

test('uses that cannot be written are told once, and no key with them', async () => {
  const { auth, runtime, store, said } = stage()
  const { key } = await runtime.keys.create({})
  Object.assign(store, { useRecords: () => Promise.reject(new Error('away')) })
  await auth.check(bearer(key))
  await auth.close()
  assert.equal(said.length, 1)
  assert.doesNotMatch(JSON.stringify(said), /wtn_/)
  await runtime.close()
})
