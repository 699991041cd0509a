/** Limits: what the iteration caps, the run's budget and the depth cap do when they are reached. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { offeredNames, toolContents, toolsAreOff } from './support/transcript.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

/** An agent that would ask its helper for ever, and the helper. */
async function saveRestless(id: string, more: Record<string, unknown>): Promise<void> {
  await stage.save(agent(id, { subAgents: [sub(`${id}-helper`)], ...more }), agent(`${id}-helper`))
  stage.model.on(id, (seen) =>
    toolsAreOff(seen)
      ? { text: 'I must stop.' }
      : { calls: [{ name: `${id}-helper`, args: { message: `again ${seen.nth}` } }] },
  )
  stage.model.on(`${id}-helper`, () => ({ text: 'go on' }))
}

test('after maxIterations the model is asked once more without tools, and the run completes [C3] [Rb18]', async () => {
  await saveRestless('capped', { limits: { maxIterations: 2 }, onExhausted: 'answer' })
  const run = await stage.ask('capped', 'hello')
  assert.equal(run.status, 'completed')
  assert.equal(run.finishReason, 'iteration_limit')
  assert.equal(run.text, 'I must stop.')
  const seen = stage.model.of('capped')
  assert.deepEqual(seen.map(toolsAreOff), [false, false, true])
})

test('answer is the default behaviour, and a normal end has another reason', async () => {
  await saveRestless('by-default', { limits: { maxIterations: 1 } })
  assert.equal((await stage.ask('by-default', 'hello')).finishReason, 'iteration_limit')
  await stage.save(agent('in-time'))
  stage.model.script('in-time', { text: 'ok' })
  assert.notEqual((await stage.ask('in-time', 'hello')).finishReason, 'iteration_limit')
})

test('the cap of a sub-agent is its own: its last answer goes to the parent, which goes on [C3]', async () => {
  await saveRestless('sub-capped', { limits: { maxIterations: 1 } })
  await stage.save(agent('above', { subAgents: [sub('sub-capped')] }))
  stage.model.script('above', { calls: [{ name: 'sub-capped', args: { message: 'm' } }] }, { text: 'done' })
  const run = await stage.ask('above', 'hello')
  assert.equal(run.status, 'completed')
  assert.notEqual(run.finishReason, 'iteration_limit')
  assert.deepEqual(toolContents(stage.model.of('above')[1]), ['I must stop.'])
})

test('with onExhausted error the run fails at the cap', async () => {
  await saveRestless('strict', { limits: { maxIterations: 2 }, onExhausted: 'error' })
  const run = await stage.ask('strict', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'BUDGET_EXCEEDED')
  assert.ok(run.error?.hint)
  assert.equal(stage.model.of('strict').length, 2)
  assertEvents(await stage.events(run.conversationId))
})

test('a call on the answer turn is not run, and its text is the answer [E26]', async () => {
  await stage.save(
    agent('stubborn', { subAgents: [sub('stubborn-helper')], limits: { maxIterations: 1 } }),
    agent('stubborn-helper'),
  )
  stage.model.script(
    'stubborn',
    { calls: [{ name: 'stubborn-helper', args: { message: 'a' } }] },
    { text: 'once more', calls: [{ name: 'stubborn-helper', args: { message: 'b' } }] },
  )
  stage.model.script('stubborn-helper', { text: 'ok' })
  const run = await stage.ask('stubborn', 'hello')
  assert.equal(run.status, 'completed')
  assert.equal(run.text, 'once more')
  assert.equal(run.finishReason, 'iteration_limit')
  assert.equal(stage.model.of('stubborn-helper').length, 1)
})

test('maxModelCalls bounds the whole tree, and passing it fails the run [C3] [K18]', async () => {
  await saveRestless('poor', { limits: { maxModelCalls: 3 } })
  const run = await stage.ask('poor', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'BUDGET_EXCEEDED')
  assert.match(run.error?.detail ?? '', /\bof 3\b/)
  const asked = stage.model.of('poor').length + stage.model.of('poor-helper').length
  assert.ok(asked <= 3, `${asked} model calls`)
  assert.equal(run.usage.modelCalls, asked)
  assertEvents(await stage.events(run.conversationId))
})

test('parallel siblings never overspend the run’s budget [E23] [Rb20]', async () => {
  await stage.save(
    agent('crowd', { subAgents: [1, 2, 3, 4].map((n) => sub(`crowd-${n}`)), limits: { maxModelCalls: 3 } }),
    ...[1, 2, 3, 4].map((n) => agent(`crowd-${n}`)),
  )
  stage.model.on('crowd', () => ({ calls: [1, 2, 3, 4].map((n) => ({ name: `crowd-${n}`, args: { message: 'm' } })) }))
  for (const n of [1, 2, 3, 4]) stage.model.on(`crowd-${n}`, () => ({ text: 'ok', delayMs: 30 }))
  const run = await stage.ask('crowd', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'BUDGET_EXCEEDED')
  assert.ok(stage.model.seen.filter((seen) => seen.model.startsWith('crowd')).length <= 3)
})

test('maxModelIterationsPerCall of the root stops the tree gracefully, and a child without tools takes none of it [R17] [C4]', async () => {
  await saveRestless('r17', { limits: { maxModelIterationsPerCall: 3 } })
  const run = await stage.ask('r17', 'hello')
  assert.equal(run.status, 'completed')
  assert.equal(run.finishReason, 'iteration_limit')
  assert.equal(run.text, 'I must stop.')
  assert.deepEqual(stage.model.of('r17').map(toolsAreOff), [false, false, false, true])
})

test('at the depth cap delegates are not offered, and a call that comes all the same is a tool error [C2] [F36]', async () => {
  await stage.save(
    agent('deep', { subAgents: [sub('deep-mid')], limits: { maxDepth: 1 } }),
    agent('deep-mid', { subAgents: [sub('deep-leaf')] }),
    agent('deep-leaf'),
  )
  stage.model.script('deep', { calls: [{ name: 'deep-mid', args: { message: 'm' } }] }, { text: 'done' })
  stage.model.script('deep-mid', { calls: [{ name: 'deep-leaf', args: { message: 'l' } }] }, { text: 'stayed up here' })
  const run = await stage.ask('deep', 'hello')
  assert.equal(run.status, 'completed')
  assert.equal(offeredNames(stage.model.of('deep-mid')[0]).includes('deep-leaf'), false)
  assert.equal(stage.model.of('deep-leaf').length, 0)
  const content = JSON.parse(toolContents(stage.model.of('deep-mid')[1])[0] ?? 'null') as { error: string }
  assert.deepEqual(Object.keys(content), ['error'])
  const events = await stage.events(run.conversationId)
  assert.ok(events.some((event) => event.type === 'error' && event.content.code === 'DEPTH_EXCEEDED'))
  assertEvents(events)
})

test('a cycle is bounded by its caps, and re-entry is fresh [E43] [R47] [C1]', async () => {
  await stage.save(
    agent('tick', { subAgents: [sub('tock')], limits: { maxDepth: 3 } }),
    agent('tock', { subAgents: [sub('tick')] }),
  )
  stage.model.on('tick', (seen) =>
    offeredNames(seen).length > 0 && seen.body.messages.length === 2
      ? { calls: [{ name: 'tock', args: { message: `tick ${seen.nth}` } }] }
      : { text: 'tick ends' },
  )
  stage.model.on('tock', (seen) =>
    offeredNames(seen).length > 0 && seen.body.messages.length === 2
      ? { calls: [{ name: 'tick', args: { message: `tock ${seen.nth}` } }] }
      : { text: 'tock ends' },
  )
  const run = await stage.ask('tick', 'hello')
  assert.equal(run.status, 'completed')
  assert.equal(run.text, 'tick ends')
  const events = await stage.events(run.conversationId)
  const paths = events
    .filter((event) => event.kind === 'agent' && event.type === 'start')
    .map((event) => event.agentPath)
  assert.deepEqual(paths, ['tick', 'tick/tock', 'tick/tock/tick', 'tick/tock/tick/tock'])
  assertEvents(events)
})
