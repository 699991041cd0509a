/** A start and an end name the bound values that a call really gets, and the values that an agent has and its model does not see. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type QuerySource } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

const shop: QuerySource = {
  kind: 'test',
  check: async (sql) => ({ ok: true, placeholders: sql.includes('$userId') ? ['userId'] : [] }),
  run: async () => ({ ok: true, rows: [], truncated: false }),
  close: async () => {},
}

const tool = (name: string, execute: Parameters<typeof defineTool>[0]['execute'], parameters = z.object({})) =>
  defineTool({ name, description: name, parameters, execute: execute as never })

const tools = [
  tool('takes-it', ({ userId }: never) => `for ${userId}`, z.object({ userId: z.string() }) as never),
  tool('reads-it', (_, { parameters }) => `for ${String(parameters.userId)}`),
  tool('copies-all', (_, { parameters }) => Object.keys({ ...parameters })),
  tool('leaves-it', () => 'nothing'),
  tool('reads-it-and-fails', (_, { parameters }) => {
    throw new Error(`no ${typeof parameters.country}`)
  }),
]

const queries = [
  { name: 'mine', source: 'shop', query: 'select 1 where id = $userId' },
  { name: 'everybodys', source: 'shop', query: 'select 1' },
  { name: 'in-a-comment', source: 'shop', query: 'select 1 -- not for $userId' },
]

const parameters = [
  { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' as const },
  { name: 'country' },
  { name: 'branch', sendToModel: false },
]

async function eventsOf(): Promise<readonly AnyEvent[]> {
  const names = [...tools.map(({ name }) => name), ...queries.map(({ name }) => name)]
  const stage = createStage({
    agents: [
      { id: 'root', parameters, tools: tools.map(({ name }) => name), queries, subAgents: [{ agent: 'child' }] },
      { id: 'child', parameters: [{ name: 'country', sendToModel: false }, { name: 'topic' }] },
    ],
    plays: {
      root: [
        {
          toolCalls: [
            ...names.map((name) => ({ name, arguments: {} })),
            { name: 'child', arguments: { message: 'go', topic: 'law' } },
          ],
        },
        'done',
      ],
      child: ['yes'],
    },
    options: { tools, sources: { shop } },
  })
  const given = { userId: 'Users/1-A', country: { value: 'France', sendToModel: false } }
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: given })
  return stage.events('chats/1')
}

test('a start names what a query or a function asks for, an end what a function read beside that [C19]', async () => {
  const events = await eventsOf()
  const start = (name: string) =>
    events.find(({ type, kind, content }) => type === 'start' && kind === 'tool' && content.name === name)
  const named = (name: string) => {
    const at = start(name)
    const over = events.find(({ type, callId }) => type !== 'start' && callId === at?.callId)
    return [at?.content.bound, over?.content.bound]
  }
  assert.deepEqual(named('mine'), [['userId'], undefined])
  assert.deepEqual(named('everybodys'), [[], undefined])
  assert.deepEqual(named('in-a-comment'), [[], undefined])
  assert.deepEqual(named('takes-it'), [['userId'], undefined])
  assert.deepEqual(named('reads-it'), [[], ['userId']])
  assert.deepEqual(named('copies-all'), [[], ['userId', 'country']])
  assert.deepEqual(named('leaves-it'), [[], undefined])
  assert.deepEqual(named('reads-it-and-fails'), [[], ['country']])
})

test('an agent’s start names the values that its model does not see, and only those that it has [R35] [C18]', async () => {
  const events = await eventsOf()
  const start = (author: string) =>
    events.find((event) => event.type === 'start' && event.kind === 'agent' && event.author === author)?.content
  assert.deepEqual(start('root')?.parameters, {})
  assert.deepEqual(start('root')?.hiddenParameters, ['userId', 'country'])
  assert.deepEqual(start('child')?.parameters, { topic: 'law' })
  assert.deepEqual(start('child')?.hiddenParameters, ['country'])
})
