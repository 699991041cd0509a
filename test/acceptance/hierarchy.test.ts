/** Three levels with hidden, visible, trusted and model-supplied parameters: the exact words and tools that each model saw. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertNeverSaw, assertSaw } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { assertSystem, offered, spoken, transcript } from './support/transcript.ts'
import type { RunResult } from './support/wire.ts'

const userId = 'cny_user_ab12cd34ef56gh78ij90kl12'
const tenant = 'cny_tenant_mn34op56qr78st90uv12wx34'
const region = 'seen-by-mid-and-leaf'
const country = 'seen-by-front'

let stage: Stage
let result: RunResult
before(async () => {
  stage = await createStage()
  await stage.save(front(), mid(), leaf())
  script()
  result = await stage.ask('front', 'Who is my manager?\n', {
    id: 'chats/three',
    parameters: { userId, region, country, tenant: { value: tenant, sendToModel: false } },
  })
})
after(() => stage?.close())

function front() {
  return agent('front', {
    parameters: [
      { name: 'country', type: 'string' },
      { name: 'tenant', type: 'string' },
    ],
    subAgents: [sub('mid', { description: 'Knows the people.' })],
  })
}

function mid() {
  return agent('mid', {
    parameters: [{ name: 'region', type: 'string', sendToModel: true }],
    subAgents: [sub('leaf', { description: 'Reads the records.' })],
  })
}

function leaf() {
  return agent('leaf', {
    instructions: 'You are leaf.\nRead & answer "briefly".',
    parameters: [
      { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' },
      { name: 'tenant', type: 'string' },
      { name: 'region', type: 'string' },
      { name: 'topic', type: 'string', description: 'What to read.' },
    ],
    actions: [
      {
        name: 'note-it',
        description: 'Notes.',
        parametersSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    ],
  })
}

function script() {
  stage.model.script(
    'front',
    { calls: [{ name: 'mid', args: { message: 'Find the manager.' } }] },
    { text: 'Your manager is Fuller.' },
    { calls: [{ name: 'mid', args: { message: 'And the phone?' } }] },
    { text: 'It is 555.' },
  )
  stage.model.script(
    'mid',
    { text: 'Let me look.', calls: [{ name: 'leaf', args: { message: 'Read reportsTo.', topic: 'staff' } }] },
    { text: 'Andrew Fuller.' },
    { calls: [{ name: 'leaf', args: { message: 'Read the phone.', topic: 'phones' } }] },
    { text: '555.' },
  )
  stage.model.script('leaf', { text: 'reportsTo = "2" – Fuller' }, { text: 'phone = 555' })
}

test('the answer of the root is the answer of the run', () => {
  assert.equal(result.status, 'completed')
  assert.equal(result.text, 'Your manager is Fuller.')
  assert.equal(result.error, null)
  assert.equal(result.conversationId, 'chats/three')
  assert.deepEqual(result.interruptions, [])
})

test('the root sees its own words, its own parameters and the delegate’s final text only [R15] [R21] [C6]', () => {
  const [first, second] = stage.model.of('front')
  assertSystem(first, 'You are front.', ['country = "seen-by-front"', 'tenant: supplied by the system'])
  const prompt = { user: 'Who is my manager?\n' }
  assert.deepEqual(spoken(first), [prompt])
  const call = { assistant: '', calls: [{ mid: { message: 'Find the manager.' } }] }
  assert.deepEqual(spoken(second), [prompt, call, { tool: 'mid', content: 'Andrew Fuller.' }])
})

test('a sub-agent sees the task unchanged and nothing of its parent [F18] [F37]', () => {
  const [first, second] = stage.model.of('mid')
  assertSystem(first, 'You are mid.', ['region = "seen-by-mid-and-leaf"'])
  const task = { user: 'Find the manager.' }
  assert.deepEqual(spoken(first), [task])
  const call = { assistant: 'Let me look.', calls: [{ leaf: { message: 'Read reportsTo.', topic: 'staff' } }] }
  assert.deepEqual(spoken(second), [task, call, { tool: 'leaf', content: 'reportsTo = "2" – Fuller' }])
})

test('the deepest agent is told its visible values and the names of its hidden ones [R35] [R39] [R52] [C17]', () => {
  const [first] = stage.model.of('leaf')
  const instructions = 'You are leaf.\nRead & answer "briefly".'
  const lines = [
    'userId: supplied by the system',
    'tenant: supplied by the system',
    'region = "seen-by-mid-and-leaf"',
    'topic = "staff"',
  ]
  assertSystem(first, instructions, lines)
  assert.deepEqual(spoken(first), [{ user: 'Read reportsTo.' }])
})

test('a delegate’s tool is named by its id and asks only for what the model must supply [R02] [R03] [R30] [Rb06]', () => {
  const only = (name: string, ...properties: string[]) => [{ name, properties, required: properties }]
  assert.deepEqual(offered(stage.model.of('front')[0]), only('mid', 'message'))
  assert.deepEqual(offered(stage.model.of('mid')[0]), only('leaf', 'message', 'topic'))
  assert.deepEqual(offered(stage.model.of('leaf')[0]), only('note-it', 'text'))
  const description = (name: string) => stage.model.of(name)[0]?.body.tools?.[0]?.function.description ?? ''
  assert.ok(description('front').includes('Knows the people.'))
  assert.ok(description('mid').includes('Reads the records.'))
  assert.equal(stage.model.of('front')[0]?.body.tool_choice ?? 'auto', 'auto')
})

test('a hidden value is in no request to any model, a visible one only where it is declared [R36] [R37] [R38] [Rb11]', () => {
  const { model } = stage
  assertNeverSaw(model.seen, userId)
  assertNeverSaw(model.seen, tenant)
  assertNeverSaw(model.of('front'), region)
  assertNeverSaw(model.of('front'), 'userId')
  assertNeverSaw(model.of('mid'), 'userId')
  assertNeverSaw([...model.of('mid'), ...model.of('leaf')], country)
  assertSaw(model.of('front'), country)
  assertSaw(model.of('mid'), region)
  assertSaw(model.of('leaf'), region)
})

test('hidden values are in no event and no document, and the model’s own are [D15] [C18]', async () => {
  const texts = [JSON.stringify(await stage.events('chats/three'))]
  for (const path of ['chats/three', 'chats/three/mid', 'chats/three/mid/leaf'])
    texts.push(JSON.stringify(await stage.document(path, 'detail=full')))
  for (const text of texts) {
    assert.equal(text.includes(userId), false)
    assert.equal(text.includes(tenant), false)
  }
  assert.ok(texts[0]?.includes('staff'))
})

test('the next prompt goes on with each agent’s own history [F18] [C5] [C7]', async () => {
  const next = await stage.run('chats/three', { prompt: 'And the phone?' })
  assert.equal(next.text, 'It is 555.')
  assert.notEqual(next.runId, result.runId)
  assert.deepEqual(spoken(stage.model.of('front')[2]), [
    { user: 'Who is my manager?\n' },
    { assistant: '', calls: [{ mid: { message: 'Find the manager.' } }] },
    { tool: 'mid', content: 'Andrew Fuller.' },
    { assistant: 'Your manager is Fuller.' },
    { user: 'And the phone?' },
  ])
  assert.deepEqual(spoken(stage.model.of('mid')[2]).at(-1), { user: 'And the phone?' })
  assert.deepEqual(spoken(stage.model.of('mid')[2]).at(-2), { assistant: 'Andrew Fuller.' })
  const [, again] = stage.model.of('leaf')
  assert.deepEqual(spoken(again), [
    { user: 'Read reportsTo.' },
    { assistant: 'reportsTo = "2" – Fuller' },
    { user: 'Read the phone.' },
  ])
  const system = transcript(again)[0]
  assert.ok(
    system && 'system' in system && system.system.includes('topic = "phones"'),
    'the new value of a model-supplied parameter',
  )
})
