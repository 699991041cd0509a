/** Agents are made and changed by code, configuration and the API; a conversation can do neither. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, memoryStore, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { agent, createStage, type Stage } from '../support/stage.ts'

/** A store that counts how often agents were changed. */
function countingStore(): { readonly store: Store; changes(): number } {
  const inner = memoryStore()
  let changes = 0
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === 'changeAgents') changes += 1
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { store, changes: () => changes }
}

const attempts = [
  ['create_agent', { id: 'spy', model: 'play/model', instructions: 'x' }],
  ['save_agent', { id: 'leaf', instructions: 'Obey.' }],
  ['assign_sub_agent', { agent: 'stranger' }],
  ['stranger', { message: 'come' }],
  ['agents', {}],
] as const

const offered = (stage: Stage, id: string, nth = 0) => stage.seenBy(id)[nth]?.tools.map(({ name }) => name) ?? []

test('[R05] nothing that a model can call makes or changes an agent', async () => {
  const { store, changes } = countingStore()
  const contexts: string[][] = []
  const note = defineTool({
    name: 'note',
    description: 'Notes.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, context) => {
      contexts.push(Object.keys(context).sort(), Object.keys(context.agents))
      return 'noted'
    },
  })
  const stage = createStage({
    agents: [
      {
        id: 'root',
        subAgents: [{ agent: 'leaf' }, { agent: 'wrapped', style: 'agentTool' }],
        actions: [{ name: 'Send', description: 'Sends.' }],
        tools: ['note'],
      },
      { id: 'leaf' },
      { id: 'wrapped' },
      { id: 'stranger' },
    ],
    plays: {
      root: [
        ...attempts.map(([name, args]) => call(name, args)),
        {
          toolCalls: [
            { name: 'note', arguments: {} },
            { name: 'leaf', arguments: { message: 'make an agent' } },
            { name: 'wrapped', arguments: { request: 'make an agent' } },
          ],
        },
        'done',
      ],
      leaf: [call('create_agent', { id: 'spy' }), 'no'],
      wrapped: ['no'],
      stranger: ['here'],
    },
    options: { store, tools: [note] },
  })
  await stage.runtime.ready
  const [before, saved] = [await stage.runtime.agents.list(), changes()]
  const result = await stage.ask('root', 'make an agent', { id: 'chats/1' })
  assert.equal(result.text, 'done')
  const names = stage.requests.flatMap(({ tools }) => tools.map(({ name }) => name))
  assert.deepEqual([...new Set(names)].sort(), ['Send', 'leaf', 'note', 'wrapped'])
  const refused = (await stage.events('chats/1')).filter(({ type }) => type === 'error')
  assert.deepEqual(
    refused.map(({ content }) => content['code']),
    [...attempts.map(() => 'TOOL_UNKNOWN'), 'TOOL_UNKNOWN'],
  )
  assert.equal(stage.seenBy('stranger').length, 0)
  // A tool of code gets values and a signal, and no door to the runtime.
  const ways = ['agents', 'approve', 'artifacts', 'ask', 'checkpoint', 'demand']
  const facts = ['agent', 'agentPath', 'callId', 'caller', 'conversationId', 'parameters', 'principal']
  assert.deepEqual(contexts, [[...facts, ...ways, 'resolution', 'signal'].sort(), ['run']])
  assert.deepEqual(await stage.runtime.agents.list(), before)
  assert.equal(changes(), saved)
})

test('[R10] [F04] agents of code and of data are there when the runtime is ready, and can work at once', async () => {
  const model = scriptedModel(() => 'at work', { id: 'live/model' })
  const runtime = createRuntime({
    models: { 'play/model': model },
    agents: [defineAgent({ id: 'coded', model, instructions: 'You are coded.' }), agent('listed')],
  })
  await runtime.ready
  const { items } = await runtime.agents.list()
  assert.deepEqual(
    items.map(({ id, source }) => [id, source]),
    [
      ['coded', 'code'],
      ['listed', 'code'],
    ],
  )
  for (const id of ['coded', 'listed']) assert.equal((await runtime.conversation(id).run('go')).text, 'at work')
  await runtime.agents.save(agent('later', { model: 'play/model' } as object))
  assert.equal((await runtime.agents.get('later')).source, 'data')
  assert.equal((await runtime.conversation('later').run('go')).text, 'at work')
  await runtime.close()

  const broken = createRuntime({
    models: { 'play/model': model },
    agents: [agent('a', { subAgents: [{ agent: 'b' }] })],
  })
  await assert.rejects(broken.ready, { code: 'AGENT_REF_UNKNOWN' })
  await broken.close()
})

test('[R10] what starts or goes on with a conversation cannot carry a change of an agent', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: () => 'hello' } })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  const before = await stage.runtime.agents.list()
  const changes = {
    agents: [agent('spy')],
    instructions: 'Obey.',
    model: 'other/model',
    tools: ['note'],
    subAgents: [{ agent: 'spy' }],
    limits: { maxDepth: 1 },
  }
  for (const [key, value] of Object.entries(changes)) {
    const unknown = { code: 'UNKNOWN_KEY', path: key }
    await assert.rejects(stage.runtime.start({ agent: 'root', prompt: 'x', [key]: value }), unknown)
    await assert.rejects(stage.runtime.run('chats/1', { prompt: 'x', [key]: value }), unknown)
  }
  await assert.rejects(
    stage.runtime.start({ agent: { ...agent('root'), instructions: 'Obey.' } as never, prompt: 'x' }),
    {
      code: 'BODY_INVALID',
    },
  )
  assert.deepEqual(await stage.runtime.agents.list(), before)
  assert.equal(stage.requests.length, 1)
})

test('[R48] what an agent may reach changes with a save of that agent, and with nothing else', async () => {
  const made: { stage?: Stage } = {}
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: async (_request, turn) => {
        // Somebody makes a new agent while the run is under way; the root's definition is as it was.
        if (turn === 0) await made.stage?.runtime.agents.save(agent('late'))
        return turn === 0 ? call('late', { message: 'come' }) : 'done'
      },
      leaf: () => 'leaf',
      late: () => 'late came',
    },
  })
  made.stage = stage
  await stage.ask('root', 'first', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'second' })
  assert.deepEqual(
    stage.seenBy('root').map(({ tools }) => tools.length),
    [1, 1, 1, 1],
  )
  assert.equal(stage.seenBy('late').length, 0)
  const before = await stage.runtime.agents.get('root')
  await stage.runtime.agents.subAgents.assign('root', 'late')
  assert.equal((await stage.runtime.agents.get('root')).revision, before.revision + 1)
  await stage.run('chats/1', { prompt: 'third' })
  assert.deepEqual(offered(stage, 'root', 4), ['leaf', 'late'])
  assert.equal(stage.seenBy('late').length, 1)
})
