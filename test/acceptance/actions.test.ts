/** Actions at depth three: the client’s handler path, its answer by either door, and the same run going on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertNeverSaw, assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { offered, spoken, toolContents } from './support/transcript.ts'
import type { Interruption, Page, RunResult } from './support/wire.ts'

const userId = 'cny_act_qw12er34ty56ui78op90as12'
const schema = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] }
let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

/** Three levels, all names ending in the same word; the leaf asks for `save-it` with each of the notes, in one turn. */
async function waitAtDepthThree(word: string, notes = ['milk']): Promise<RunResult> {
  const action = { name: 'save-it', description: 'Saves a note.', parametersSchema: schema }
  const trusted = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
  await stage.save(
    agent(`root-${word}`, { subAgents: [sub(`mid-${word}`), sub(`side-${word}`)] }),
    agent(`mid-${word}`, { subAgents: [sub(`leaf-${word}`)] }),
    agent(`leaf-${word}`, { parameters: [trusted], actions: [action] }),
    agent(`side-${word}`),
  )
  const calls = [
    { name: `mid-${word}`, args: { message: 'm' } },
    { name: `side-${word}`, args: { message: 's' } },
  ]
  stage.model.script(`root-${word}`, { calls }, { text: 'root done' })
  stage.model.script(`mid-${word}`, { calls: [{ name: `leaf-${word}`, args: { message: 'l' } }] }, { text: 'mid done' })
  stage.model.script(
    `leaf-${word}`,
    { calls: notes.map((note) => ({ name: 'save-it', args: { note } })) },
    { text: 'leaf done' },
    { text: 'leaf again' },
  )
  stage.model.script(`side-${word}`, { text: 'side done' })
  const run = await stage.ask(`root-${word}`, 'Save it.', { parameters: { userId } })
  assert.equal(run.status, 'waiting')
  return run
}

const answer = (id: string | undefined, body: unknown) =>
  stage.witan.call<Interruption>('POST', `/api/v1/interruptions/${id}/answer`, { body })
const ended = async ({ conversationId, runId }: RunResult) => {
  const { runs } = await until(
    () => stage.conversation(conversationId),
    (now) => now.status === 'idle',
  )
  return runs.find((run) => run.runId === runId)?.status
}

test('an action at depth three waits under its handler path, with bound values for the client only [R25] [R27] [Rb09] [E18]', async () => {
  const run = await waitAtDepthThree('path')
  const [open, ...others] = run.interruptions
  assert.deepEqual(others, [])
  assert.equal(open?.kind, 'action')
  assert.equal(open?.path, 'mid-path/leaf-path/save-it')
  assert.equal(open?.agent, 'leaf-path')
  assert.equal(open?.name, 'save-it')
  assert.equal(open?.state, 'open')
  assert.deepEqual(open?.arguments, { note: 'milk', userId })
  assert.deepEqual(offered(stage.model.of('leaf-path')[0]), [
    { name: 'save-it', properties: ['note'], required: ['note'] },
  ])
  const events = await stage.events(run.conversationId)
  const required = events.filter((event) => event.type === 'action_required')
  assert.equal(required.length, 1)
  assert.equal(required[0]?.content.id, open?.id)
  assert.deepEqual(required[0]?.content.arguments, { note: 'milk' })
  assert.equal(JSON.stringify(events).includes(userId), false)
  assert.equal(
    events.some((event) => event.callId === event.rootCallId && event.kind === 'agent' && event.type === 'end'),
    false,
  )
  const terse = await stage.events(run.conversationId, 'verbose=false')
  assert.ok(
    terse.some((event) => event.type === 'action_required'),
    'verbose=false shows interruptions of any depth [F34]',
  )
  const list = await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions?state=open&limit=200')
  assert.ok(
    list.body.items.some((item) => item.id === open?.id),
    list.text,
  )
})

test('actionResponses resume the same run, and the response is the tool’s text [R25] [R29]', async () => {
  const run = await waitAtDepthThree('resume')
  const done = await stage.run(run.conversationId, {
    actionResponses: [{ id: run.interruptions[0]?.id, response: 'saved as 7' }],
  })
  assert.equal(done.runId, run.runId)
  assert.equal(done.status, 'completed')
  assert.equal(done.text, 'root done')
  assert.deepEqual(spoken(stage.model.of('leaf-resume')[1]), [
    { user: 'l' },
    { assistant: '', calls: [{ 'save-it': { note: 'milk' } }] },
    { tool: 'save-it', content: 'saved as 7' },
  ])
  assert.deepEqual(toolContents(stage.model.of('root-resume')[1]), ['mid done', 'side done'])
  assert.equal(stage.model.of('side-resume').length, 1, 'an answer never re-runs a sibling')
  assertNeverSaw(stage.model.seen, userId)
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  const resolved = events.filter((event) => event.type === 'resolved')
  assert.deepEqual(
    resolved.map((event) => [event.content.id, event.content.state]),
    [[run.interruptions[0]?.id, 'answered']],
  )
})

test('an answer to the interruption wakes the run by itself; a repeat is 200, another answer 409 [Rb49] [D11]', async () => {
  const run = await waitAtDepthThree('door')
  const id = run.interruptions[0]?.id
  const first = await answer(id, { answer: { ok: true, at: [1, 2] } })
  assert.equal(first.status, 200, first.text)
  assert.equal(first.body.id, id)
  assert.equal(first.body.state, 'answered')
  assert.equal(await ended(run), 'completed')
  assert.deepEqual(toolContents(stage.model.of('leaf-door')[1]), ['{"ok":true,"at":[1,2]}'])
  assert.equal((await answer(id, { answer: { ok: true, at: [1, 2] } })).status, 200)
  assertProblem(await answer(id, { answer: { ok: false } }), { status: 409, code: 'ALREADY_ANSWERED' })
  assert.equal(stage.model.of('leaf-door').length, 2)
})

test('a handler’s error is the tool’s error, and the run goes on [Rb47]', async () => {
  const run = await waitAtDepthThree('fault')
  assert.equal((await answer(run.interruptions[0]?.id, { error: 'disk full' })).status, 200)
  assert.equal(await ended(run), 'completed')
  const content = JSON.parse(toolContents(stage.model.of('leaf-fault')[1])[0] ?? 'null') as { error: string }
  assert.deepEqual(Object.keys(content), ['error'])
  assert.ok(content.error.includes('disk full'))
})

test('two actions of one turn wait for each other, and their results stand in call order [Rb28] [C14]', async () => {
  const run = await waitAtDepthThree('pair', ['first', 'second'])
  assert.equal(run.interruptions.length, 2)
  const of = (note: string) => run.interruptions.find((open) => open.arguments.note === note)?.id
  const half = await stage.run(run.conversationId, { actionResponses: [{ id: of('second'), response: 'two' }] })
  assert.equal(half.status, 'waiting')
  assert.equal(half.runId, run.runId)
  assert.deepEqual(
    half.interruptions.map((open) => open.id),
    [of('first')],
  )
  assert.equal(stage.model.of('leaf-pair').length, 1, 'nothing is sent to the model while an action is open')
  const done = await stage.run(run.conversationId, { actionResponses: [{ id: of('first'), response: 'one' }] })
  assert.equal(done.status, 'completed')
  assert.deepEqual(toolContents(stage.model.of('leaf-pair')[1]), ['one', 'two'])
})

test('a prompt over an open action is refused, unless it cancels what is open [Rb29] [Rb30]', async () => {
  const run = await waitAtDepthThree('over')
  assertProblem(await stage.runAnswer(run.conversationId, { prompt: 'never mind' }), {
    status: 409,
    code: 'ACTIONS_PENDING',
  })
  stage.model.on('root-over', () => ({ text: 'root after' }))
  const done = await stage.run(run.conversationId, { prompt: 'never mind', cancelPendingActions: true })
  assert.equal(done.runId, run.runId, 'the same run goes on')
  assert.equal(done.status, 'completed')
  assert.ok(JSON.stringify(stage.model.of('root-over').at(-1)?.body.messages).includes('never mind'))
  const late = await answer(run.interruptions[0]?.id, { answer: 'late' })
  assertProblem(late, { status: 409 })
})

test('a prompt and responses together, and neither, are refused [Rb29]', async () => {
  const run = await waitAtDepthThree('both')
  const responses = [{ id: run.interruptions[0]?.id, response: 1 }]
  assertProblem(await stage.runAnswer(run.conversationId, { prompt: 'x', actionResponses: responses }), {
    status: 400,
    code: 'RUN_INPUT_INVALID',
  })
  assertProblem(await stage.runAnswer(run.conversationId, {}), { status: 400, code: 'RUN_INPUT_INVALID' })
})

test('unknown and foreign ids get the same 404 [Rb31]', async () => {
  const run = await waitAtDepthThree('ids')
  const other = await waitAtDepthThree('ids-other')
  const unknown = await stage.runAnswer(run.conversationId, { actionResponses: [{ id: 'i_nothing', response: 1 }] })
  assertProblem(unknown, { status: 404, code: 'ACTION_NOT_FOUND' })
  const foreign = await stage.runAnswer(run.conversationId, {
    actionResponses: [{ id: other.interruptions[0]?.id, response: 1 }],
  })
  assertProblem(foreign, { status: 404, code: 'ACTION_NOT_FOUND' })
  assertProblem(await stage.runAnswer(run.conversationId, { answers: [{ id: 'i_nothing', answer: 1 }] }), {
    status: 404,
    code: 'ACTION_NOT_FOUND',
  })
  assertProblem(await answer('i_nothing', { answer: 1 }), { status: 404, code: 'NOT_FOUND' })
})

test('an answer to a cancelled run says that the run is over', async () => {
  const run = await waitAtDepthThree('over-and-out')
  assert.equal((await stage.witan.call('POST', `/api/v1/runs/${run.runId}/cancel`, { body: {} })).status, 202)
  assert.equal(await ended(run), 'cancelled')
  assertProblem(await answer(run.interruptions[0]?.id, { answer: 'late' }), {
    status: 409,
    code: 'RUN_FINISHED',
    names: ['cancelled'],
  })
})
