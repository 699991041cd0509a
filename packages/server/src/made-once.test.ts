/** What a request made under an idempotency key without starting a run is found again, although its process died before it replied. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, memoryStore, sqliteStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { fakeClock } from '../../../test/support/clock.ts'
import { createApp } from './app.ts'
import { createAuth } from './auth.ts'
import { createLog } from './log.ts'

/** Each store in a folder that its test removes. */
const stores: Readonly<Record<string, (now: () => number, folder: string) => Store>> = {
  memory: (now) => memoryStore({ now }),
  SQLite: (now, folder) => sqliteStore({ file: join(folder, 'a.db'), now }),
}
const never = new AbortController().signal
const requests = {
  'a conversation without a prompt': () => ['/api/v1/conversations', { agent: 'desk', id: 'chats/' }],
  'one with an id of the caller': () => ['/api/v1/conversations', { agent: 'desk', id: 'chats/own' }],
  'a fork': (id: string, seq: number) => [`/api/v1/conversations/${encodeURIComponent(id)}/fork`, { seq }],
} satisfies Record<string, (id: string, seq: number) => readonly [string, object]>

type Sent = {
  readonly status: number
  readonly body: { readonly id: string; readonly agent: string; readonly run?: null }
}

for (const [name, create] of Object.entries(stores))
  for (const [what, made] of Object.entries(requests))
    test(`[P20] ${what} is made once under its key, whichever process died before it replied, on ${name}`, async (context) => {
      const clock = fakeClock()
      const folder = mkdtempSync(join(tmpdir(), 'witan-made-once-'))
      context.after(() => rmSync(folder, { recursive: true, force: true }))
      const kept: Store = create(clock.now, folder)
      let isDying = false
      /** A process: the store outlives it, and while it dies no reply is remembered. */
      const open = () => {
        const store = new Proxy(kept, {
          get: (target, key) => {
            if (key === 'close') return async () => undefined
            if (key === 'finishReply' && isDying) return () => new Promise(() => undefined)
            return Reflect.get(target, key)
          },
        })
        const model = scriptedModel(() => 'ok', { id: 'play/model' })
        const agents = [{ id: 'desk', model: 'play/model', instructions: 'Help.' }]
        const runtime = createRuntime({ store, clock, models: { 'play/model': model }, agents })
        const app = createApp({
          runtime,
          auth: createAuth('none', () => 80),
          hosts: { port: () => 80, allowed: ['desk.test'] },
          log: createLog('silent'),
          stop: { streams: never, waits: never },
          studio: new URL('about:blank'),
        })
        const send = async (path: string, body: object, key: string): Promise<Sent> => {
          const headers = { 'content-type': 'application/json', 'idempotency-key': key }
          const reply = await app.fetch(
            new Request(`http://desk.test${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
          )
          return { status: reply.status, body: (await reply.json()) as Sent['body'] }
        }
        return { runtime, send }
      }
      const first = open()
      const { run } = await first.runtime.start({ agent: 'desk', id: 'chats/first', prompt: 'go' })
      await run?.result
      const { lastSeq } = await first.runtime.getConversation('chats/first')
      const [path, body] = made('chats/first', lastSeq)
      const count = async () => (await first.runtime.listConversations()).items.length
      isDying = true
      void first.send(path, body, 'k1')
      for (let tries = 0; (await count()) < 2; tries += 1) {
        assert.ok(tries < 500, 'the first request makes it')
        await new Promise((resolve) => setImmediate(resolve))
      }
      isDying = false
      const second = open()
      clock.advance(16_000)
      const again = await second.send(path, body, 'k1')
      assert.equal(again.status, 201)
      assert.equal(await count(), 2)
      const [found] = (await first.runtime.listConversations()).items.filter(({ id }) => id !== 'chats/first')
      assert.deepEqual([again.body.id, again.body.agent], [found?.id, 'desk'])
      // The reply is remembered now, and the key is for this body alone.
      assert.deepEqual(await second.send(path, body, 'k1'), again)
      assert.equal((await second.send(path, { ...body, seq: 0, agent: 'other' }, 'k1')).status, 422)
      assert.equal((await second.send(path, { ...body, id: 'chats/more' }, 'k2')).status, 201)
      assert.equal(await count(), 3)
      await second.runtime.close()
      await first.runtime.close()
      await kept.close()
    })
