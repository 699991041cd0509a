/** The way in over A2A in JSON-RPC: credentials, versions, bodies that are none, and how many tasks one caller has. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aClient, keyOf, message } from './support/a2a.ts'
import { type Script, scriptNext } from './support/a2a-desk.ts'
import { type CalledAgents, calledAgents } from './support/called-agents.ts'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { type Stage, segment, until } from './support/stage.ts'
import type { Conversation } from './support/wire.ts'

let stage: Stage
let anna: A2aClient
let key: string
let at: CalledAgents['at']

before(async () => {
  ;({ stage, anna, key, at } = await calledAgents())
})
after(() => stage?.close())

const next = (...script: Script): void => scriptNext(stage, ...script)

describe('the way in', () => {
  test('no credential and a bad one: 401 in every mode of authentication', async () => {
    for (const token of [null, 'wtn_nothing', 'x', 'a.b.c', `${key}x`, key.slice(0, -1)]) {
      const answer = await at('/a2a/docs', token).rpc('GetTask', { id: 'x' })
      assertProblem(answer, { status: 401, code: 'UNAUTHENTICATED' })
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
    const basic = await stage.witan.call('POST', '/a2a/docs', { body: {}, headers: { authorization: 'Basic eDp5' } })
    assertProblem(basic, { status: 401, code: 'UNAUTHENTICATED' })
  })

  test('who is not let in is refused before its body is read', async () => {
    const sends = (path: string, [body, type]: readonly [string, string], bearer: string | null) =>
      fetch(`${stage.witan.url}${path}`, {
        ...{ method: 'POST', body },
        headers: { 'content-type': type, ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }) },
      })
    for (const path of ['/a2a/docs', '/a2a', '/a2a/docs/v1/message:send'])
      for (const bearer of [null, 'wtn_none', 'a.b.c'])
        for (const sent of [
          ['x', 'text/plain'],
          ['[', 'application/json'],
          [JSON.stringify({ text: 'x'.repeat(2_000_000) }), 'application/json'],
        ] as const) {
          const { status } = await sends(path, sent, bearer)
          assert.equal(status, 401, `${path} ${bearer} ${sent[1]}`)
        }
    assert.equal((await sends('/a2a/docs', ['x', 'text/plain'], key)).status, 415)
    assert.equal((await sends('/a2a/docs', [`["${'x'.repeat(2_000_000)}"]`, 'application/json'], key)).status, 413)
  })

  test('a key of another database opens nothing here', async () => {
    const key = await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] })
    const there = await at('/a2a/docs@acme.example', key).rpc('GetTask', { id: 'x' })
    assertProblem(there, { status: 404, code: 'NOT_FOUND' })
  })

  test('a version that is absent or another one is refused, whatever the request says', async () => {
    const headers = { authorization: `Bearer ${key}` }
    for (const version of [undefined, '', '0.3', '1.1', '1', '2.0']) {
      const more: Record<string, string> = version === undefined ? {} : { 'a2a-version': version }
      const answer = await stage.witan.call('POST', '/a2a/docs', {
        body: { jsonrpc: '2.0', id: 'v', method: 'Nothing' },
        headers: { ...headers, ...more },
      })
      assert.equal(answer.status, 200)
      const { id, error } = answer.body as { id: string; error: { code: number; data: { reason: string }[] } }
      assert.deepEqual([id, error.code, error.data[0]?.reason], ['v', -32009, 'VERSION_NOT_SUPPORTED'])
    }
    next('docs', { text: 'ok' })
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message('x') } }
    const answer = await stage.witan.call<{ result: unknown }>('POST', '/a2a/docs?A2A-Version=1.0', { body, headers })
    assert.ok(answer.body.result, answer.text)
  })

  test('what is no request of JSON-RPC', async () => {
    const headers = { authorization: `Bearer ${key}`, 'a2a-version': '1.0' }
    const table: [raw: string, code: number][] = [
      ['{', -32700],
      ['', -32600],
      [`${'['.repeat(100)}`, -32700],
      ['[]', -32600],
      ['"x"', -32600],
      ['{}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600],
      ['{"jsonrpc":"2.0","id":1}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
      ['{"jsonrpc":"2.0","id":1,"method":"message/send"}', -32601],
      ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
      ['{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
      ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', -32602],
    ]
    for (const [raw, code] of table) {
      const answer = await stage.witan.call<{ error: { code: number } }>('POST', '/a2a/docs', {
        raw,
        headers: { ...headers, 'content-type': 'application/json' },
      })
      assert.equal(answer.status, 200, `${raw}: ${answer.text}`)
      assert.equal(answer.body.error.code, code, `${raw}: ${answer.text}`)
      assert.doesNotMatch(answer.text, /node_modules|\.ts:\d+/)
    }
    const wrong = await stage.witan.call('POST', '/a2a/docs', {
      raw: '{}',
      headers: { ...headers, 'content-type': 'application/a2a+json' },
    })
    assertProblem(wrong, { status: 415, code: 'CONTENT_TYPE_UNSUPPORTED' })
    const got = await stage.witan.call('GET', '/a2a/docs', { headers })
    assertProblem(got, { status: 405, code: 'METHOD_NOT_ALLOWED' })
  })

  test('a message that is none', async () => {
    const good = message('x')
    const table: [change: object, code: number][] = [
      [{ role: 'ROLE_AGENT' }, -32602],
      [{ role: 1 }, -32602],
      [{ messageId: '' }, -32602],
      [{ messageId: 7 }, -32602],
      [{ messageId: 'x'.repeat(201) }, -32602],
      [{ parts: [] }, -32602],
      [{ parts: 'x' }, -32602],
      [{ parts: [{}] }, -32602],
      [{ parts: [{ text: ' ' }] }, -32602],
      [{ parts: [{ text: 7 }] }, -32602],
      [{ parts: [null] }, -32602],
      [{ parts: [{ text: 'a', data: 1 }] }, -32602],
      [{ parts: [{ raw: '###', mediaType: 'text/plain' }] }, -32602],
      [{ parts: [{ raw: 7 }] }, -32602],
      [{ parts: [{ raw: 'AAAA', mediaType: 'no type' }] }, -32602],
      [{ parts: [{ raw: 'AAAA' }] }, -32005],
      [{ parts: [{ data: { type: 'answer', id: 'i', answer: 1 } }] }, -32602],
      [{ parts: [{ data: { type: 'policy' } }] }, -32602],
      [{ contextId: 7 }, -32602],
    ]
    for (const [change, code] of table) {
      const answer = await anna.rpc('SendMessage', { message: { ...good, ...change } })
      assert.equal(answer.body.error?.code, code, `${JSON.stringify(change)}: ${answer.text}`)
      assert.ok(!answer.text.includes('play/'), answer.text)
    }
    const push = { message: good, configuration: { taskPushNotificationConfig: { url: 'https://x.example' } } }
    assert.equal((await anna.rpc('SendMessage', push)).body.error?.code, -32003)
    for (const method of ['CreateTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'])
      assert.equal((await anna.rpc(method, {})).body.error?.code, -32003)
    assert.equal((await anna.rpc('GetExtendedAgentCard', {})).body.error?.code, -32004)
  })

  test('one caller has as many open tasks as the configuration lets it, and no more', async () => {
    const gate = createGate()
    stage.model.on('free', () => ({ text: 'done', hold: gate }))
    const eve = at('/a2a/free', await keyOf(stage.witan, { id: 'user:eve', roles: ['run'] }))
    const all = await Promise.all(
      Array.from({ length: 6 }, () =>
        eve.rpc('SendMessage', { message: message('x'), configuration: { returnImmediately: true } }),
      ),
    )
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 200, 200, 429, 429, 429])
    const full = all.find(({ status }) => status === 429)
    assert.ok(full)
    assertProblem(full, { status: 429, code: 'TOO_MANY_TASKS' })
    assert.equal(full.headers.get('retry-after'), '5')
    const other = await at('/a2a/free').send(message('x'), { returnImmediately: true })
    assert.equal(other.status.state, 'TASK_STATE_WORKING')
    gate.open()
    await until(
      async () => (await eve.rpc('SendMessage', { message: message('x') })).status,
      (status) => status === 200,
    )
  })

  test('no path below /a2a but its own is anything, and no page of ours is', async () => {
    const headers = { authorization: `Bearer ${key}` }
    for (const path of ['/a2a/docs/v2', '/a2a/docs/x', '/a2a//', '/a2a/%2e%2e', '/a2a/docs%2fx', '/a2a/%ff'])
      assertProblem(await stage.witan.call('POST', path, { body: {}, headers }), { status: 404, code: 'NOT_FOUND' })
    const { body } = await stage.witan.call<Conversation>('GET', `/api/v1/conversations/${segment('a2a/none')}`)
    assert.equal((body as unknown as { code: string }).code, 'NOT_FOUND')
  })
})
