/** Money: what each model call cost is recorded with its reply, sums say null where a part is not known, and a limit ends the run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type ModelPrice } from '@witan/core'
import { call, type Rule, scriptedModel } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, type AgentDraft, cast, type Play, settle } from '../support/stage.ts'

const used = (inputTokens: number | null, outputTokens: number, cachedInputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  reasoningTokens: 0,
})
const cheap: ModelPrice = { inputPerMillion: 1, outputPerMillion: 2 }
const dear: ModelPrice = { inputPerMillion: 10, outputPerMillion: 30, cachedInputPerMillion: 1 }

interface Shop {
  readonly agents: readonly (AgentDraft & { readonly price: 'cheap' | 'dear' | 'unknown' })[]
  readonly plays: Readonly<Record<string, Play>>
  readonly prices?: Readonly<Record<'cheap' | 'dear', ModelPrice>>
  readonly store?: ReturnType<typeof memoryStore>
}

/** Every agent with a model of that price. */
function open({ agents, plays, prices = { cheap, dear }, store = memoryStore() }: Shop) {
  const rule: Rule = cast(plays)
  return createRuntime({
    clock: fakeClock(),
    store,
    models: {
      cheap: scriptedModel(rule, { id: 'cheap', price: prices.cheap }),
      dear: scriptedModel(rule, { id: 'dear', price: prices.dear }),
      unknown: scriptedModel(rule, { id: 'unknown' }),
    },
    agents: agents.map(({ id, price, ...more }) => ({ ...agent(id, more), model: price })),
    retry: { tries: 1 },
  })
}

async function ask(runtime: ReturnType<typeof open>) {
  const { run } = await runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  const result = await run?.result
  assert.ok(result)
  return result
}

const asks = { ...call('leaf', { message: 'm' }), usage: used(1000, 100) }

test('[Rb56] the cost of a run is the sum over its tree, and a later price changes nothing of it', async () => {
  const store = outliving(memoryStore())
  const shop: Shop = {
    store,
    agents: [
      { id: 'root', price: 'cheap', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', price: 'dear' },
    ],
    plays: {
      root: [asks, { text: 'done', usage: used(2000, 10) }],
      leaf: [{ text: 'ok', usage: used(1000, 20, 400) }],
    },
  }
  const first = open(shop)
  const result = await ask(first)
  const root = (3000 * 1 + 110 * 2) / 1e6
  const leaf = (600 * 10 + 400 * 1 + 20 * 30) / 1e6
  assert.equal(result.usage.byAgent['root']?.costUsd, root)
  assert.equal(result.usage.byAgent['root/leaf']?.costUsd, leaf)
  assert.equal(result.usage.costUsd, Number((root + leaf).toFixed(12)))
  const events = await allEvents(first, 'chats/1')
  const costs = events.flatMap(({ kind, content }) =>
    kind === 'model' ? [(content['usage'] as { costUsd?: number }).costUsd] : [],
  )
  assert.deepEqual(costs, [0.0012, leaf, 0.00202])
  await first.close()
  const second = open({ ...shop, prices: { cheap: dear, dear: cheap } })
  assert.deepEqual((await second.getRun(result.runId)).result?.usage, result.usage)
  assert.equal((await second.getRun(result.runId)).tree.usage.costUsd, root)
  assert.equal((await second.getDocument('chats/1/leaf')).totalUsage.costUsd, leaf)
  assert.deepEqual(await allEvents(second, 'chats/1'), events)
  await second.close()
})

test('[E83] a sum with a part that nobody knows is not known: no price, or no word on what was used', async () => {
  for (const [price, usage] of [
    ['unknown', used(1000, 10)],
    ['dear', null],
    ['dear', used(null, 10)],
  ] as const) {
    const runtime = open({
      agents: [
        { id: 'root', price: 'cheap', subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', price },
      ],
      plays: { root: [asks, { text: 'done', usage: used(2000, 10) }], leaf: [{ text: 'ok', usage }] },
    })
    const { usage: told } = await ask(runtime)
    assert.equal(told.costUsd, null)
    assert.equal(told.byAgent['root/leaf']?.costUsd, null)
    assert.equal(told.byAgent['root']?.costUsd, 0.00322)
    await runtime.close()
  }
})

test('[D13] [C3] a run that has cost its maxCostUsd fails, siblings and all; what it cost is told', async () => {
  const runtime = open({
    agents: [
      { id: 'root', price: 'cheap', subAgents: [{ agent: 'leaf' }], limits: { maxCostUsd: 0.02 } },
      { id: 'leaf', price: 'dear', limits: { maxCostUsd: 0.000_001 } },
    ],
    plays: {
      root: () => ({
        toolCalls: [0, 1].map((n) => ({ name: 'leaf', arguments: { message: `${n}` } })),
        usage: used(1000, 0),
      }),
      leaf: async () => {
        await settle(1)
        return { text: 'ok', usage: used(1000, 0) }
      },
    },
  })
  const result = await ask(runtime)
  assert.equal(result.status, 'failed')
  assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
  assert.match(result.error?.detail ?? '', /^costUsd 0\.021 of 0\.02 used \(root 1, root\/leaf 2\)\.$/)
  assert.match(result.error?.hint ?? '', /limits\.maxCostUsd/)
  assert.equal(result.usage.costUsd, 0.021)
  assert.equal(result.usage.modelCalls, 3, 'a limit of the root alone counts')
  await runtime.close()
})

test('[E33] a limit in money is a number above nothing, and a check warns where it could never be reached', async () => {
  const runtime = open({
    agents: [
      {
        id: 'root',
        price: 'cheap',
        subAgents: [{ agent: 'leaf', description: 'Knows.', overrides: { model: ['dear'] } }],
        limits: { maxCostUsd: 1 },
      },
      { id: 'leaf', price: 'unknown' },
      { id: 'free', price: 'unknown' },
    ],
    plays: {},
  })
  for (const maxCostUsd of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1'])
    await assert.rejects(
      runtime.agents.save({ ...agent('x'), model: 'cheap', limits: { maxCostUsd: maxCostUsd as number } }),
      {
        code: 'LIMIT_INVALID',
        path: 'limits.maxCostUsd',
        message: 'limits.maxCostUsd must be a number above 0, at most 1000000.',
      },
    )
  const { warnings } = await runtime.agents.check()
  assert.deepEqual(
    warnings.map(({ code, agent: id, path, detail }) => [code, id, path, detail]),
    [
      [
        'PRICE_UNKNOWN',
        'root',
        'limits.maxCostUsd',
        '`root` has a cost limit, but the price of `unknown` of `leaf` is unknown: its calls count as 0.',
      ],
    ],
  )
  await runtime.close()
})

test('a cost limit warns of each embedding model without a price, whose tokens make the cost of runs unknown', async () => {
  const placed = { embed: async (texts: readonly string[]) => ({ vectors: texts.map(() => [1]), tokens: 1 }) }
  const price: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 }
  const listing = { vendor: 'vendor', model: 'listed' }
  const base = (id: string, embedding: string | null, more = {}) => ({ id, description: id, embedding, ...more })
  const runtime = createRuntime({
    models: { cheap: scriptedModel(() => 'ok', { id: 'cheap', price: cheap }) },
    embeddings: {
      priced: { id: 'priced', price, ...placed },
      listed: { id: 'listed', listing, ...placed },
      unlisted: { id: 'unlisted', listing: { ...listing, model: 'other' }, ...placed },
      bare: { id: 'bare', ...placed },
    },
    prices: { vendor: { date: '2026-01-01', models: { listed: price } } },
    connections: {
      local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', prices: { told: price } },
    },
    knowledge: [
      base('words', null),
      ...['priced', 'listed', 'unlisted', 'bare'].map((name) => base(name, name)),
      ...['told', 'untold'].map((name) => base(name, `local/${name}`)),
      base('again', 'bare'),
      base('nowhere', 'nowhere/model'),
    ],
    agents: [
      {
        ...agent('root', { limits: { maxCostUsd: 1 }, subAgents: [{ agent: 'leaf', description: 'Knows.' }] }),
        model: 'cheap',
        knowledgeBases: ['words', 'priced', 'listed', 'told', 'nowhere', 'unlisted'],
      },
      { ...agent('leaf'), model: 'cheap', knowledgeBases: ['bare', 'again', 'untold'] },
    ],
  })
  const { warnings } = await runtime.agents.check()
  const told = (model: string, at: string) => [
    'PRICE_UNKNOWN',
    'root',
    'limits.maxCostUsd',
    `\`root\` has a cost limit, but the price of the embedding model \`${model}\` of knowledge base \`${at.split(' ')[0]}\` of \`${at.split(' ')[1]}\` is unknown: the cost of a run that searches there is unknown, too.`,
  ]
  assert.deepEqual(
    warnings.map(({ code, agent: id, path, detail }) => [code, id, path, detail]),
    [told('unlisted', 'unlisted root'), told('bare', 'bare leaf'), told('local/untold', 'untold leaf')],
  )
  await runtime.close()
})
