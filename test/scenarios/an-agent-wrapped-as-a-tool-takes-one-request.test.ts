/** An agent wrapped as a tool: one request in, its text and perhaps an error out, within the run of its caller. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentTool, createRuntime, defineAgent, defineTool, memoryStore } from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { z } from 'zod'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, cast, createStage, type Play, settle } from '../support/stage.ts'

type Edge = NonNullable<AgentDraft['subAgents']>[number]

const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => {
    throw new Error('the shelf is empty')
  },
})

function wrapped(edge: Omit<Edge, 'agent'>, leaf: Play, more: Omit<AgentDraft, 'id'> = {}) {
  const ask = call('leaf', { request: 'what is left?' })
  return createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', style: 'agentTool', ...edge }] },
      { id: 'leaf', description: 'Knows the stock.', tools: ['broken'], ...more },
      { id: 'deep' },
    ],
    plays: { root: [ask, 'done'], leaf, deep: ['deep inside'] },
    options: { tools: [broken] },
  })
}

async function readBy(stage: ReturnType<typeof wrapped>): Promise<string> {
  const result = await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.equal(result.text, 'done')
  for (const request of stage.requests) assertAlternates(request)
  assertSound(await stage.events('chats/1'))
  assertUsage(result, await stage.events('chats/1'))
  return stage.seenBy('root')[1]?.messages.at(-1)?.content ?? ''
}

test('[K17] it takes one required string `request`, and hears it unchanged', async () => {
  const stage = wrapped({}, ['three'])
  await readBy(stage)
  const [tool] = stage.seenBy('root')[0]?.tools ?? []
  assert.equal(tool?.name, 'leaf')
  const { properties, ...rest } = tool.parameters as { properties: Record<string, { type: string }> }
  assert.deepEqual(Object.keys(properties), ['request'])
  assert.equal(properties['request']?.type, 'string')
  assert.deepEqual(rest, { type: 'object', required: ['request'], additionalProperties: false })
  assert.deepEqual(stage.seenBy('leaf')[0]?.messages.slice(1), [{ role: 'user', content: 'what is left?' }])
})

test('[K17] a call without its request is a mistake that the model reads', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf', style: 'agentTool' }] }, { id: 'leaf' }],
    plays: { root: [call('leaf', { message: 'x' }), call('leaf', { request: ' ' }), 'done'], leaf: ['never'] },
  })
  await stage.ask('root', 'hello')
  assert.equal(stage.seenBy('leaf').length, 0)
  for (const request of stage.seenBy('root').slice(1))
    assert.match(request.messages.at(-1)?.content ?? '', /`request`: expected/)
})

test('[K16] its own description stands, or the one of the edge, and nothing else', async () => {
  for (const [description, read] of [
    ['', 'Knows the stock.'],
    ['Ask for stock.', 'Ask for stock.'],
  ] as const) {
    const stage = wrapped({ description }, ['three'], { actions: [{ name: 'Order', description: 'Orders.' }] })
    await readBy(stage)
    assert.equal(stage.seenBy('root')[0]?.tools[0]?.description, read)
  }
})

test('[K20] [K22] the caller reads the final text in one JSON value, and with `collect: all` everything that was said', async () => {
  const play = [{ text: 'Let me look.', ...call('deep', { message: 'look' }) }, 'three "boxes"\nleft']
  const subAgents = [{ agent: 'deep' }]
  assert.equal(await readBy(wrapped({}, play, { subAgents })), '{"text":"three \\"boxes\\"\\nleft"}')
  const all = await readBy(wrapped({ collect: 'all' }, play, { subAgents }))
  assert.equal(all, '{"text":"Let me look.\\nthree \\"boxes\\"\\nleft"}')
})

test('[K20] [C13] `collect: all` on a delegate gives its texts as they are; what a grandchild said is not among them', async () => {
  const play = [{ text: 'Let me look.', ...call('deep', { message: 'look' }) }, 'three']
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', collect: 'all' }] },
      { id: 'leaf', subAgents: [{ agent: 'deep' }] },
      { id: 'deep' },
    ],
    plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: play, deep: ['deep inside'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.equal(stage.seenBy('root')[1]?.messages.at(-1)?.content, 'Let me look.\nthree')
  assert.equal((await stage.document('chats/1')).messages[1]?.toolCalls[0]?.result, 'Let me look.\nthree')
})

test('[K21] an error within the child is told beside its text', async () => {
  const stage = wrapped({}, [call('broken', {}), 'I could not look.'])
  assert.equal(await readBy(stage), '{"text":"I could not look.","error":"`broken` failed: the shelf is empty"}')
  const [shown] = (await stage.document('chats/1')).messages[1]?.toolCalls ?? []
  assert.deepEqual(shown?.result, { text: 'I could not look.', error: '`broken` failed: the shelf is empty' })
})

test('[K21] a child that fails gives its error, and with `collect: all` what it said before', async () => {
  const play: Play = (_, turn) => (turn === 0 ? { text: 'Let me look.', ...call('broken', {}) } : new Error('no model'))
  const final = JSON.parse(await readBy(wrapped({}, play)))
  assert.equal(final.text, '')
  assert.match(final.error, /^`broken` failed: the shelf is empty\nModel .* could not be called: no model$/)
  assert.equal(JSON.parse(await readBy(wrapped({ collect: 'all' }, play))).text, 'Let me look.')
})

test('[K21] [D15] what the child itself may not see is not in the error that its caller reads', async () => {
  const secret = 'cny_key_q1w2e3r4t5y6'
  const leaky = defineTool({
    name: 'leaky',
    description: 'Says too much.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_, { parameters }) => {
      throw new Error(`refused for ${String(parameters['key'])}`)
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', style: 'agentTool' }] },
      {
        id: 'leaf',
        parameters: [{ name: 'key', sendToModel: false, policy: 'forbidModelGeneration' }],
        tools: ['leaky'],
      },
    ],
    plays: { root: [call('leaf', { request: 'go' }), 'done'], leaf: [call('leaky', {}), 'no'] },
    options: { tools: [leaky] },
  })
  await stage.ask('root', 'hello', { parameters: { key: secret } })
  assert.equal(
    stage.seenBy('root')[1]?.messages.at(-1)?.content,
    '{"text":"no","error":"`leaky` failed: refused for [hidden]"}',
  )
})

test('[K15] [K18] [K19] [E73] several in one reply share the budget, each with an invocation id of its own', async () => {
  const ask = (request: string) => ({ name: 'leaf', arguments: { request } })
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', style: 'agentTool' }], limits: { maxModelCalls: 3 } },
      { id: 'leaf' },
    ],
    plays: { root: [{ toolCalls: [ask('a'), ask('b'), ask('c')] }, 'done'], leaf: ['ok'] },
  })
  const result = await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.equal(result.status, 'failed')
  assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
  assert.equal(result.usage.modelCalls, 3)
  const events = await stage.events('chats/1')
  const ids = events.filter(({ type, parentCallId }) => type === 'start' && parentCallId !== null)
  const base = `${result.runId}.sub.leaf`
  assert.deepEqual(
    ids.map(({ invocationId }) => invocationId),
    [base, `${base}#2`, `${base}#3`],
  )
})

test('[K19] one below another has the whole way in its invocation id', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid', style: 'agentTool' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf', style: 'agentTool' }] },
      { id: 'leaf' },
    ],
    plays: {
      root: [call('mid', { request: 'go' }), 'done'],
      mid: [{ toolCalls: ['a', 'b'].map((request) => ({ name: 'leaf', arguments: { request } })) }, 'done'],
      leaf: ['ok'],
    },
  })
  const { runId } = await stage.ask('root', 'hello', { id: 'chats/1' })
  const starts = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'start' && kind === 'agent')
  assert.deepEqual(
    starts.map(({ invocationId }) => invocationId),
    [runId, `${runId}.sub.mid`, `${runId}.sub.mid.sub.leaf`, `${runId}.sub.mid.sub.leaf#2`],
  )
})

test('[K18] cancelling the run ends the wrapped agent too', async () => {
  const stage = wrapped({}, [{ hang: true }])
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'hello', id: 'chats/1' })
  while (stage.seenBy('leaf').length === 0) await settle(1)
  await stage.runtime.cancelRun(opened.run?.runId ?? '')
  assert.equal((await opened.run?.result)?.status, 'cancelled')
  assertSound(await stage.events('chats/1'))
})

test('[K17] [R30] [C19] bound values flow as on any edge; what the model must supply stands beside the request', async () => {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: [{ name: 'user' }],
        subAgents: [{ agent: 'leaf', style: 'agentTool', map: { id: 'user' } }],
      },
      { id: 'leaf', parameters: [{ name: 'id' }, { name: 'topic', description: 'About what.' }] },
    ],
    plays: { root: [call('leaf', { request: 'go', id: 'other', topic: 'stock' }), 'done'], leaf: ['ok'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { user: 'employees/3' } })
  const schema = stage.seenBy('root')[0]?.tools[0]?.parameters as { required: string[] }
  assert.deepEqual(schema.required, ['request', 'topic'])
  const system = stage.seenBy('leaf')[0]?.messages[0]?.content
  assert.equal(system, 'You are leaf.\nid = "employees/3"\ntopic = "stock"')
  const codes = (await stage.events('chats/1'))
    .filter(({ type }) => type === 'notice')
    .map(({ content }) => content['code'])
  assert.deepEqual(codes, ['ARGUMENT_OVERRIDE_IGNORED'])
})

test('[E11] [E12] one agent cannot be a delegate and a wrapped tool under the same name', async () => {
  const stage = createStage({ agents: [{ id: 'leaf' }], plays: {} })
  const both = {
    id: 'root',
    model: 'play/model',
    instructions: 'x',
    subAgents: [{ agent: 'leaf' }, { agent: 'leaf', style: 'agentTool' }],
  }
  await assert.rejects(stage.runtime.agents.save(both as AgentInput), { code: 'NAME_TAKEN', path: 'subAgents.1' })
})

test('[K20] [K21] what was gathered before a crash is told after it', async () => {
  const store = memoryStore()
  const agents = [
    {
      id: 'root',
      model: 'play/model',
      instructions: 'You are root.',
      subAgents: [{ agent: 'leaf', style: 'agentTool', collect: 'all' }],
    },
    { id: 'leaf', model: 'play/model', instructions: 'You are leaf.', tools: ['broken'], actions: [{ name: 'Ask' }] },
  ]
  const leaf = [{ text: 'One.', ...call('broken', {}) }, { text: 'Two.', ...call('Ask', {}) }, 'Three.']
  const model = scriptedModel(cast({ root: [call('leaf', { request: 'go' }), 'done'], leaf }))
  const open = () =>
    createRuntime({
      clock: fakeClock(),
      store: outliving(store),
      models: { 'play/model': model },
      agents,
      tools: [broken],
    })
  const first = open()
  const waiting = await (await first.start({ agent: 'root', prompt: 'hello', id: 'chats/1' })).run?.result
  await first.close()
  const second = open()
  const answer = { id: waiting?.interruptions[0]?.id ?? '', response: 'ok' }
  assert.equal((await (await second.run('chats/1', { actionResponses: [answer] })).result).text, 'done')
  assert.equal(
    model.requests.at(-1)?.messages.at(-1)?.content,
    '{"text":"One.\\nTwo.\\nThree.","error":"`broken` failed: the shelf is empty"}',
  )
  await second.close()
})

test('[K15] [K16] [F08] code wraps an agent where it is used; the runtime gets it, its tools and its model with it', async () => {
  const poet = defineAgent({
    id: 'poet',
    instructions: 'Write.',
    description: 'Writes.',
    model: scriptedModel(turns(call('broken', {}), 'a rose'), { id: 'own/poet' }),
    tools: [broken],
  })
  const critic = defineAgent({
    id: 'critic',
    instructions: 'Judge.',
    model: scriptedModel(() => 'fine', { id: 'own/critic' }),
  })
  const model = scriptedModel(
    turns(call('poet', { request: 'a line' }), call('critic', { request: 'judge it' }), 'done'),
    { id: 'own/root' },
  )
  const root = defineAgent({
    id: 'root',
    instructions: 'Ask.',
    model,
    tools: [agentTool(poet, { description: 'Writes one line.' })],
    subAgents: [agentTool(critic)],
  })
  const runtime = createRuntime({ agents: [root, critic] })
  const result = await runtime.conversation('root').run('hello')
  assert.equal(result.status, 'completed')
  const offered = model.requests[0]?.tools.map(({ name, description }) => [name, description])
  assert.deepEqual(offered, [
    ['critic', ''],
    ['poet', 'Writes one line.'],
  ])
  const read = model.requests[2]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  assert.deepEqual(read, ['{"text":"a rose","error":"`broken` failed: the shelf is empty"}', '{"text":"fine"}'])
  assert.deepEqual(
    (await runtime.agents.get('root')).subAgents.map(({ style }) => style),
    ['agentTool', 'agentTool'],
  )
  await runtime.close()
})
