/** A message while a run is active, the end of a run by order, and requests that are sent twice. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import type { Gate } from './support/exchange.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { spoken } from './support/transcript.ts'
import type { RunResult, Started } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

/** A run that stands in its helper's model call until the gate opens. */
async function hold(word: string): Promise<{ id: string; gate: Gate; first: Promise<RunResult> }> {
  const gate = createGate()
  await stage.save(agent(word, { subAgents: [sub(`${word}-helper`)] }), agent(`${word}-helper`))
  stage.model.script(
    word,
    { calls: [{ name: `${word}-helper`, args: { message: 'm' } }] },
    { text: 'answer' },
    { text: 'later' },
  )
  stage.model.script(`${word}-helper`, { text: 'helped', hold: gate })
  const { id } = await stage.begin(word)
  const first = stage.run(id, { prompt: 'one' })
  await gate.entered
  return { id, gate, first }
}

test('reject refuses a message while a run is active [D12]', async () => {
  const { id, gate, first } = await hold('rejecting')
  assertProblem(await stage.runAnswer(id, { prompt: 'two', onActive: 'reject' }), { status: 409, code: 'RUN_ACTIVE' })
  gate.open()
  assert.equal((await first).status, 'completed')
  assert.equal(JSON.stringify(stage.model.of('rejecting')[1]?.body).includes('two'), false)
})

test('words that come while an answer is on its way: both senders get both answers, the last one as the text [D12]', async () => {
  const gate = createGate()
  await stage.save(agent('overtaken'))
  stage.model.script('overtaken', { text: 'to the first', hold: gate }, { text: 'to the second' })
  const { id } = await stage.begin('overtaken')
  const first = stage.run(id, { prompt: 'one' })
  await gate.entered
  const second = stage.run(id, { prompt: 'two' })
  await until(
    () => stage.events(id),
    (events) => events.filter(({ type }) => type === 'message').length === 2,
  )
  gate.open()
  for (const result of await Promise.all([first, second])) {
    assert.equal(result.text, 'to the second')
    assert.deepEqual(result.earlierAnswers, ['to the first'])
  }
  const end = (await stage.events(id)).find(({ type, kind }) => type === 'end' && kind === 'agent')
  assert.deepEqual([end?.content.text, end?.content.earlierAnswers], ['to the second', ['to the first']])
  const { runs } = await stage.conversation(id)
  const state = await stage.witan.call<{ result: RunResult }>('GET', `/api/v1/runs/${runs[0]?.runId}`)
  assert.deepEqual(state.body.result.earlierAnswers, ['to the first'])
})

test('enqueue joins the active run at its next step and gets that run’s result [D12] [E48]', async () => {
  const { id, gate, first } = await hold('joining')
  const second = stage.run(id, { prompt: 'two', onActive: 'enqueue' })
  await until(
    () => stage.events(id),
    (events) => events.filter((event) => event.type === 'message' && event.author === 'user').length === 2,
  )
  gate.open()
  const results = await Promise.all([first, second])
  assert.equal(results[1].runId, results[0].runId)
  assert.deepEqual(
    results.map((result) => result.text),
    ['answer', 'answer'],
  )
  assert.deepEqual(spoken(stage.model.of('joining')[1]), [
    { user: 'one' },
    { assistant: '', calls: [{ 'joining-helper': { message: 'm' } }] },
    { tool: 'joining-helper', content: 'helped' },
    { assistant: 'Noted.' },
    { user: 'two' },
  ])
  assertEvents(await stage.events(id))
})

test('interrupt ends the active run as cancelled and starts another [D12]', async () => {
  const { id, gate, first } = await hold('breaking')
  const second = await stage.runAnswer<RunResult>(id, { prompt: 'two', onActive: 'interrupt' })
  assert.equal(second.status, 200, second.text)
  assert.equal(second.body.status, 'completed')
  const cancelled = await first
  assert.equal(cancelled.status, 'cancelled')
  assert.notEqual(second.body.runId, cancelled.runId)
  gate.open()
  assertEvents(await stage.events(id))
})

test('reject and interrupt look at a waiting run as well', async () => {
  await stage.save(agent('parked', { actions: [{ name: 'save-it', description: 'Saves.' }] }))
  stage.model.script('parked', { calls: [{ name: 'save-it' }] }, { text: 'anew' })
  const waiting = await stage.ask('parked', 'one')
  assert.equal(waiting.status, 'waiting')
  assertProblem(await stage.runAnswer(waiting.conversationId, { prompt: 'two', onActive: 'reject' }), {
    status: 409,
    code: 'RUN_ACTIVE',
  })
  const next = await stage.run(waiting.conversationId, { prompt: 'two', onActive: 'interrupt' })
  assert.equal(next.status, 'completed')
  assert.notEqual(next.runId, waiting.runId)
  const { runs } = await stage.conversation(waiting.conversationId)
  assert.equal(runs.find((run) => run.runId === waiting.runId)?.status, 'cancelled')
})

test('a cancel ends the whole tree: the model call is aborted, nothing follows, and it is done once [D10] [C30]', async () => {
  const { id, gate, first } = await hold('stopping')
  const runId = (await stage.conversation(id)).activeRunId
  const cancel = () => stage.witan.call('POST', `/api/v1/runs/${runId}/cancel`, { body: { tasks: false } })
  assert.equal((await cancel()).status, 202)
  const result = await first
  assert.equal(result.status, 'cancelled')
  assert.equal(result.runId, runId)
  const [held] = stage.model.of('stopping-helper')
  await until(
    async () => held?.aborted,
    (aborted) => aborted === true,
  )
  gate.open()
  assertProblem(await cancel(), { status: 409, code: 'RUN_FINISHED' })
  const events = await stage.events(id)
  assertEvents(events)
  assert.ok(events.some((event) => event.type === 'cancel'))
  assert.equal(stage.model.of('stopping').length, 1)
  assertProblem(await stage.witan.call('POST', '/api/v1/runs/c_nothing/cancel', { body: {} }), {
    status: 404,
    code: 'NOT_FOUND',
  })
})

test('a repeated key replays the first answer and does nothing again', async () => {
  await stage.save(agent('once'))
  stage.model.script('once', { text: 'only once' })
  const { id } = await stage.begin('once')
  const headers = { 'idempotency-key': 'key-1' }
  const first = await stage.runAnswer<RunResult>(id, { prompt: 'hello' }, headers)
  const second = await stage.runAnswer<RunResult>(id, { prompt: 'hello' }, headers)
  assert.equal(first.status, 200, first.text)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(second.status, 200)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(second.body, first.body)
  assert.equal(stage.model.of('once').length, 1)
  const other = await stage.runAnswer(id, { prompt: 'something else' }, headers)
  assertProblem(other, { status: 422, code: 'IDEMPOTENCY_KEY_REUSED' })
})

test('a key whose first request is under way is 409 with Retry-After', async () => {
  const gate = createGate()
  await stage.save(agent('busy'))
  stage.model.script('busy', { text: 'done', hold: gate })
  const { id } = await stage.begin('busy')
  const headers = { 'idempotency-key': 'key-2' }
  const first = stage.runAnswer<RunResult>(id, { prompt: 'hello' }, headers)
  await gate.entered
  const second = await stage.runAnswer(id, { prompt: 'hello' }, headers)
  assertProblem(second, { status: 409, code: 'IN_PROGRESS' })
  assert.equal(second.headers.get('retry-after'), '1')
  gate.open()
  assert.equal((await first).status, 200)
})

test('a key on the start of a conversation makes one conversation; another path is another scope', async () => {
  await stage.save(agent('starter'))
  const start = () =>
    stage.witan.call<Started>('POST', '/api/v1/conversations', {
      body: { agent: 'starter' },
      headers: { 'idempotency-key': 'key-3' },
    })
  const first = await start()
  const second = await start()
  assert.equal(first.status, 201, first.text)
  assert.equal(second.status, 201)
  assert.equal(second.body.id, first.body.id)
  stage.model.script('starter', { text: 'ok' })
  const run = await stage.runAnswer<RunResult>(first.body.id, { prompt: 'hello' }, { 'idempotency-key': 'key-3' })
  assert.equal(run.status, 200, run.text)
  assert.equal(run.headers.get('idempotency-replayed'), null)
})
