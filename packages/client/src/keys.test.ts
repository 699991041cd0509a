/** API keys over the client: what is sent, and what comes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from './client.ts'
import { fastTiming } from './testing/fast-timing.ts'

const about = {
  keyId: 'k1',
  id: 'user:anna',
  roles: ['run'],
  name: null,
  address: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
}

/** A client whose requests get these replies in turn, and what it sent. */
function playing(replies: readonly (readonly [number, unknown])[]) {
  const sent: unknown[] = []
  const left = [...replies]
  const client = createClient({
    url: 'http://witan.test',
    token: 'wtn_admin',
    timing: fastTiming(),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input))
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null
      sent.push([`${init?.method} ${pathname}${search}`, body, new Headers(init?.headers).get('authorization')])
      const [status, reply] = left.shift() ?? [500, {}]
      const headers = { 'content-type': 'application/json' }
      return new Response(status === 204 ? null : JSON.stringify(reply), { status, headers })
    },
  })
  return { client, sent }
}

test('keys are created, listed page after page and revoked; the caller asks who it is', async () => {
  const who = { database: 'shop', id: 'user:anna', roles: ['admin'], address: null }
  const { client, sent } = playing([
    [201, { ...about, key: 'wtn_x' }],
    [200, { items: [about], nextCursor: 'k1' }],
    [200, { items: [], nextCursor: null }],
    [204, null],
    [200, who],
  ])
  assert.deepEqual(await client.keys.create({ id: 'user:anna', roles: ['run'] }), { ...about, key: 'wtn_x' })
  const listed: unknown[] = []
  for await (const key of client.keys.all({ limit: 1 })) listed.push(key)
  assert.deepEqual(listed, [about])
  await client.keys.revoke('a/b')
  assert.deepEqual(await client.principal(), who)
  const by = 'Bearer wtn_admin'
  assert.deepEqual(sent, [
    ['POST /api/v1/keys', { id: 'user:anna', roles: ['run'] }, by],
    ['GET /api/v1/keys?limit=1', null, by],
    ['GET /api/v1/keys?limit=1&cursor=k1', null, by],
    ['DELETE /api/v1/keys/a%2Fb', null, by],
    ['GET /api/v1/principal', null, by],
  ])
})

test('a key whose reply was lost is revoked, since nobody has it', async () => {
  const { client, sent } = playing([
    [201, { ...about, key: null }],
    [204, null],
  ])
  await assert.rejects(client.keys.create(), { code: 'SERVER_UNREACHABLE', hint: 'Create another one.' })
  assert.deepEqual(sent.at(-1), ['DELETE /api/v1/keys/k1', null, 'Bearer wtn_admin'])
})
