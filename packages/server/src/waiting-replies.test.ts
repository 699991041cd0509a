/** A reply that waits ends with its caller's key: 401 within three seconds, while the run goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyAuth } from './auth-keys.ts'
import { createLog } from './log.ts'
import { createStage } from './testing/stage.ts'

const silent = createLog('silent')

/** Every request whose reply waits for a run that never ends. */
const waits: Readonly<
  Record<string, (id: string) => readonly [path: string, body: object, headers?: Record<string, string>]>
> = {
  'a run': (id) => [`/api/v1/conversations/${id.replace('/', ':')}/runs`, { prompt: 'hang' }],
  'a run of an idempotency key': (id) => [
    `/api/v1/conversations/${id.replace('/', ':')}/runs`,
    { prompt: 'hang' },
    { 'idempotency-key': 'one' },
  ],
  'a start': (id) => [
    '/api/v1/conversations',
    { agent: 'clerk', id: `${id}x`, parameters: { country: 'AT' }, prompt: 'hang' },
  ],
  'a direct run': () => ['/api/v1/agents/boss/subagents/clerk/run', { prompt: 'hang', parameters: { country: 'AT' } }],
}

test('[D17] whoever waits for a reply is refused within three seconds after the key is revoked', async () => {
  const stage = await createStage((runtime) =>
    createKeyAuth({ lookup: runtime.keyLookup, port: () => 4747, log: silent }),
  )
  try {
    await Promise.all(
      Object.entries(waits).map(async ([name, of], index) => {
        const { key, keyId } = await stage.runtime.keys.create({ id: `user:u${index}`, roles: ['run'] })
        const authorization = { authorization: `Bearer ${key}` }
        const id = `chats/${index}`
        const start = { agent: 'clerk', id, parameters: { country: 'AT', userId: '1' } }
        assert.equal(
          (await stage.call('POST', '/api/v1/conversations', { body: start, headers: authorization })).status,
          201,
        )
        const [path, body, more = {}] = of(id)
        const abort = new AbortController()
        const waiting = stage.call('POST', path, { body, headers: { ...authorization, ...more }, signal: abort.signal })
        await new Promise((resolve) => setTimeout(resolve, 300))
        const before = performance.now()
        await stage.runtime.keys.revoke(keyId)
        const { status, body: said } = await waiting
        const ms = performance.now() - before
        assert.deepEqual([status, said.code], [401, 'UNAUTHENTICATED'], name)
        assert.ok(ms < 3_500, `${name}: ${ms} ms`)
      }),
    )
  } finally {
    await stage.close()
  }
})
