/** How often a call over A2A asks the store: counted, because a time depends on what else the machine does. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp } from '../app.ts'
import type { App } from '../app-options.ts'
import { createKeyAuth } from '../auth-keys.ts'
import { noFederation } from '../federation-config.ts'
import { createLog } from '../log.ts'

const domain = 'bots.example'
/** What the clock says costs nothing. */
const free = ['now']

describe('what a call over A2A asks the store', () => {
  let runtime: Runtime
  let app: App
  let key: string
  const asked: string[] = []

  before(async () => {
    const inner = memoryStore()
    const store = new Proxy(inner, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function' || free.includes(String(name))) return method
        return (...given: unknown[]) => {
          asked.push(String(name))
          return Reflect.apply(method, target, given)
        }
      },
    })
    const model = scriptedModel(() => 'ok', { id: 'play/model' })
    runtime = createRuntime({ store, domains: { [domain]: 'default' }, models: { 'play/model': model } })
    await runtime.agents.save({ id: 'docs', model: 'play/model', instructions: 'x', address: 'docs' })
    key = (await runtime.keys.create({ id: 'user:anna', roles: ['run'] })).key
    const log = createLog('silent')
    const never = new AbortController().signal
    app = createApp({
      runtime,
      auth: createKeyAuth({ lookup: runtime.keyLookup, port: () => 80, log }),
      hosts: { port: () => 80, allowed: [domain] },
      log,
      stop: { streams: never, waits: never },
      federation: { ...noFederation, domain, domains: [domain], publicUrl: () => `https://${domain}` },
      studio: new URL('about:blank'),
    })
    await post('/api/v1/conversations', { agent: 'docs', prompt: 'warm' })
  })
  after(() => runtime.close())

  const post = async (path: string, body: unknown): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${key}` }
    const request = new Request(`https://${domain}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await app.fetch(request)).text()
  }
  const rpc = (method: string, params: object) => post('/a2a/docs', { jsonrpc: '2.0', id: 1, method, params })
  const message = (more: object = {}) => ({
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: 'hi' }],
    ...more,
  })
  const counted = async (work: () => Promise<string>): Promise<Record<string, number>> => {
    asked.length = 0
    assert.match(await work(), /ok/)
    const counts: Record<string, number> = {}
    for (const name of asked) counts[name] = (counts[name] ?? 0) + 1
    return counts
  }

  test('a conversation over the API: two appends, and who may have its result', async () => {
    const counts = await counted(() => post('/api/v1/conversations', { agent: 'docs', prompt: 'hi' }))
    assert.deepEqual(counts, { append: 2, getConversation: 1 })
  })

  test('a message over A2A: that, its key, and its run once', async () => {
    const own = { beginReply: 1, getJob: 1, readEntries: 1 }
    const first = await counted(() => rpc('SendMessage', { message: message() }))
    assert.deepEqual(first, { ...own, append: 2, getConversation: 2 })
    const configuration = { historyLength: 0 }
    const short = await counted(() => rpc('SendMessage', { message: message(), configuration }))
    const { readEntries: _, ...rest } = first
    assert.deepEqual(short, rest)
  })
})
