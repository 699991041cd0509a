/** What a model gets wrong, and what it gets when it asks for several things at once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { spoken, toolContents } from './support/transcript.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const helpers = ['a', 'b', 'c'] as const

/** A root that asks three helpers in one turn and then ends. */
async function saveFan(word: string): Promise<void> {
  await stage.save(
    agent(word, { subAgents: helpers.map((each) => sub(`${word}-${each}`)) }),
    ...helpers.map((each) => agent(`${word}-${each}`)),
  )
  stage.model.script(
    word,
    { calls: helpers.map((each) => ({ name: `${word}-${each}`, args: { message: `for ${each}` } })) },
    { text: 'done' },
  )
}

test('a tool that does not exist is an error to the model, and the run goes on [Tb11] [C12]', async () => {
  await stage.save(agent('guesser', { subAgents: [sub('guesser-helper')] }), agent('guesser-helper'))
  stage.model.script('guesser', { calls: [{ name: 'bob', args: { message: 'x' } }] }, { text: 'done' })
  const run = await stage.ask('guesser', 'hello')
  assert.equal(run.status, 'completed')
  const content = JSON.parse(toolContents(stage.model.of('guesser')[1])[0] ?? 'null') as { error: string }
  assert.deepEqual(Object.keys(content), ['error'])
  assert.ok(content.error.includes('bob'), content.error)
  assertEvents(await stage.events(run.conversationId))
})

test('an agent that is not on the caller’s list is no tool of it, though it exists [F03] [C10]', async () => {
  await stage.save(agent('stranger-caller'), agent('stranger-itself'))
  stage.model.script(
    'stranger-caller',
    { calls: [{ name: 'stranger-itself', args: { message: 'x' } }] },
    { text: 'done' },
  )
  assert.equal((await stage.ask('stranger-caller', 'hello')).status, 'completed')
  assert.ok(JSON.parse(toolContents(stage.model.of('stranger-caller')[1])[0] ?? 'null').error)
  assert.equal(stage.model.of('stranger-itself').length, 0)
})

test('delegates of one turn run at once, and their results stand in call order [C14] [Rb20] [K15]', async () => {
  await saveFan('fan')
  const gates = helpers.map(() => createGate())
  for (const [index, each] of helpers.entries())
    stage.model.script(`fan-${each}`, { text: `from ${each}`, hold: gates[index] as ReturnType<typeof createGate> })
  const { id } = await stage.begin('fan')
  const asked = stage.run(id, { prompt: 'hello' })
  await Promise.all(gates.map((gate) => gate.entered))
  for (const [before, gate] of gates.toReversed().entries()) {
    gate.open()
    await until(
      () => stage.events(id),
      (events) => events.filter(({ kind, type }) => kind === 'agent' && type === 'end').length > before,
    )
  }
  const run = await asked
  assert.deepEqual(toolContents(stage.model.of('fan')[1]), ['from a', 'from b', 'from c'])
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  const ends = events.filter((event) => event.kind === 'agent' && event.type === 'end').map((event) => event.author)
  assert.deepEqual(ends, ['fan-c', 'fan-b', 'fan-a', 'fan'], 'events stand in arrival order')
})

test('a sibling that fails is an error of its call alone [C15] [Rb24] [Kb05]', async () => {
  await saveFan('mixed')
  stage.model.script('mixed-a', { text: 'from a' })
  stage.model.script('mixed-b', { status: 400, text: 'broken' })
  stage.model.script('mixed-c', { text: 'from c' })
  const run = await stage.ask('mixed', 'hello')
  assert.equal(run.status, 'completed')
  const [a, b, c] = toolContents(stage.model.of('mixed')[1])
  assert.equal(a, 'from a')
  assert.deepEqual(Object.keys(JSON.parse(b ?? 'null') as object), ['error'])
  assert.equal(c, 'from c')
  const events = await stage.events(run.conversationId)
  assert.ok(events.some((event) => event.type === 'error' && event.kind === 'agent' && event.author === 'mixed-b'))
  assertEvents(events)
})

test('calls of one turn to one delegate run one after another in call order, in one document [Rb21] [E44]', async () => {
  await stage.save(agent('twice', { subAgents: [sub('twice-helper')] }), agent('twice-helper'))
  stage.model.script(
    'twice',
    { calls: ['first', 'second'].map((message) => ({ name: 'twice-helper', args: { message } })) },
    { text: 'done' },
  )
  stage.model.script('twice-helper', { text: 'one', delayMs: 50 }, { text: 'two' })
  assert.equal((await stage.ask('twice', 'hello')).status, 'completed')
  assert.deepEqual(toolContents(stage.model.of('twice')[1]), ['one', 'two'])
  assert.deepEqual(spoken(stage.model.of('twice-helper')[1]), [
    { user: 'first' },
    { assistant: 'one' },
    { user: 'second' },
  ])
})

test('history isolated starts each delegation anew [C5]', async () => {
  await stage.save(agent('fresh', { subAgents: [sub('fresh-helper', { history: 'isolated' })] }), agent('fresh-helper'))
  stage.model.script(
    'fresh',
    { calls: [{ name: 'fresh-helper', args: { message: 'first' } }] },
    { calls: [{ name: 'fresh-helper', args: { message: 'second' } }] },
    { text: 'done' },
  )
  stage.model.script('fresh-helper', { text: 'one' }, { text: 'two' })
  const run = await stage.ask('fresh', 'hello')
  assert.deepEqual(spoken(stage.model.of('fresh-helper')[1]), [{ user: 'second' }])
  const document = await stage.document(`${run.conversationId}/fresh-helper`)
  assert.deepEqual(document.messages.map((message) => message.text).filter(Boolean), ['first', 'one', 'second', 'two'])
})

test('text beside calls is kept in the history, and the last text is the answer [E27]', async () => {
  await stage.save(agent('chatty', { subAgents: [sub('chatty-helper')] }), agent('chatty-helper'))
  stage.model.script(
    'chatty',
    { text: 'One moment.', calls: [{ name: 'chatty-helper', args: { message: 'm' } }] },
    { text: 'Here it is.' },
  )
  stage.model.script('chatty-helper', { text: 'ok' })
  assert.equal((await stage.ask('chatty', 'hello')).text, 'Here it is.')
  assert.deepEqual(spoken(stage.model.of('chatty')[1])[1], {
    assistant: 'One moment.',
    calls: [{ 'chatty-helper': { message: 'm' } }],
  })
})

test('an empty answer is asked for once more, and a second one is an error [E28]', async () => {
  await stage.save(agent('mute'), agent('muter'))
  stage.model.script('mute', { text: '' }, { text: 'now I speak' })
  assert.equal((await stage.ask('mute', 'hello')).text, 'now I speak')
  stage.model.script('muter', { text: '' }, { text: '' })
  const run = await stage.ask('muter', 'hello')
  assert.equal(run.status, 'failed')
  assert.ok(run.error?.code)
})

test('a delegate called without its message is a tool error that names it [Rb03]', async () => {
  await stage.save(agent('terse', { subAgents: [sub('terse-helper')] }), agent('terse-helper'))
  stage.model.script('terse', { calls: [{ name: 'terse-helper', args: {} }] }, { text: 'done' })
  assert.equal((await stage.ask('terse', 'hello')).status, 'completed')
  const { error } = JSON.parse(toolContents(stage.model.of('terse')[1])[0] ?? 'null') as { error: string }
  assert.ok(error.includes('message'), error)
  assert.equal(stage.model.of('terse-helper').length, 0)
})
