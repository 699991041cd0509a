/** What a file store keeps: an open action over a restart, a run over a kill, and one process at a time. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { spoken, toolContents } from './support/transcript.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file' })
})
afterEach(() => stage?.close())

async function saveThree(): Promise<void> {
  await stage.save(
    agent('root', { subAgents: [sub('mid')] }),
    agent('mid', { subAgents: [sub('leaf')] }),
    agent('leaf', {
      parameters: [{ name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }],
      actions: [{ name: 'save-it', description: 'Saves.' }],
    }),
  )
}

const parameters = { userId: 'employees/3-A' }
const idle = () =>
  until(
    () => stage.conversation('chats/kept'),
    (now) => now.status === 'idle',
  )

test('an action that waited over a restart is answered, and the same run ends [D11] [F31]', async () => {
  await saveThree()
  stage.model.script('root', { calls: [{ name: 'mid', args: { message: 'm' } }] }, { text: 'root done' })
  stage.model.script('mid', { calls: [{ name: 'leaf', args: { message: 'l' } }] }, { text: 'mid done' })
  stage.model.script('leaf', { calls: [{ name: 'save-it' }] }, { text: 'leaf done' })
  const run = await stage.ask('root', 'hello', { id: 'chats/kept', parameters })
  assert.equal(run.status, 'waiting')
  const before = await stage.events('chats/kept')
  await stage.witan.stop()
  await stage.witan.start()
  const waiting = await stage.conversation('chats/kept')
  assert.equal(waiting.status, 'waiting')
  assert.equal(waiting.activeRunId, run.runId)
  assert.deepEqual(
    waiting.interruptions.map((open) => open.id),
    run.interruptions.map((open) => open.id),
  )
  const done = await stage.run('chats/kept', { actionResponses: [{ id: run.interruptions[0]?.id, response: 'saved' }] })
  assert.equal(done.runId, run.runId)
  assert.equal(done.text, 'root done')
  assert.equal(done.usage.modelCalls, 6, 'what came before the restart is on the bill')
  assert.deepEqual(toolContents(stage.model.of('leaf')[1]), ['saved'])
  const events = await stage.events('chats/kept')
  assert.deepEqual(events.slice(0, before.length), before, 'the log only grows')
  assertEvents(events)
})

test('a run whose server is killed in a model call goes on with the next start and ends once [D3] [D5]', async () => {
  await saveThree()
  const gate = createGate()
  stage.model.on('root', ({ body }) =>
    body.messages.at(-1)?.role === 'tool'
      ? { text: 'root done' }
      : { calls: [{ name: 'mid', args: { message: 'm' } }] },
  )
  stage.model.on('mid', ({ body }) =>
    body.messages.at(-1)?.role === 'tool'
      ? { text: 'mid done' }
      : { calls: [{ name: 'leaf', args: { message: 'l' } }] },
  )
  stage.model.on('leaf', ({ nth }) => (nth === 1 ? { text: 'never heard', hold: gate } : { text: 'leaf done' }))
  const { id } = await stage.begin('root', { id: 'chats/kept', parameters })
  const { status, body } = await stage.runAnswer<{ runId: string }>(id, { prompt: 'hello', wait: false })
  assert.equal(status, 202)
  await gate.entered
  const before = await until(
    () => stage.events(id),
    (events) => events.some((event) => event.type === 'start' && event.author === 'leaf'),
  )
  await stage.witan.kill()
  gate.open()
  await stage.witan.start()
  const { runs } = await idle()
  assert.deepEqual(
    runs.map((run) => [run.runId, run.status]),
    [[body.runId, 'completed']],
  )
  const events = await stage.events(id)
  assertEvents(events)
  assert.deepEqual(events.slice(0, before.length), before, 'what a reader saw before the kill is still there')
  assert.equal(events.at(-1)?.content.text, 'root done')
  assert.equal(stage.model.of('root').length, 2, 'a stored reply is not asked for again [D2]')
  assert.equal(stage.model.of('mid').length, 2)
  assert.equal(stage.model.of('leaf').length, 2)
  assert.deepEqual(spoken(stage.model.of('leaf')[1]), [{ user: 'l' }])
})

test('agents, conversations and documents are the same after a restart, and the next prompt goes on', async () => {
  await saveThree()
  stage.model.script('root', { text: 'first' }, { text: 'second' })
  await stage.ask('root', 'one', { id: 'chats/kept', parameters })
  const before = [
    await stage.witan.call('GET', '/api/v1/agents/leaf'),
    await stage.document('chats/kept'),
    await stage.conversation('chats/kept'),
  ]
  await stage.witan.kill()
  await stage.witan.start()
  const after = [
    await stage.witan.call('GET', '/api/v1/agents/leaf'),
    await stage.document('chats/kept'),
    await stage.conversation('chats/kept'),
  ]
  assert.deepEqual(JSON.parse(JSON.stringify([after[1], after[2]])), JSON.parse(JSON.stringify([before[1], before[2]])))
  await stage.run('chats/kept', { prompt: 'two' })
  assert.deepEqual(spoken(stage.model.of('root')[1]), [{ user: 'one' }, { assistant: 'first' }, { user: 'two' }])
  assertEvents(await stage.events('chats/kept'))
})

test('a second process on the same file ends with 78 and names the lock; the first goes on [F17]', async () => {
  const { code, output } = await stage.witan.second()
  assert.equal(code, 78, output)
  assert.ok(output.includes('STORE_LOCKED'), output)
  assert.equal((await stage.witan.call('GET', '/readyz')).status, 200)
  await stage.save(agent('still-alive'))
  await stage.witan.kill()
  await stage.witan.start()
  assert.equal(
    (await stage.witan.call('GET', '/api/v1/agents/still-alive')).status,
    200,
    'a kill leaves no lock behind',
  )
})
