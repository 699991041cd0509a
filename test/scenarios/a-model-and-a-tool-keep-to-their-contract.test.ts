/** What a model is given and what it may say, and how a tool is described, checked, run and told of. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createRuntime,
  defineTool,
  type MessageKinds,
  type Model,
  ModelCallError,
  type ModelMessage,
  type ModelRequest,
} from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'
import { z } from 'zod'
import { agent, allEvents, createStage } from '../support/stage.ts'

const weather = (ran: unknown[]) =>
  defineTool({
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string().describe('Where.'), days: z.number().int().max(3).optional() }),
    effect: 'none',
    execute: (args) => {
      ran.push(args)
      if (args.city === 'Atlantis') throw new Error('no such city')
      return `rain in ${args.city}`
    },
  })

/** The kind of a message, in the public types alone: one that they do not have would not compile. */
function kindOf(message: ModelMessage): keyof MessageKinds | 'system' {
  if (message.role === 'system') return 'system'
  if (message.role === 'user') return 'userText' satisfies KindFor<typeof message>
  if (message.role === 'tool') return 'toolResponse' satisfies KindFor<typeof message>
  if (message.toolCalls === undefined) return 'modelText' satisfies KindFor<typeof message>
  return 'modelToolCall' satisfies KindFor<typeof message>
}
type KindFor<Message> = {
  [Kind in keyof MessageKinds]: Message extends MessageKinds[Kind] ? Kind : never
}[keyof MessageKinds]

describe('a model', () => {
  test('[T04] is handed to an agent under a name, and another one takes its place without a change of the agent', async () => {
    const definition = agent('root', { tools: ['weather'] })
    const told: string[] = []
    const stored: unknown[] = []
    const models: readonly Model[] = [
      scriptedModel(turns(call('weather', { city: 'Oslo' }), 'It rains.'), { id: 'one' }),
      scriptedModel(turns('I look at nothing.'), { id: 'two' }),
      {
        id: 'three',
        async *stream() {
          yield {
            type: 'reply',
            reply: { text: 'By hand.', toolCalls: [], finishReason: 'stop', usage: null, model: null },
          }
        },
      },
    ]
    for (const model of models) {
      const runtime = createRuntime({ models: { 'play/model': model }, agents: [definition], tools: [weather([])] })
      told.push((await runtime.conversation('root').run('Weather?')).text)
      const { revision: _, modelKind: _kind, at: _at, ...same } = await runtime.agents.get('root')
      stored.push(same)
      await runtime.close()
    }
    assert.deepEqual(told, ['It rains.', 'I look at nothing.', 'By hand.'])
    assert.deepEqual(stored, [stored[0], stored[0], stored[0]])
  })

  test('[T08] [T09] is given a system text, the messages in order, the tools and a tool mode; messages are of four kinds', async () => {
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'], toolMode: 'force' }],
      plays: {
        root: [
          { text: 'Let me look.', ...call('weather', { city: 'Oslo' }) },
          call('weather', { city: 'Atlantis' }),
          'It rains in Oslo.',
        ],
      },
      options: { tools: [weather([])] },
    })
    await stage.ask('root', 'Weather?')
    const seen = stage.seenBy('root')
    assert.deepEqual(
      seen.map(({ toolChoice }) => toolChoice),
      ['required', 'auto', 'auto'],
    )
    assert.deepEqual(
      seen.map(({ tools }) => tools.map(({ name }) => name)),
      [['weather'], ['weather'], ['weather']],
    )
    const last = seen[2] as ModelRequest
    assert.deepEqual(last.messages[0], { role: 'system', content: 'You are root.' })
    const kinds = ['system', 'userText', 'modelToolCall', 'toolResponse', 'modelToolCall', 'toolResponse'] as const
    assert.deepEqual(last.messages.map(kindOf), kinds)
    const ids = last.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
    )
    assert.deepEqual(last.messages.slice(1), [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [{ id: ids[0], name: 'weather', arguments: '{"city":"Oslo"}' }],
      },
      { role: 'tool', toolCallId: ids[0], name: 'weather', content: 'rain in Oslo' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: ids[1], name: 'weather', arguments: '{"city":"Atlantis"}' }],
      },
      { role: 'tool', toolCallId: ids[1], name: 'weather', content: '{"error":"`weather` failed: no such city"}' },
    ])
  })

  test('[T10] [T11] reads as a user whatever anybody else says: a person, another agent, the runtime', async () => {
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'leaf' }], outputSchema: { type: 'object', required: ['a'] } },
        { id: 'leaf' },
      ],
      plays: {
        root: ({ messages }) =>
          [call('leaf', { message: 'from the root' }), '{}', '{"a":1}'][(messages.length - 2) >> 1],
        leaf: ['from the leaf'],
      },
    })
    await stage.ask('root', 'from a person')
    const [own] = stage.seenBy('leaf')
    assert.deepEqual(own?.messages.slice(1), [{ role: 'user', content: 'from the root' }])
    const last = stage.seenBy('root').at(-1)?.messages ?? []
    assert.deepEqual(last.map(kindOf), ['system', 'userText', 'modelToolCall', 'toolResponse', 'modelText', 'userText'])
    assert.match(last.at(-1)?.content ?? '', /^\[from @witan to @root\] Your answer does not fit/)
  })

  test('[T13] gives one output for a request: what its stream brings after the reply is not read', async () => {
    const reply = (text: string) => ({ text, toolCalls: [], finishReason: 'stop', usage: null, model: null }) as const
    let left = false
    const model: Model = {
      id: 'twice',
      async *stream() {
        try {
          yield { type: 'reply', reply: reply('first') }
          yield { type: 'reply', reply: reply('second') }
        } finally {
          left = true
        }
      },
    }
    const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root')] })
    const result = await runtime.conversation('root').run('go')
    assert.deepEqual([result.text, result.usage.modelCalls, left], ['first', 1, true])
    await runtime.close()
  })

  test('[C14] [P21] may give two calls of one reply the same id: both run, and each result stands under an id of its own', async () => {
    const ran: unknown[] = []
    const cities = ['Oslo', 'Rome', 'Bern']
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'] }],
      plays: {
        root: [{ toolCalls: cities.map((city) => ({ id: 'call_0', name: 'weather', arguments: { city } })) }, 'done'],
      },
      options: { tools: [weather(ran)] },
    })
    assert.equal((await stage.ask('root', 'Weather?')).text, 'done')
    assert.deepEqual(
      ran,
      cities.map((city) => ({ city })),
    )
    const messages = stage.requests[1]?.messages ?? []
    const asked = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
    const results = messages.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one.content]] : []))
    assert.equal(new Set(asked.map(({ id }) => id)).size, 3)
    assert.deepEqual(
      results,
      asked.map(({ id }, index) => [id, `rain in ${cities[index]}`]),
    )
  })
})

describe('a tool', () => {
  test('[T14] has a name, a description, parameters with types and a required flag, and a function', async () => {
    const ran: unknown[] = []
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'] }],
      plays: { root: [call('weather', { city: 'Oslo', days: 2 }), 'done'] },
      options: { tools: [weather(ran)] },
    })
    await stage.ask('root', 'Weather?')
    const [offer] = stage.seenBy('root')[0]?.tools ?? []
    assert.deepEqual([offer?.name, offer?.description], ['weather', 'The weather of a city.'])
    const parameters = JSON.parse(JSON.stringify(offer?.parameters ?? {})) as Record<string, unknown>
    const { type, required, properties } = parameters
    assert.deepEqual([type, required], ['object', ['city']])
    const { city, days } = properties as Record<string, Record<string, unknown>>
    assert.deepEqual([city?.['type'], city?.['description'], days?.['type']], ['string', 'Where.', 'integer'])
    assert.deepEqual(ran, [{ city: 'Oslo', days: 2 }])
  })

  test('[T15] arguments are checked before it runs; what is wrong goes back to the model, which may do better', async () => {
    const ran: unknown[] = []
    const wrong = [{}, { city: 7 }, { city: 'Oslo', days: 9 }, '{"city":', '[]']
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'] }],
      plays: {
        root: [...wrong.map((args) => call('weather', args as never)), call('weather', { city: 'Oslo' }), 'done'],
      },
      options: { tools: [weather(ran)] },
    })
    const result = await stage.ask('root', 'Weather?')
    assert.equal(result.text, 'done')
    assert.deepEqual(ran, [{ city: 'Oslo' }], 'nothing ran with arguments that do not fit')
    for (const [index] of wrong.entries()) {
      const read = JSON.parse(stage.seenBy('root')[index + 1]?.messages.at(-1)?.content ?? '{}') as { error?: string }
      assert.equal(typeof read.error, 'string', `mistake ${index}`)
      assert.deepEqual(Object.keys(read), ['error'])
    }
    assert.match(stage.seenBy('root')[3]?.messages.at(-1)?.content ?? '', /days/)
  })

  test('[T28] every call of one is in the log with its arguments and its error, and so is the error of a model', async () => {
    const stage = createStage({
      agents: [{ id: 'root', tools: ['weather'], subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
      plays: {
        root: [
          {
            toolCalls: [
              { name: 'weather', arguments: { city: 'Oslo' } },
              { name: 'weather', arguments: { city: 'Atlantis' } },
              { name: 'weather', arguments: { town: 'Oslo' } },
              { name: 'whether', arguments: { city: 'Oslo' } },
              { name: 'leaf', arguments: { message: 'go' } },
            ],
          },
          'done',
        ],
        leaf: [new ModelCallError('the provider is down', { status: 400, retryable: false })],
      },
      options: { tools: [weather([])] },
    })
    await stage.ask('root', 'Weather?', { id: 'chats/1' })
    const events = await allEvents(stage.runtime, 'chats/1')
    const starts = events.filter(({ type, kind }) => type === 'start' && kind === 'tool')
    const told = starts.map(({ callId, content }) => {
      const over = events.find((event) => event.callId === callId && event.type !== 'start')
      return [content['name'], content['arguments'], over?.type, over?.content['code'] ?? over?.content['result']]
    })
    assert.deepEqual(told, [
      ['weather', { city: 'Oslo' }, 'end', 'rain in Oslo'],
      ['weather', { city: 'Atlantis' }, 'error', 'TOOL_FAILED'],
      // What is refused stands as the model wrote it.
      ['weather', '{"town":"Oslo"}', 'error', 'TOOL_ARGS_INVALID'],
      ['whether', '{"city":"Oslo"}', 'error', 'TOOL_UNKNOWN'],
    ])
    const failed = events.find(({ type, author }) => type === 'error' && author === 'leaf')
    assert.equal(failed?.content['code'], 'MODEL_CALL_FAILED')
    assert.match(String(failed?.content['detail']), /the provider is down/)
  })
})
