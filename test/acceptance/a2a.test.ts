/** Agents that are called over A2A in JSON-RPC: sent, read, cancelled, refused; with a key of this server. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aClient, a2aClient, answerOf, errorOf, keyOf, message } from './support/a2a.ts'
import { type Script, scriptNext } from './support/a2a-desk.ts'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, segment, sub, until } from './support/stage.ts'
import type { Conversation } from './support/wire.ts'

let stage: Stage
let anna: A2aClient
let bob: A2aClient
let key: string

const at = (path: string, token: string | null = key) => a2aClient(() => stage.witan, path, token)

before(async () => {
  stage = await createStage({
    prepare: () => ({
      server: { domain: 'bots.example', domains: { 'acme.example': 'acme' } },
      federation: { maxOpenTasks: 3 },
    }),
  })
  const open = { call: ['user:anna', 'user:bob'] }
  await stage.save(
    agent('docs', { address: 'docs', access: open }),
    agent('closed', { address: 'closed', access: { call: ['user:nobody'] } }),
    agent('free', { address: 'free' }),
    agent('hidden'),
    agent('off', { address: 'off', disabled: true }),
    agent('boss', { address: 'boss', subAgents: [sub('worker', { blocking: 'never' })] }),
    agent('worker'),
  )
  key = await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] })
  anna = at('/a2a/docs')
  bob = at('/a2a/docs', await keyOf(stage.witan, { id: 'user:bob', roles: ['run'] }))
})
after(() => stage?.close())

const next = (...script: Script): void => scriptNext(stage, ...script)

describe('a message and its task', () => {
  test('[M02] a message begins a task, which ends with the answer', async () => {
    next('docs', { text: 'Here it is.' })
    const sent = message('Where?')
    const task = await anna.send(sent)
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.ok(Math.abs(Date.parse(task.status.timestamp) - Date.now()) < 60_000)
    assert.deepEqual(task.artifacts, [{ artifactId: 'answer', parts: [{ text: 'Here it is.' }] }])
    assert.deepEqual(task.history, [{ ...sent, taskId: task.id, contextId: task.contextId }])
    assert.deepEqual(await anna.task(task.id), task)
    assert.equal(stage.model.of('docs').at(-1)?.body.messages.at(-1)?.content, 'Where?')
    const conversation = await stage.conversation(task.contextId)
    assert.deepEqual([conversation.agent, conversation.runs[0]?.runId], ['docs', task.id])
  })

  test('a context goes on, and each of its messages is a task', async () => {
    next('docs', { text: 'one' }, { text: 'two' })
    const first = await anna.send(message('1'))
    const second = await anna.send(message('2', { contextId: first.contextId }))
    assert.equal(second.contextId, first.contextId)
    assert.notEqual(second.id, first.id)
    assert.equal(answerOf(second), 'two')
    assert.deepEqual(
      stage.model
        .of('docs')
        .at(-1)
        ?.body.messages.map(({ content }) => content)
        .slice(-3),
      ['1', 'one', '2'],
    )
  })

  test('the same messageId again gives the same task, whatever else it says, and another caller gets another one', async () => {
    next('docs', { text: 'first' }, { text: 'of bob' })
    const sent = message('once')
    const [one, other] = await Promise.all([anna.send(sent), anna.send(sent)])
    const again = await anna.send({ ...sent, parts: [{ text: 'something else' }], contextId: 'a2a/none' })
    assert.deepEqual([other.id, again.id], [one.id, one.id])
    const foreign = await bob.send(sent)
    assert.notEqual(foreign.id, one.id)
    assert.equal(answerOf(foreign), 'of bob')
  })

  test('returnImmediately gives the task as soon as the message is stored', async () => {
    const gate = createGate()
    next('docs', { text: 'late', hold: gate })
    const task = await anna.send(message('slowly'), { returnImmediately: true })
    assert.equal(task.status.state, 'TASK_STATE_WORKING')
    assert.equal(task.artifacts, undefined)
    gate.open()
    const done = await until(
      () => anna.task(task.id),
      ({ status }) => status.state !== 'TASK_STATE_WORKING',
    )
    assert.equal(answerOf(done), 'late')
  })

  test('historyLength cuts the history', async () => {
    next('docs', { text: 'ok' })
    const task = await anna.send(message('x'), { historyLength: 0 })
    assert.equal(task.history, undefined)
    const { result } = (await anna.rpc<{ history?: unknown[] }>('GetTask', { id: task.id, historyLength: 1 })).body
    assert.equal(result?.history?.length, 1)
  })

  test('texts are joined by an empty line, data follows as JSON, and a file is a file', async () => {
    next('docs', { text: 'seen' })
    await anna.send(
      message([
        { text: 'one' },
        { data: { a: [1] } },
        { text: 'two' },
        { raw: Buffer.from('a,b').toString('base64'), mediaType: 'text/csv', filename: 'c.csv' },
      ]),
    )
    const content = JSON.stringify(stage.model.of('docs').at(-1)?.body.messages.at(-1)?.content)
    assert.ok(content.includes(JSON.stringify('one\n\ntwo\n\n{"a":[1]}').slice(1, -1)), content)
    assert.ok(content.includes('c.csv') && content.includes('a,b'), content)
    const digits = { mediaType: 'text/plain', filename: 'd.txt' }
    for (const says of ['a,b?>', '???>>', '>>>>']) {
      next('docs', { text: 'seen' })
      await anna.send(message([{ text: 'x' }, { raw: Buffer.from(says).toString('base64url'), ...digits }]))
      assert.ok(JSON.stringify(stage.model.of('docs').at(-1)?.body.messages.at(-1)?.content).includes(says), says)
    }
    for (const raw of ['a-b+', 'a_=b', 'a-b-c', '-', 'Pj4-===']) {
      const wrong = await anna.rpc('SendMessage', { message: message([{ text: 'x' }, { raw, ...digits }]) })
      assert.equal(errorOf(wrong), '-32602 BODY_INVALID witan.dev', raw)
    }
    const refused = await anna.rpc('SendMessage', { message: message([{ text: 'x' }, { url: 'https://x.example/a' }]) })
    assert.equal(errorOf(refused), '-32005 CONTENT_TYPE_NOT_SUPPORTED a2a-protocol.org')
  })

  test('structured output is a data part', async () => {
    const outputSchema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    }
    await stage.save(agent('typed', { address: 'typed', outputSchema }))
    next('typed', { text: '{"n":7}' })
    const task = await at('/a2a/typed').send(message('count'))
    const parts = task.artifacts?.[0]?.parts ?? []
    assert.deepEqual(parts.at(-1), { data: { n: 7 } })
    for (const [mode, part] of [
      ['text/plain', { text: '{"n":7}' }],
      ['application/json', { data: { n: 7 } }],
    ] as const) {
      next('typed', { text: '{"n":7}' })
      const one = await at('/a2a/typed').send(message('count'), { acceptedOutputModes: [mode] })
      assert.deepEqual(one.artifacts?.[0]?.parts, [part])
    }
  })

  test('a failed task says the title of its code, and nothing of its detail', async () => {
    next('docs', { status: 400, text: 'secret words of the provider' })
    const task = await anna.send(message('break'))
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.equal(task.status.message?.parts[0]?.text, 'The model could not be called')
    assert.ok(!JSON.stringify(task).includes('secret'))
  })

  test('a cancel reaches everything below, and an ended task is not cancelled again', async () => {
    const gate = createGate()
    next('boss', { calls: [{ name: 'worker', args: { message: 'dig' } }] }, { text: 'it digs', hold: gate })
    next('worker', { text: 'dug', hold: gate })
    const boss = at('/a2a/boss')
    const task = await boss.send(message('begin'), { returnImmediately: true })
    await gate.entered
    await until(
      async () => stage.model.of('worker').length,
      (count) => count > 0,
    )
    const cancelled = await boss.cancel(task.id)
    assert.equal(cancelled.status.state, 'TASK_STATE_CANCELED')
    gate.open()
    const { tasks } = await until(
      () => stage.conversation(task.contextId),
      ({ tasks: open, status }) => open.length === 0 && status === 'idle',
    )
    assert.deepEqual(tasks, [])
    assert.equal(errorOf(await boss.rpc('CancelTask', { id: task.id })), '-32002 TASK_NOT_CANCELABLE a2a-protocol.org')
    const more = await boss.rpc('SendMessage', { message: message('more', { taskId: task.id }) })
    assert.equal(errorOf(more), '-32004 UNSUPPORTED_OPERATION a2a-protocol.org')
  })

  test('a message in a context where a run works joins it', async () => {
    const gate = createGate()
    next('docs', { text: 'a', hold: gate }, { text: 'both' })
    const task = await anna.send(message('first'), { returnImmediately: true })
    await gate.entered
    const joining = anna.send(message('second', { contextId: task.contextId }))
    await until(
      () => stage.events(task.contextId),
      (events) => events.filter(({ type }) => type === 'message').length === 2,
    )
    gate.open()
    const joined = await joining
    assert.equal(joined.id, task.id)
    assert.equal(answerOf(joined), 'both')
    assert.deepEqual(
      joined.history?.map(({ parts }) => parts[0]?.text),
      ['first', 'second'],
    )
  })
})

describe('what is foreign is missing', () => {
  test('a task and a context of another caller, of another agent, and of nobody', async () => {
    next('docs', { text: 'mine' })
    const task = await anna.send(message('x'))
    const free = at('/a2a/free')
    const { contextId } = task
    const notFound = '-32001 TASK_NOT_FOUND a2a-protocol.org'
    for (const client of [bob, free, at('/a2a/docs', await keyOf(stage.witan, { roles: ['admin'] }))]) {
      assert.equal(errorOf(await client.rpc('GetTask', { id: task.id })), notFound)
      assert.equal(errorOf(await client.rpc('CancelTask', { id: task.id })), notFound)
    }
    for (const client of [bob, free])
      assert.equal(errorOf(await client.rpc('SendMessage', { message: message('x', { contextId }) })), notFound)
    for (const id of ['nothing', contextId, '__proto__'])
      assert.equal(errorOf(await anna.rpc('GetTask', { id })), notFound)
    assert.equal(errorOf(await anna.rpc('SendMessage', { message: message('x', { contextId: 'a2a/none' }) })), notFound)
    next('docs', { text: 'other' })
    const other = await anna.send(message('y'))
    const mixed = await anna.rpc('SendMessage', {
      message: message('x', { taskId: task.id, contextId: other.contextId }),
    })
    assert.equal(errorOf(mixed), '-32602 INVALID_PARAMS a2a-protocol.org')
  })

  test('an agent that is missing, unpublished, disabled, or does not let the caller in: the same 404', async () => {
    const bodies = new Set<string>()
    for (const path of ['/a2a/none', '/a2a/hidden', '/a2a/off', '/a2a/closed', '/a2a/docs@other.example']) {
      const answer = await at(path).rpc('SendMessage', { message: message('x') })
      assertProblem(answer, { status: 404, code: 'NOT_FOUND' })
      const { requestId: _, ...rest } = JSON.parse(answer.text)
      bodies.add(JSON.stringify(rest).replace(/`.*?`/, 'PATH'))
    }
    assert.equal(bodies.size, 1, [...bodies].join('\n'))
  })

  test('a whole address, in any case, and a slash at the end reach the agent', async () => {
    for (const path of ['/a2a/docs@bots.example', '/a2a/DOCS', '/a2a/docs/', '/a2a/%40docs%40bots.example']) {
      next('docs', { text: 'here' })
      assert.equal(answerOf(await at(path).send(message('x'))), 'here', path)
    }
  })
})

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
