/** What a calling model is told of a delegate: the words of its edge, and a list of what the delegate can use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSqliteSource } from '@witan/core'
import type { RuntimeOptions } from '@witan/core'
import { type AgentDraft, createStage } from '../support/stage.ts'

const sources: NonNullable<RuntimeOptions['sources']> = { shop: createSqliteSource({ file: ':memory:' }) }
const query = (name: string, more: object = {}) => ({
  name,
  description: `Reads ${name}.`,
  source: 'shop',
  query: 'select 1',
  ...more,
})

async function toldOf(leaf: Omit<AgentDraft, 'id'>, edge: object = {}, root: Omit<AgentDraft, 'id'> = {}) {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', ...edge }], ...root },
      { id: 'leaf', description: 'Knows the stock.', ...leaf },
      { id: 'deep', description: 'Looks\n  deeper. ' },
      { id: 'gone', description: 'Was there.', disabled: true },
    ],
    plays: { root: ['done'] },
    options: { sources },
  })
  await stage.ask('root', 'hello')
  const told = stage.requests[0]?.tools[0]?.description
  await stage.runtime.close()
  return told
}

const able: Omit<AgentDraft, 'id'> = {
  instructions: 'You are leaf. canary-instructions',
  parameters: [{ name: 'canaryParameter', sendToModel: false, policy: null }],
  queries: [query('orders'), query('canary-query', { allowModelQueries: false, addToInitialContext: true })],
  actions: [{ name: 'Order', description: 'Orders more.' }, { name: 'Plain' }],
  subAgents: [{ agent: 'deep' }, { agent: 'gone' }],
}

test('[Rb04] the list has queries, actions and sub-agents with their descriptions', async () => {
  assert.equal(
    await toldOf(able),
    'Knows the stock.\n\nIt can use:\n- orders: Reads orders.\n- Order: Orders more.\n- Plain\n- deep: Looks deeper.',
  )
})

test('[Rb04] [R03] it follows the words of the edge, and stands alone where there are none', async () => {
  const actions = [{ name: 'Plain' }]
  assert.equal(await toldOf({ actions }, { description: 'Ask for stock.' }), 'Ask for stock.\n\nIt can use:\n- Plain')
  assert.equal(await toldOf({ actions, description: '' }), 'It can use:\n- Plain')
  assert.equal(await toldOf({}), 'Knows the stock.')
})

test('[Rb04] what the delegate’s model may not call, its parameters and its instructions are not in it', async () => {
  assert.doesNotMatch((await toldOf(able)) ?? '', /canary|gone|You are/)
})

test('[Rb04] [C2] at the last level a delegate has no sub-agents to tell of', async () => {
  assert.equal(await toldOf({ subAgents: [{ agent: 'deep' }] }, {}, { limits: { maxDepth: 1 } }), 'Knows the stock.')
})

test('[Rb04] the list is bounded, and so is each of its lines', async () => {
  const many = (count: number, name = 'a') =>
    Array.from({ length: count }, (_, index) => ({ name: `${name}${index}`, description: 'x'.repeat(1000) }))
  const lines = (await toldOf({ actions: many(60) }))?.split('\n') ?? []
  assert.equal(lines.length, 2 + 1 + 40 + 1)
  assert.equal(lines.at(-1), '… and 20 more')
  const [few = '', some = '', long = ''] = [
    await toldOf({ actions: many(8) }),
    await toldOf({ actions: many(117, 'n'.repeat(50)) }),
    await toldOf({ actions: many(3), description: 'y'.repeat(1_500) }),
  ]
  assert.ok(few.length <= 1_024 && few.includes('- a7: xxx') && few.split('\n').every((line) => line.length <= 80), few)
  assert.match(some, /\n… and \d+ more$/)
  assert.ok(some.length <= 1_024, String(some.length))
  assert.equal(long, 'y'.repeat(1_500))
})

test('[Rb04] [C8] a change of an agent is told from the next run on', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', subAgents: [{ agent: 'deep' }] },
      { id: 'deep' },
    ],
    plays: { root: ['done'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  await stage.runtime.agents.save({ id: 'deep', model: 'play/model', instructions: 'x', description: 'Looks deeper.' })
  await stage.run('chats/1', { prompt: 'again' })
  const told = stage.seenBy('root').map(({ tools }) => tools[0]?.description)
  assert.deepEqual(told, ['It can use:\n- deep', 'It can use:\n- deep: Looks deeper.'])
})

test('[R30] [C8] what a parameter means is told as the agent that declares it says now', async () => {
  const leaf = (description: string) => ({
    id: 'leaf',
    model: 'play/model',
    instructions: 'x',
    parameters: [{ name: 'city', description }],
  })
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, leaf('Where to look.')],
    plays: { root: ['done'] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1' })
  await stage.runtime.agents.save(leaf('Where the customer lives.'))
  await stage.run('chats/1', { prompt: 'again' })
  const told = stage.seenBy('root').map(({ tools }) => {
    const parameters = tools[0]?.parameters as { properties: Record<string, { description: string }> } | undefined
    return parameters?.properties['city']?.description
  })
  assert.deepEqual(told, ['Where to look.', 'Where the customer lives.'])
})
