/** Queries of the initial context: they run by themselves where an agent begins to read, whether its model may call them or not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuerySource } from '@witan/core'
import { call, lastUserMessage, type Rule } from '@witan/core/testing'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { agent, createStage, type Stage } from '../support/stage.ts'

/** A source that tells what it was asked with, and counts. */
function countingShop(placeholders: readonly string[] = []) {
  const asked: [sql: string, bindings: Record<string, unknown>][] = []
  const source: QuerySource = {
    kind: 'counting',
    check: async () => ({ ok: true, placeholders }),
    run: async ({ sql, bindings }) => {
      asked.push([sql, Object.fromEntries(bindings)])
      if (sql === 'broken') return { ok: false, reason: 'failed', detail: 'no such table' }
      return { ok: true, rows: [{ nth: asked.length }], truncated: false }
    },
    close: async () => {},
  }
  return { asked, options: { sources: { shop: source } } }
}

const query = (name: string, more: object = {}) => ({ name, description: name, source: 'shop', query: name, ...more })
const initial = { addToInitialContext: true } as const

/** What was said and read behind the instructions. */
const read = (stage: Stage, id: string, nth: number) =>
  stage
    .seenBy(id)
    [nth]?.messages.slice(1)
    .map((message) =>
      message.role === 'assistant' && message.toolCalls !== undefined
        ? message.toolCalls.map(({ name, arguments: args }) => `${name}${args}`)
        : message.content,
    )

test('[Rb40] whether a query runs at the start and whether a model may call it are two questions', async () => {
  const { asked, options } = countingShop()
  const queries = [
    query('both', initial),
    query('start-only', { ...initial, allowModelQueries: false }),
    query('model-only', { addToInitialContext: false, allowModelQueries: true }),
    query('plain'),
    query('neither', { allowModelQueries: false }),
  ]
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'userId', sendToModel: false }], queries }],
    // The call at the start is a turn of the model, as the model reads it.
    plays: { root: (_, turn) => (turn === 1 ? call('both') : 'done') },
    options,
  })
  const result = await stage.ask('root', 'hello', { id: 'chats/1', parameters: { userId: 'Users/1' } })
  const [first] = stage.seenBy('root')
  assert.deepEqual(
    first?.tools.map(({ name }) => name),
    ['both', 'model-only', 'plain'],
  )
  // Behind the prompt, before the first step, without arguments of a model and with the bound values.
  assert.deepEqual(read(stage, 'root', 0), ['hello', ['both{}', 'start-only{}'], '[{"nth":1}]', '[{"nth":2}]'])
  const bound = { userId: 'Users/1' }
  assert.deepEqual(asked, [
    ['both', bound],
    ['start-only', bound],
    ['both', bound],
  ])
  assert.deepEqual([result.usage.modelCalls, result.usage.toolCalls], [2, 3])
  const { messages } = await stage.document('chats/1')
  assert.deepEqual(
    messages.map(({ text, toolCalls }) =>
      text === '' ? toolCalls.map(({ name, result: rows }) => [name, rows]) : text,
    ),
    [
      'hello',
      [
        ['both', [{ nth: 1 }]],
        ['start-only', [{ nth: 2 }]],
      ],
      [['both', [{ nth: 3 }]]],
      'done',
    ],
  )
  assertSound(await stage.events('chats/1'))
})

test('[Rb40] it runs once, at the start of the conversation; where it fails the model reads so and goes on', async () => {
  const { asked, options } = countingShop()
  const queries = [query('broken', { ...initial, allowModelQueries: false }), query('fine', initial)]
  const stage = createStage({ agents: [{ id: 'root', queries }], plays: { root: () => 'done' }, options })
  assert.equal((await stage.ask('root', 'one', { id: 'chats/1' })).status, 'completed')
  await stage.run('chats/1', { prompt: 'two' })
  assert.deepEqual(
    asked.map(([sql]) => sql),
    ['broken', 'fine'],
  )
  const start = ['one', ['broken{}', 'fine{}'], '{"error":"`broken` failed in the database."}', '[{"nth":2}]']
  assert.deepEqual(read(stage, 'root', 0), start)
  assert.deepEqual(read(stage, 'root', 1), [...start, 'done', 'two'])
  for (const request of stage.requests) assertAlternates(request)
})

test('[Rb40] [C7] a delegate has its own at the start of each of its documents, and an isolated one each time', async () => {
  const { asked, options } = countingShop()
  const passOn =
    (...ids: readonly string[]): Rule =>
    (request, turn) =>
      turn === 0
        ? { toolCalls: ids.map((name) => ({ name, arguments: { message: lastUserMessage(request) } })) }
        : 'done'
  const region = { name: 'region' }
  const queries = [query('rules', { ...initial, allowModelQueries: false })]
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }] },
      { id: 'mid', parameters: [region], subAgents: [{ agent: 'leaf' }, { agent: 'alone', history: 'isolated' }] },
      { id: 'leaf', parameters: [region], queries },
      { id: 'alone', queries },
    ],
    plays: {
      root: (request, turn) => (turn === 0 ? call('mid', { message: 'go', region: lastUserMessage(request) }) : 'done'),
      mid: passOn('leaf', 'alone'),
      leaf: () => 'seen',
      alone: () => 'seen',
    },
    options,
  })
  await stage.ask('root', 'north', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'south' })
  await stage.run('chats/1', { prompt: 'north' })
  const length = (id: string) => stage.seenBy(id).map(({ messages }) => messages.length)
  // The third one goes on in the first one's document: instructions, task, call, rows, answer, task.
  assert.deepEqual(length('leaf'), [4, 4, 6])
  assert.deepEqual(length('alone'), [4, 4, 4])
  for (const nth of [0, 1, 2]) assert.deepEqual(read(stage, 'alone', nth)?.slice(0, 2), ['go', ['rules{}']])
  assert.equal(asked.length, 5)
  assert.deepEqual(
    asked.filter(([, { region: of }]) => of !== undefined),
    [
      ['rules', { region: 'north' }],
      ['rules', { region: 'south' }],
    ],
  )
  assert.deepEqual((await stage.document('chats/1/mid/alone')).messages.length, 9)
  for (const request of stage.requests) assertAlternates(request)
  assertSound(await stage.events('chats/1'))
})

test('[Rb40] [C14] of two isolated delegations of one reply each begins with its own, also the one that has to wait', async () => {
  const { asked, options } = countingShop()
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'alone', history: 'isolated' }] },
      { id: 'alone', queries: [query('rules', { ...initial, allowModelQueries: false })] },
    ],
    plays: {
      root: [
        { toolCalls: ['one', 'two', 'three'].map((message) => ({ name: 'alone', arguments: { message } })) },
        'done',
      ],
      alone: () => 'seen',
    },
    options,
  })
  assert.equal((await stage.ask('root', 'hello', { id: 'chats/1' })).status, 'completed')
  assert.deepEqual(
    [0, 1, 2].map((nth) => read(stage, 'alone', nth)),
    ['one', 'two', 'three'].map((task, index) => [task, ['rules{}'], `[{"nth":${index + 1}}]`]),
  )
  assert.equal(asked.length, 3)
  assertSound(await stage.events('chats/1'))
})

test('[Rb40] [Rb42] what needs an argument of a model cannot stand in the initial context', async () => {
  const { options } = countingShop(['userId', 'minimum'])
  const stage = createStage({ agents: [], plays: {}, options })
  const parametersSchema = { type: 'object', properties: { minimum: { type: 'number' } }, required: ['minimum'] }
  const save = (more: object) =>
    stage.runtime.agents.save(
      agent('root', { parameters: [{ name: 'userId' }], queries: [query('orders', { parametersSchema, ...more })] }),
    )
  await assert.rejects(save(initial), {
    code: 'QUERY_PARAM_UNCOVERED',
    path: 'queries.0.query',
    message: /`\$minimum` .*a query of the initial context takes no arguments/,
  })
  assert.equal((await save({})).created, true)
  // Covered twice is as wrong as not at all.
  const twice = { ...parametersSchema, properties: { ...parametersSchema.properties, userId: { type: 'string' } } }
  await assert.rejects(save({ parametersSchema: twice }), {
    code: 'NAME_TAKEN',
    path: 'queries.0.parametersSchema',
    message: /`userId` is an agent parameter and a tool argument of `orders`/,
  })
})
