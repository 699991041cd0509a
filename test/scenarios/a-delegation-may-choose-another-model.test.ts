/** Another model or temperature for one delegation: only from the edge's list, only for that call, and without another history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, cast, createStage } from '../support/stage.ts'

type Edge = NonNullable<AgentInput['subAgents']>[number]

const overrides = { model: ['play/big', 'play/huge'], temperature: [0, 0.5] } satisfies Edge['overrides']
const echo: Rule = (request) => `heard ${lastUserMessage(request)}`

/** The root's calls in turn, and which model and temperature each of the leaf's requests had. */
function staged(calls: readonly Readonly<Record<string, unknown>>[], edge: Omit<Edge, 'agent'> = { overrides }) {
  const play = cast({
    root: (_, turn) => {
      const next = calls[turn]
      return next === undefined ? 'done' : call('leaf', next)
    },
    leaf: echo,
  })
  const names = ['play/model', 'play/big', 'play/huge']
  const models = Object.fromEntries(names.map((name) => [name, scriptedModel(play, { id: name })]))
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', ...edge }], temperature: 1, reasoningEffort: 'high' },
      { id: 'leaf', temperature: 0.9, reasoningEffort: 'low' },
    ],
    plays: {},
    options: { models },
  })
  const seen = (id: string) =>
    names.flatMap((name) =>
      (models[name]?.requests ?? [])
        .filter(({ messages }) => messages[0]?.content === `You are ${id}.`)
        .map((request) => ({ name, request })),
    )
  return { stage, seen }
}

const read = ({ seen }: ReturnType<typeof staged>, nth: number) => seen('root')[nth]?.request.messages.at(-1)?.content

test('[F14] [D22] the schema asks for a model and a temperature only where the edge allows it', async () => {
  const schemaOf = async (edge: Omit<Edge, 'agent'>) => {
    const { stage, seen } = staged([], edge)
    await stage.ask('root', 'hello')
    return seen('root')[0]?.request.tools[0]?.parameters as { properties: Record<string, unknown>; required: string[] }
  }
  const names = async (edge: Omit<Edge, 'agent'>) => Object.keys((await schemaOf(edge)).properties)
  assert.deepEqual(await names({}), ['message'])
  assert.deepEqual(await names({ overrides: { model: ['play/big'] } }), ['message', 'model'])
  assert.deepEqual(await names({ overrides: { temperature: [0, 1] } }), ['message', 'temperature'])
  assert.deepEqual(await names({ overrides: {}, style: 'agentTool' }), ['request'])
  const { properties, required } = await schemaOf({ overrides })
  assert.deepEqual(required, ['message'])
  assert.deepEqual((properties['model'] as { enum: string[] }).enum, overrides.model)
  const { minimum, maximum } = properties['temperature'] as { minimum: number; maximum: number }
  assert.deepEqual([minimum, maximum], overrides.temperature)
})

test('[F14] [E45] the child’s calls use what was chosen, for that delegation alone, in the same document', async () => {
  const at = staged([{ message: 'one', model: 'play/big', temperature: 0.5 }, { message: 'two' }])
  await at.stage.ask('root', 'hello', { id: 'chats/1' })
  const used = at.seen('leaf').map(({ name, request }) => [lastUserMessage(request), name, request.temperature])
  assert.deepEqual(used, [
    ['two', 'play/model', 0.9],
    ['one', 'play/big', 0.5],
  ])
  assert.ok(at.seen('root').every(({ name, request }) => name === 'play/model' && request.temperature === 1))
  // The second delegation goes on where the first one ended.
  assert.equal(at.seen('leaf')[0]?.request.messages.length, 4)
  assert.deepEqual((await at.stage.document('chats/1')).linkedConversations, ['chats/1/leaf'])
})

test('[E45] the override is recorded on the child’s start, and nowhere else', async () => {
  const { stage } = staged([{ message: 'one', model: 'play/big', temperature: 0 }, { message: 'two' }])
  await stage.ask('root', 'hello', { id: 'chats/1' })
  const starts = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'start' && kind === 'agent')
  assert.deepEqual(
    starts.map(({ content }) => content['overrides']),
    [undefined, { model: 'play/big', temperature: 0 }, undefined],
  )
})

test('[F14] [D22] a value that the edge does not allow is a mistake that the model reads, and nothing is run', async () => {
  const wrong = [
    { message: 'x', model: 'play/model' },
    { message: 'x', temperature: 0.6 },
    { message: 'x', temperature: '0' },
    { message: 'x', model: null },
  ]
  const at = staged(wrong)
  await at.stage.ask('root', 'hello')
  assert.equal(at.seen('leaf').length, 0)
  assert.match(read(at, 1) ?? '', /`model`: expected one of play\/big, play\/huge/)
  assert.match(read(at, 2) ?? '', /`temperature`: expected a number from 0 to 0.5/)
  assert.match(read(at, 3) ?? '', /`temperature`: expected a number/)
  assert.match(read(at, 4) ?? '', /`model`: expected one of/)
})

test('[D22] where the edge allows nothing, what the model wrote is dropped and recorded', async () => {
  const at = staged([{ message: 'x', model: 'play/big' }], {})
  await at.stage.ask('root', 'hello', { id: 'chats/1' })
  assert.deepEqual(
    at.seen('leaf').map(({ name }) => name),
    ['play/model'],
  )
  const notices = (await at.stage.events('chats/1')).filter(({ type }) => type === 'notice')
  assert.deepEqual(
    notices.map(({ content }) => content['code']),
    ['ARGUMENT_UNKNOWN_DROPPED'],
  )
})

test('[F14] [K17] a wrapped agent can be given another model too', async () => {
  const at = staged([{ request: 'x', model: 'play/huge' }], { overrides, style: 'agentTool' })
  await at.stage.ask('root', 'hello')
  assert.deepEqual(
    at.seen('leaf').map(({ name }) => name),
    ['play/huge'],
  )
})

test('[F14] the choice survives the process that made it', async () => {
  const store = memoryStore()
  const play = cast({
    root: [call('leaf', { message: 'go', model: 'play/big' }), 'done'],
    leaf: [call('Ask', {}), 'found'],
  })
  const models = Object.fromEntries(['play/model', 'play/big'].map((id) => [id, scriptedModel(play, { id })]))
  const agents = [
    agent('root', { subAgents: [{ agent: 'leaf', overrides: { model: ['play/big'] } }] }),
    agent('leaf', { actions: [{ name: 'Ask' }] }),
  ]
  const open = () => createRuntime({ clock: fakeClock(), store: outliving(store), models, agents })
  const first = open()
  const waiting = await (await first.start({ agent: 'root', prompt: 'hello', id: 'chats/1' })).run?.result
  await first.close()
  const second = open()
  const actionResponses = [{ id: waiting?.interruptions[0]?.id ?? '', response: 'ok' }]
  assert.equal((await (await second.run('chats/1', { actionResponses })).result).text, 'done')
  await second.close()
  assert.equal(models['play/big']?.requests.length, 2)
  assert.equal(models['play/model']?.requests.length, 2)
})

test('[F08] [E45] how much to think is the agent’s own, and no delegation changes it', async () => {
  const { stage, seen } = staged([{ message: 'one', model: 'play/big' }])
  await stage.ask('root', 'hello')
  assert.deepEqual(
    seen('root').map(({ request }) => request.reasoningEffort),
    ['high', 'high'],
  )
  assert.deepEqual(
    seen('leaf').map(({ request }) => request.reasoningEffort),
    ['low'],
  )
})

test('[D22] a list that names a model that is not there, or a range upside down, is refused at the save', async () => {
  const { stage } = staged([])
  const root = (wanted: unknown) =>
    agent('root', { subAgents: [{ agent: 'leaf', overrides: wanted as typeof overrides }] })
  for (const [wanted, code, path] of [
    [{ model: ['play/big', 'play/bigg'] }, 'MODEL_UNKNOWN', 'subAgents.0.overrides.model.1'],
    [{ temperature: [1, 0] }, 'AGENT_INVALID', 'subAgents.0.overrides.temperature'],
    [{ temperature: [0, 3] }, 'AGENT_INVALID', 'subAgents.0.overrides.temperature.1'],
    [{ temprature: [0, 1] }, 'UNKNOWN_KEY', 'subAgents.0.overrides.temprature'],
  ] as const) {
    await assert.rejects(stage.runtime.agents.save(root(wanted)), { code, path })
  }
  await assert.rejects(stage.runtime.agents.save(root({ temprature: [0, 1] })), { hint: 'Did you mean `temperature`?' })
})
