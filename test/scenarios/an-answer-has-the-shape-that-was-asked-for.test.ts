/** Structured output: the shape is asked for, checked, forgiven once, and handed up as a value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuerySource } from '@witan/core'
import { call } from '@witan/core/testing'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { createStage } from '../support/stage.ts'

const schema = {
  type: 'object',
  properties: { reply: { type: 'string' } },
  required: ['reply'],
  additionalProperties: false,
}

test('[R50] a root’s answer is text and output; a schema comes from a sample too [Rb41]', async () => {
  const outputSample = { other: 1 }
  for (const shape of [
    { outputSchema: schema },
    { outputSample: { reply: '...' } },
    // Where there are both the schema wins, to ask by and to check by.
    { outputSchema: schema, outputSample },
  ]) {
    const stage = createStage({ agents: [{ id: 'root', ...shape }], plays: { root: ['{"reply":"hi"}'] } })
    const result = await stage.ask('root', 'hello')
    assert.equal(result.text, '{"reply":"hi"}')
    assert.deepEqual(result.output, { reply: 'hi' })
    assert.deepEqual(stage.requests[0]?.output, { name: 'root', schema })
  }
})

test('[Rb41] the arguments of queries and actions have a schema or a sample, and the schema wins', async () => {
  const shop: QuerySource = {
    kind: 'shop',
    check: async () => ({ ok: true, placeholders: [] }),
    run: async () => ({ ok: true, rows: [], truncated: false }),
    close: async () => {},
  }
  const shapes = {
    'by-schema': { parametersSchema: schema },
    'by-sample': { parametersSample: { reply: 'x' } },
    'by-both': { parametersSchema: schema, parametersSample: { other: 1 } },
  }
  const named = (kind: string) => Object.entries(shapes).map(([name, shape]) => ({ name: `${kind}-${name}`, ...shape }))
  const stage = createStage({
    agents: [
      {
        id: 'root',
        actions: named('act'),
        queries: named('ask').map((one) => ({ ...one, source: 'shop', query: '1' })),
      },
    ],
    plays: { root: [call('ask-by-both', { other: 1 }), 'done'] },
    options: { sources: { shop } },
  })
  await stage.ask('root', 'hello')
  const told = Object.fromEntries(stage.requests[0]?.tools.map(({ name, parameters }) => [name, parameters]) ?? [])
  assert.deepEqual(Object.keys(told).length, 6)
  for (const [name, parameters] of Object.entries(told)) assert.deepEqual(parameters, schema, name)
  assert.match(stage.requests[1]?.messages.at(-1)?.content ?? '', /^\{"error":".*`reply`: .*expected string/)
})

test('[R50] [F20] a delegate’s output reaches its parent as JSON', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', outputSchema: schema },
    ],
    plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: ['  {"reply" : "hi"}  '] },
  })
  await stage.ask('root', 'hello')
  assert.equal(stage.seenBy('root')[1]?.messages.at(-1)?.content, '{"reply":"hi"}')
})

test('[E28] an answer off its schema is asked for once more, with what is wrong', async () => {
  const stage = createStage({
    agents: [{ id: 'root', outputSchema: schema }],
    plays: { root: (request) => (request.messages.length === 2 ? '{"reply":7}' : '{"reply":"seven"}') },
  })
  const result = await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.deepEqual(result.output, { reply: 'seven' })
  const second = stage.requests[1]
  assert.deepEqual(second?.messages[2], { role: 'assistant', content: '{"reply":7}' })
  assert.match(second?.messages[3]?.content ?? '', /^\[from @witan to @root\].*reply/s)
  assertSound(await stage.events('chats/1'))
})

test('[E28] [C7] a delegate with bound values is corrected in its own document', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'userId', sendToModel: false }], outputSchema: schema },
    ],
    plays: {
      root: [call('leaf', { message: 'go' }), 'done'],
      leaf: (request) => (request.messages.length === 2 ? 'not json' : '{"reply":"yes"}'),
    },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { userId: 'Users/1' } })
  await stage.run('chats/1', { prompt: 'again' })
  for (const request of stage.requests) assertAlternates(request)
  assert.match(stage.seenBy('leaf')[1]?.messages[3]?.content ?? '', /not JSON/)
  assert.deepEqual((await stage.document('chats/1')).linkedConversations, ['chats/1/leaf'])
})
