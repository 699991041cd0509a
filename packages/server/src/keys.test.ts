/** API keys and the caller over HTTP. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { keyPattern } from '@witan/core/tooling'
import { createStage, type Stage } from './testing/stage.ts'

describe('keys over HTTP', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  test('a key is created, listed and revoked; only its creation shows it', async () => {
    const body = { id: 'user:anna', roles: ['run', 'buyer'], name: 'Phone', expiresInSeconds: 3600 }
    const made = await stage.call('POST', '/api/v1/keys', { body })
    assert.equal(made.status, 201)
    const { key, ...about } = made.body
    assert.match(String(key), keyPattern)
    assert.deepEqual(Object.keys(about), ['keyId', 'id', 'roles', 'name', 'address', 'createdAt', 'expiresAt'])
    const listed = await stage.call('GET', '/api/v1/keys')
    assert.deepEqual(listed.body, { items: [{ ...about, lastUsedAt: null }], nextCursor: null })
    assert.equal(listed.text.includes(String(key)), false)
    assert.equal((await stage.call('DELETE', `/api/v1/keys/${about.keyId}`)).status, 204)
    const again = await stage.call('DELETE', `/api/v1/keys/${about.keyId}`)
    assert.deepEqual([again.status, again.body.code], [404, 'NOT_FOUND'])
    assert.deepEqual((await stage.call('GET', '/api/v1/keys')).body, { items: [], nextCursor: null })
  })

  test('a repeat under an idempotency key makes no second key, and neither it nor the store has the first', async () => {
    const options = { body: {}, headers: { 'idempotency-key': 'once' } }
    const first = await stage.call('POST', '/api/v1/keys', options)
    const repeat = await stage.call('POST', '/api/v1/keys', options)
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual([repeat.status, repeat.body], [201, { ...first.body, key: null }])
    assert.equal(((await stage.call('GET', '/api/v1/keys')).body['items'] as unknown[]).length, 1)
  })

  test('a request that makes no sense is refused with its field, and not echoed', async () => {
    for (const [body, path] of [
      [{ id: 'anna' }, 'id'],
      [{ roles: ['a b'] }, 'roles.0'],
      [{ expiresInSeconds: -1 }, 'expiresInSeconds'],
      [{ database: 'shop' }, 'database'],
    ] as const) {
      const refused = await stage.call('POST', '/api/v1/keys', { body })
      assert.deepEqual([refused.status, refused.body.path], [422, path])
    }
  })

  test('the caller reads who it is', async () => {
    const { status, body } = await stage.call('GET', '/api/v1/principal')
    const roles = ['admin', 'run', 'answer', 'read']
    assert.deepEqual([status, body], [200, { database: 'default', id: 'user:local', roles, address: null }])
  })
})
