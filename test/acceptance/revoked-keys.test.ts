/** Two servers on one PostgreSQL database: a key that one of them revokes is refused by the other, and its stream there ends. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Cluster, createCluster } from './support/cluster.ts'
import { commandLine } from './support/program.ts'
import { agent, segment, until } from './support/stage.ts'
import type { Page } from './support/wire.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const extra = "auth: { mode: 'keys' },"

describe('several servers with keys', () => {
  let cluster: Cluster
  before(async () => {
    cluster = await createCluster()
  })
  after(() => cluster?.close())

  test('[D17] a revoked key is refused within five seconds by every process, and so is its open stream', async () => {
    const env = { ...process.env, WITAN_STORE_URL: cluster.database.adminUrl }
    const words = ['keys', 'create', '--db', 'shop', '--role', 'admin']
    const { stdout } = await promisify(execFile)(process.execPath, [...commandLine, ...words], { cwd: root, env })
    const [one, other] = await Promise.all([cluster.serve(extra), cluster.serve(extra)])
    const admin = { authorization: `Bearer ${stdout.trim()}` }
    const made = await one.call<{ key: string; keyId: string }>('POST', '/api/v1/keys', {
      body: { id: 'user:anna', roles: ['run'] },
      headers: admin,
    })
    const anna = { authorization: `Bearer ${made.body.key}` }
    cluster.model.script('desk', { text: 'Good morning.' })
    assert.equal((await one.call('PUT', '/api/v1/agents/desk', { body: agent('desk'), headers: admin })).status, 201)
    const begun = { agent: 'desk', id: 'chats/1', prompt: 'Hello.' }
    const started = await other.call('POST', '/api/v1/conversations', { body: begun, headers: anna })
    assert.equal(started.status, 201, started.text)
    const path = `/api/v1/conversations/${segment('chats/1')}/events`
    const { status, frames } = await other.stream('GET', path, { headers: anna })
    assert.equal(status, 200)
    const read = (async () => {
      let count = 0
      for await (const _ of frames) count += 1
      return { count, at: Date.now() }
    })()
    assert.equal((await one.call('DELETE', `/api/v1/keys/${made.body.keyId}`, { headers: admin })).status, 204)
    const from = Date.now()
    await until(
      () => other.call('GET', '/api/v1/principal', { headers: anna }),
      (answer) => answer.status === 401,
    )
    assert.ok(Date.now() - from < 5_000, `${Date.now() - from} ms`)
    const { count, at } = await read
    assert.ok(count > 0 && at - from < 5_000, `${at - from} ms`)
    // The other process has written down when the admin's key was used, at the latest at its end.
    assert.equal((await other.call('GET', '/api/v1/principal', { headers: admin })).status, 200)
    await other.stop()
    const { items } = (
      await one.call<Page<{ id: string; lastUsedAt: string | null }>>('GET', '/api/v1/keys', { headers: admin })
    ).body
    const used = items.map(({ lastUsedAt }) => lastUsedAt)
    assert.equal(used.length, 1)
    assert.match(used[0] ?? '', /:00\.000Z$/)
    assert.doesNotMatch(`${one.output()}${other.output()}`, /wtn_/)
  })
})
