/** A request under an idempotency key whose process dies before its reply: the repeat does not run again, and gets what the run came to. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { outliving } from '../support/reopen.ts'
import { agent, settle } from '../support/stage.ts'

/** How many times the model was asked, over all runtimes of a test. */
interface Asked {
  count: number
}

function runtimeOn(store: Store, asked: Asked, hold: Promise<void>): Runtime {
  const model = scriptedModel(
    async () => {
      asked.count += 1
      await hold
      return 'Andrew Fuller.'
    },
    { id: 'test/desk' },
  )
  return createRuntime({ store, models: { 'test/desk': model }, agents: [{ ...agent('desk'), model: 'test/desk' }] })
}

function appOn(runtime: Runtime) {
  const never = new AbortController().signal
  const stop = { streams: never, waits: never }
  const hosts = { port: () => 4747, allowed: [] }
  const auth = createAuth('none', () => 4747)
  return createApp({ runtime, auth, hosts, log: createLog('error'), stop, studio: new URL('file:///nowhere/') })
}

function post(app: ReturnType<typeof createApp>, path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k1', host: '127.0.0.1:4747' }
  return Promise.resolve(app.request(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

for (const kind of ['memory', 'sqlite'] as const) {
  test(`[P20] [I1] a repeat follows the run that the lost request has started, ${kind}`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-key-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const memory = outliving(memoryStore())
    const open = () => (kind === 'memory' ? memory : sqliteStore({ file: join(folder, 'w.db'), synchronous: 'normal' }))
    const asked: Asked = { count: 0 }
    const first = runtimeOn(open(), asked, new Promise(() => {}))
    await first.ready
    const body = { agent: 'desk', id: 'chats/1', prompt: 'Who is my manager?' }
    // Its process dies while the model is asked: nobody ever answers this request.
    void post(appOn(first), '/api/v1/conversations', body).catch(() => undefined)
    for (let round = 0; asked.count === 0 && round < 1000; round += 1) await settle()
    assert.equal(asked.count, 1)
    await first.close()

    let answer = (): void => {}
    const second = runtimeOn(open(), asked, new Promise((resolve) => (answer = resolve)))
    await second.ready
    const app = appOn(second)
    const early = await post(app, '/api/v1/conversations', body)
    assert.deepEqual([early.status, early.headers.get('retry-after')], [409, '1'], 'as long as the run is at work')
    answer()
    let reply = await post(app, '/api/v1/conversations', body)
    for (let round = 0; reply.status === 409 && round < 1000; round += 1) {
      await settle()
      reply = await post(app, '/api/v1/conversations', body)
    }
    const told = (await reply.json()) as { id: string; run: { status: string; text: string } }
    assert.deepEqual(
      [reply.status, told.id, told.run.status, told.run.text],
      [201, 'chats/1', 'completed', 'Andrew Fuller.'],
    )
    const again = await post(app, '/api/v1/conversations', body)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(await again.json(), told)
    assert.equal((await second.getConversation('chats/1')).runs.length, 1)
    await second.close()
  })
}
