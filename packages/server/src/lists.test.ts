/** What lists say beyond their rows: how a conversation began and stands, where something waits, and what an agent's model is. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createRuntime, type Model, type Runtime } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { createApp } from './app.ts'
import { createAuth } from './auth.ts'
import { createLog } from './log.ts'

type Body = { readonly items: Record<string, unknown>[]; readonly nextCursor: string | null } & Record<string, unknown>

describe('lists over HTTP', () => {
  let runtime: Runtime
  let get: (path: string) => Promise<{ status: number; body: Body }>
  let drop: (path: string) => Promise<Response> | Response
  let send: (method: string, path: string, body: unknown) => Promise<{ status: number; body: Body }>

  before(async () => {
    const script = scriptedModel((_, turn) => (turn === 0 ? call('Send', {}) : 'sent'), {
      id: 'openai/like-a-model',
      price: { inputPerMillion: 1, outputPerMillion: 1 },
    })
    const live: Model = { id: 'scripted/by-name-only', stream: script.stream }
    runtime = createRuntime({
      models: { [script.id]: script, [live.id]: live },
      agents: [
        { id: 'desk', model: script.id, instructions: 'x', actions: [{ name: 'Send' }] },
        { id: 'live', model: live.id, instructions: 'x' },
      ],
    })
    await runtime.ready
    const app = createApp({
      runtime,
      auth: createAuth('none', () => 80),
      hosts: { port: () => 80, allowed: [] },
      log: createLog('silent'),
      stop: { streams: new AbortController().signal, waits: new AbortController().signal },
      studio: new URL('about:blank'),
    })
    send = async (method, path, body) => {
      const headers = { host: 'localhost', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const reply = await app.fetch(new Request(`http://localhost/api/v1${path}`, init))
      return { status: reply.status, body: (await reply.json()) as Body }
    }
    get = (path) => send('GET', path, undefined)
    drop = (path) =>
      app.fetch(new Request(`http://localhost/api/v1${path}`, { method: 'DELETE', headers: { host: 'localhost' } }))
  })
  after(() => runtime.close())

  test('an agent says whether a script answers for it, whatever the model is called', async () => {
    const { items } = (await get('/agents')).body
    assert.deepEqual(
      items.map(({ id, modelKind }) => [id, modelKind]),
      [
        ['desk', 'script'],
        ['live', 'language'],
      ],
    )
    const { body } = await get('/agents/desk')
    assert.equal(body.modelKind, 'script')
    const saved = await send('PUT', '/agents/desk', { ...body, modelKind: 'language' })
    assert.deepEqual([saved.status, saved.body.modelKind, saved.body.revision], [200, 'script', 2])
    assert.equal((await send('POST', '/agents', { ...body, id: 'third' })).body.modelKind, 'script')
  })

  test('the audit lists each change, the latest first, and a revision says who made it and when', async () => {
    const body = { model: 'openai/like-a-model', instructions: 'one' }
    await send('PUT', '/agents/audited', body)
    await send('PUT', '/agents/audited', { ...body, instructions: 'two' })
    await send('PUT', '/agents/audited', { ...body, instructions: 'two' })
    const stored = (await get('/agents/audited')).body
    assert.deepEqual([stored['by'], stored['via'], typeof stored['at']], ['user:local', 'local', 'string'])
    const protocol = { messages: [{ name: 'ask', from: 'initiator' }] }
    await send('PUT', '/protocols/trade', protocol)
    const made = (await send('POST', '/keys', { roles: ['read'], name: 'secret-name' })).body
    assert.equal((await drop(`/keys/${made['keyId']}`)).status, 204)
    assert.equal((await drop('/agents/audited')).status, 204)
    const { items } = (await get('/audit?by=user%3Alocal')).body
    const seen = items
      .filter(({ via }) => via === 'local')
      .filter(({ name }) => ['audited', 'trade', made['keyId']].includes(name as string))
      .map(({ kind, name, action, before, after }) => [kind, name, action, before, after])
    assert.deepEqual(seen, [
      ['agent', 'audited', 'delete', 2, null],
      ['key', made['keyId'], 'revoke', null, null],
      ['key', made['keyId'], 'create', null, null],
      ['protocol', 'trade', 'create', null, 1],
      ['agent', 'audited', 'change', 1, 2],
      ['agent', 'audited', 'create', null, 1],
    ])
    assert.doesNotMatch(JSON.stringify(items), /wtn_|secret-name|sha256/)
    const first = (await get('/audit?kind=agent&name=audited&limit=2')).body
    const rest = (await get(`/audit?kind=agent&name=audited&cursor=${first.nextCursor}`)).body
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ action }) => action),
      ['delete', 'change', 'create'],
    )
    assert.equal(rest.nextCursor, null)
    assert.equal((await get('/audit?kind=agent&name=desk')).body.items.at(-1)?.['via'], 'code')
    assert.equal((await get('/audit?kind=none')).status, 400)
  })

  test('conversations are searched, and what waits names its conversation', async () => {
    const prompt = 'Please send the parcel to Oslo'
    const started = await send('POST', '/conversations', { agent: 'desk', id: 'chats/1', prompt })
    await send('POST', '/conversations', { agent: 'live', id: 'chats/2' })
    const found = await get(`/conversations?search=${encodeURIComponent('oslo PARCEL')}`)
    assert.equal(found.body.items.length, 1)
    const [line] = found.body.items
    assert.deepEqual([line?.id, line?.firstMessage, line?.status], ['chats/1', prompt, 'waiting'])
    assert.equal((line?.lastRun as { status: string } | undefined)?.status, 'waiting')
    assert.deepEqual((await get('/conversations?search=bergen')).body.items, [])
    assert.equal((await get(`/conversations?search=${'x'.repeat(201)}`)).status, 400)
    const [waiting] = (await get('/interruptions')).body.items
    const run = started.body.run as { interruptions: Record<string, unknown>[] }
    for (const one of [waiting, run.interruptions[0]]) {
      assert.equal(one?.conversationId, 'chats/1')
      assert.ok(!Number.isNaN(Date.parse(String(one?.createdAt))))
    }
  })
})
