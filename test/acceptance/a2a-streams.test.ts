/** Streams over A2A, the hub, lists, and the HTTP+JSON binding. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type A2aClient,
  type A2aTask,
  a2aClient,
  answerOf,
  errorOf,
  keyOf,
  message,
  type StreamFrame,
} from './support/a2a.ts'
import { createDesk, type Script, scriptNext } from './support/a2a-desk.ts'
import { assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, type Stage, sub } from './support/stage.ts'

let stage: Stage
let key: string
let desk: A2aClient

const at = (path: string, token: string | null = key) => a2aClient(() => stage.witan, path, token)
const next = (...script: Script): void => scriptNext(stage, ...script)

before(async () => {
  ;({ stage, key, desk } = await createDesk())
})
after(() => stage?.close())

const _ask = (...questions: object[]) => ({ calls: [{ name: 'ask_question', args: { questions } }] })
const _free = { id: 'q1', text: 'How many?', options: [], multiple: false, freeText: true, required: true }

/** What the chunks of a stream come to, and their marks. */
function assembled(frames: StreamFrame[]): { text: string; marks: string } {
  let text = ''
  const marks: string[] = []
  for (const { artifactUpdate } of frames) {
    if (artifactUpdate === undefined) continue
    const said = artifactUpdate.artifact.parts.map((part) => part.text ?? '').join('')
    text = artifactUpdate.append ? text + said : said
    marks.push(`${artifactUpdate.append ? 'a' : 'n'}${artifactUpdate.lastChunk ? 'L' : ''}`)
  }
  return { text, marks: marks.join(' ') }
}

describe('streams', () => {
  test('a stream begins with the task, has the text as it is written, and ends with the state', async () => {
    next('desk', { text: 'one two three four', pieces: 6 })
    const frames = await desk.frames('SendStreamingMessage', { message: message('go') })
    const [first] = frames
    assert.equal(first?.task?.status.state, 'TASK_STATE_WORKING')
    const { text, marks } = assembled(frames)
    assert.equal(text, 'one two three four')
    assert.match(marks, /^n( a)* aL$/)
    assert.deepEqual(frames.at(-1)?.statusUpdate?.status.state, 'TASK_STATE_COMPLETED')
    const { id, contextId } = first?.task ?? { id: '', contextId: '' }
    for (const frame of frames.slice(1)) {
      const update = frame.artifactUpdate ?? frame.statusUpdate
      assert.deepEqual([update?.taskId, update?.contextId], [id, contextId])
    }
    assert.equal(answerOf(await desk.task(id)), 'one two three four')
  })

  test('the next reply begins the text anew, and the same message again gives the ended task', async () => {
    await stage.save(agent('boss', { address: 'boss', subAgents: [sub('other')] }))
    const gate = createGate()
    next(
      'boss',
      { text: 'Let me ask.', calls: [{ name: 'other', args: { message: 'x' } }] },
      { text: 'whole again', pieces: 3 },
    )
    next('other', { text: 'words of another agent', hold: gate })
    const boss = at('/a2a/boss')
    const sent = message('go')
    const { frames: live } = await boss.stream('SendStreamingMessage', { message: sent })
    const frames: StreamFrame[] = []
    for await (const { data } of live) {
      frames.push(JSON.parse(data).result)
      if (frames.length === 2) gate.open()
    }
    assert.equal(frames[1]?.artifactUpdate?.artifact.parts[0]?.text?.startsWith('Let'), true)
    assert.equal(assembled(frames).text, 'whole again', JSON.stringify(frames))
    assert.match(assembled(frames).marks, /^n.* n/)
    assert.ok(!JSON.stringify(frames).includes('another agent'))
    const again = await boss.frames('SendStreamingMessage', { message: sent })
    assert.equal(again.length, 1)
    assert.equal(answerOf(again[0]?.task as A2aTask), 'whole again')
  })

  test('a reader that comes later gets a snapshot and then what follows, and none of an ended task', async () => {
    const gate = createGate()
    next('desk', { text: 'early words and late words', pieces: 6, holdAfter: 4, hold: gate })
    const { frames: first } = await desk.stream('SendStreamingMessage', { message: message('go') })
    const begun = JSON.parse((await first.next()).value?.data ?? '{}').result.task as A2aTask
    await gate.entered
    await first.next()
    const { frames: second } = await desk.stream('SubscribeToTask', { id: begun.id })
    const late: StreamFrame[] = []
    const parsed = (data = '{}') => JSON.parse(data).result as StreamFrame
    late.push(parsed((await second.next()).value?.data), parsed((await second.next()).value?.data))
    assert.equal(late[1]?.artifactUpdate?.append, false)
    await first.return(undefined) // the one that began it leaves, which cancels nothing
    gate.open()
    for await (const { data } of second) late.push(parsed(data))
    assert.equal(assembled(late).text, 'early words and late words')
    assert.equal(late.at(-1)?.statusUpdate?.status.state, 'TASK_STATE_COMPLETED')
    const ended = await desk.rpc('SubscribeToTask', { id: begun.id })
    assert.equal(errorOf(ended), '-32004 UNSUPPORTED_OPERATION a2a-protocol.org')
  })

  test('what is wrong with a message is an answer and no stream', async () => {
    const answer = await desk.rpc('SendStreamingMessage', { message: { ...message('x'), parts: [] } })
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal(answer.body.error?.code, -32602)
  })
})

describe('lists', () => {
  test('a caller’s tasks at an agent, the latest first, page by page, and nobody else’s', async () => {
    const client = at('/a2a/other', await keyOf(stage.witan, { id: 'user:lister', roles: ['run'] }))
    stage.model.on('other', () => ({ text: 'ok' }))
    const made: A2aTask[] = []
    for (const text of ['1', '2', '3']) made.unshift(await client.send(message(text)))
    next('other', { status: 400 })
    made.unshift(await client.send(message('bad')))
    interface Listed {
      tasks: A2aTask[]
      nextPageToken: string
      pageSize: number
      totalSize: number
    }
    const list = async (params: object = {}) => (await client.rpc<Listed>('ListTasks', params)).body.result as Listed
    const ids = ({ tasks }: Listed) => tasks.map(({ id }) => id)
    const all = await list()
    assert.deepEqual(
      ids(all),
      made.map(({ id }) => id),
    )
    assert.deepEqual([all.nextPageToken, all.pageSize, all.totalSize], ['', 50, 4])
    assert.deepEqual([all.tasks[1]?.artifacts, all.tasks[1]?.history], [undefined, undefined])
    const first = await list({ pageSize: 3 })
    assert.deepEqual([ids(first).length, first.totalSize], [3, 4])
    const second = await list({ pageSize: 3, pageToken: first.nextPageToken })
    assert.deepEqual([...ids(first), ...ids(second)], ids(all))
    assert.equal(second.nextPageToken, '')
    assert.deepEqual(ids(await list({ status: 'TASK_STATE_FAILED' })), [made[0]?.id])
    assert.deepEqual(ids(await list({ status: 'TASK_STATE_WORKING' })), [])
    assert.deepEqual(ids(await list({ contextId: made[2]?.contextId })), [made[2]?.id])
    assert.deepEqual(ids(await list({ contextId: 'a2a/none' })), [])
    assert.deepEqual(ids(await list({ statusTimestampAfter: made[1]?.status.timestamp })), [made[0]?.id, made[1]?.id])
    const rich = await list({ includeArtifacts: true, historyLength: 1 })
    assert.equal(answerOf(rich.tasks[1] as A2aTask), 'ok')
    assert.equal(rich.tasks[1]?.history?.length, 1)
    for (const wrong of [
      { pageSize: 0 },
      { pageSize: 101 },
      { pageToken: 'x' },
      { status: 'DONE' },
      { statusTimestampAfter: 'x' },
    ])
      assert.equal((await client.rpc('ListTasks', wrong)).body.error?.code, -32602, JSON.stringify(wrong))
    const nobody = at('/a2a/other', await keyOf(stage.witan, { id: 'user:nobody', roles: ['admin'] }))
    assert.deepEqual((await nobody.rpc<Listed>('ListTasks')).body.result?.tasks, [])
  })
})

describe('the hub', () => {
  test('[Mb15] [E62] the leading handle picks the agent, else the default agent, and the text reaches it whole', async () => {
    stage.model.on('desk', () => ({ text: 'desk' }))
    stage.model.on('other', () => ({ text: 'other' }))
    const hub = at('/a2a')
    const table: [text: string, who: string][] = [
      ['@other what?', 'other'],
      ['  @OTHER: what?', 'other'],
      ['@other@bots.example, what?', 'other'],
      ['@other', 'other'],
      ['what, @other?', 'desk'],
      ['@other @people both', 'desk'],
      ['@nobody what?', 'desk'],
      ['@other@else.example what?', 'desk'],
      ['just a text', 'desk'],
    ]
    for (const [text, who] of table) {
      assert.equal(answerOf(await hub.send(message(text))), who, text)
      assert.equal(stage.model.of(who).at(-1)?.body.messages.at(-1)?.content, text)
    }
  })

  test('[Mb15] a context stays with its first agent, and methods without a message find every task of the caller', async () => {
    stage.model.on('other', () => ({ text: 'other' }))
    const hub = at('/a2a')
    const task = await hub.send(message('@other begin'))
    const more = await hub.send(message('@desk go on', { contextId: task.contextId }))
    assert.equal(answerOf(more), 'other')
    assert.equal((await hub.task(task.id)).id, task.id)
    assert.equal((await at('/a2a/other').task(task.id)).id, task.id)
    const { result } = (await hub.rpc<{ tasks: A2aTask[] }>('ListTasks', { pageSize: 100 })).body
    assert.ok(result?.tasks.some(({ id }) => id === more.id))
    const foreign = at('/a2a', await keyOf(stage.witan, { id: 'user:foreign', roles: ['run'] }))
    assert.equal((await foreign.rpc('GetTask', { id: task.id })).body.error?.code, -32001)
    const into = await foreign.rpc('SendMessage', { message: message('x', { contextId: task.contextId }) })
    assert.equal(into.body.error?.code, -32001)
    assertProblem(await at('/a2a', null).rpc('ListTasks'), { status: 401, code: 'UNAUTHENTICATED' })
  })
})

describe('HTTP+JSON', () => {
  test('every method, with its own types and errors', async () => {
    next('other', { text: 'rest' })
    const client = at('/a2a/other')
    const sent = await client.rest<{ task: A2aTask }>('POST', '/message:send', { body: { message: message('x') } })
    assert.equal(sent.status, 200, sent.text)
    assert.match(sent.headers.get('content-type') ?? '', /^application\/json/)
    const { task } = sent.body
    assert.equal(answerOf(task), 'rest')
    const got = await client.rest<A2aTask>('GET', `/tasks/${task.id}?historyLength=0`)
    assert.match(got.headers.get('content-type') ?? '', /^application\/a2a\+json/)
    assert.equal(JSON.parse(got.text).id, task.id)
    const listed = await client.rest('GET', '/tasks?pageSize=1', { headers: { accept: 'application/json' } })
    assert.equal((listed.body as { tasks: unknown[] }).tasks.length, 1)
    const raw = JSON.stringify({ message: message('y') })
    next('other', { text: 'streamed', pieces: 3 })
    const { status, headers, frames } = await stage.witan.stream('POST', '/a2a/other/v1/message:stream', {
      raw,
      headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0', authorization: `Bearer ${key}` },
    })
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
    const found: StreamFrame[] = []
    for await (const { data } of frames) found.push(JSON.parse(data))
    assert.equal(assembled(found).text, 'streamed')
    const errorAt = async (verb: string, path: string, options = {}) => {
      const { status: code, text } = await client.rest(verb, path, options)
      const { error } = JSON.parse(text)
      assert.equal(error.code, code)
      return `${code} ${error.status} ${error.details[0].reason}`
    }
    assert.equal(await errorAt('GET', '/tasks/none'), '404 NOT_FOUND TASK_NOT_FOUND')
    assert.equal(await errorAt('POST', `/tasks/${task.id}:cancel`), '400 FAILED_PRECONDITION TASK_NOT_CANCELABLE')
    assert.equal(await errorAt('GET', `/tasks/${task.id}:subscribe`), '400 FAILED_PRECONDITION UNSUPPORTED_OPERATION')
    assert.equal(await errorAt('POST', `/tasks/${task.id}:subscribe`), '400 FAILED_PRECONDITION UNSUPPORTED_OPERATION')
    assert.equal(
      await errorAt('GET', `/tasks/${task.id}/pushNotificationConfigs`),
      '400 FAILED_PRECONDITION PUSH_NOTIFICATION_NOT_SUPPORTED',
    )
    assert.equal(await errorAt('GET', '/extendedAgentCard'), '400 FAILED_PRECONDITION UNSUPPORTED_OPERATION')
    assert.equal(await errorAt('GET', '/nothing'), '404 NOT_FOUND METHOD_NOT_FOUND')
    assert.equal(await errorAt('POST', '/message:send', { body: {} }), '400 INVALID_ARGUMENT INVALID_PARAMS')
    assert.equal(
      await errorAt('POST', '/message:send', { raw: '{', headers: { 'content-type': 'application/json' } }),
      '400 INVALID_ARGUMENT JSON_PARSE',
    )
    assert.equal(
      await errorAt('GET', '/tasks', { headers: { 'a2a-version': '0.3' } }),
      '400 FAILED_PRECONDITION VERSION_NOT_SUPPORTED',
    )
    assertProblem(await client.rest('DELETE', '/tasks'), { status: 405, code: 'METHOD_NOT_ALLOWED' })
    assertProblem(await at('/a2a/other', null).rest('GET', '/tasks'), { status: 401, code: 'UNAUTHENTICATED' })
    assertProblem(await at('/a2a/none').rest('GET', '/tasks'), { status: 404, code: 'NOT_FOUND' })
    const named = await client.rest('GET', '/tasks', {
      headers: { 'a2a-extensions': 'https://x.example, https://mentionable.dev/ns/policy/v0.1' },
    })
    assert.equal(named.headers.get('a2a-extensions'), 'https://mentionable.dev/ns/policy/v0.1')
  })
})

describe('callers without a credential', () => {
  test('an agent that is open to them answers, and they own nothing', async () => {
    stage.model.on('open', () => ({ text: 'hello' }))
    const nobody = at('/a2a/open', null)
    const sent = message('x')
    const task = await nobody.send(sent)
    assert.equal(answerOf(task), 'hello')
    assert.notEqual((await nobody.send(sent)).id, task.id)
    assert.equal((await nobody.rpc('GetTask', { id: task.id })).body.error?.code, -32001)
    assert.equal((await nobody.rpc('CancelTask', { id: task.id })).body.error?.code, -32001)
    const into = await nobody.rpc('SendMessage', { message: message('x', { contextId: task.contextId }) })
    assert.equal(into.body.error?.code, -32001)
    const list = await nobody.rpc<{ tasks: unknown[] }>('ListTasks')
    assert.deepEqual(list.body.result?.tasks, [])
    const frames = await nobody.frames('SendStreamingMessage', { message: message('x') })
    assert.equal(assembled(frames).text, 'hello')
    assertProblem(await at('/a2a/open', 'wtn_wrong').rpc('ListTasks'), { status: 401, code: 'UNAUTHENTICATED' })
  })
})
