/** Agents that are called over A2A in JSON-RPC: sent, read, cancelled; what is foreign is missing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aClient, answerOf, errorOf, keyOf, message } from './support/a2a.ts'
import { type Script, scriptNext } from './support/a2a-desk.ts'
import { type CalledAgents, calledAgents } from './support/called-agents.ts'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, type Stage, until } from './support/stage.ts'

let stage: Stage
let anna: A2aClient
let bob: A2aClient
let at: CalledAgents['at']

before(async () => {
  ;({ stage, anna, bob, at } = await calledAgents())
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
