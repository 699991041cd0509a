/** Queries on PostgreSQL through the public door: bound values, what a save needs, what a model reads of trouble. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Agent, createRuntime, defineAgent, type RuntimeOptions } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { createTestDatabase, type TestDatabase } from '../postgres/support/database.ts'

const mine = 'cny_anna_zx12cv34bn56ml78kj90hg12'
const theirs = 'cny_bert_fd12sa34po56iu78yt90re12'

const query = {
  name: 'my-orders',
  description: 'The orders of the user.',
  source: 'crm',
  query: 'select item, price from orders where owner = $userId and price >= $least order by id',
  parametersSchema: { type: 'object', properties: { least: { type: 'number' } }, required: ['least'] },
}

describe('a query on PostgreSQL', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase(`create table orders (id integer, owner text, item text, price numeric);
      insert into orders values (1, '${mine}', 'tea', 3.50), (2, '${theirs}', 'of-bert', 9), (3, '${mine}', 'cups', 12)`)
    await database.execute(`grant select on orders to ${database.reader}`)
  })
  after(() => database?.drop())

  function reading(args: Record<string, unknown>, changes: object = {}): Agent {
    return defineAgent({
      id: 'orders',
      instructions: 'Look up orders.',
      model: scriptedModel((request) => toolResults(request)[0] ?? call('my-orders', args)),
      parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
      queries: [{ ...query, ...changes }],
    })
  }

  async function withRuntime<T>(
    options: RuntimeOptions,
    work: (runtime: ReturnType<typeof createRuntime>) => Promise<T>,
  ) {
    const runtime = createRuntime(options)
    try {
      return await work(runtime)
    } finally {
      await runtime.close()
    }
  }

  const answer = (url: string, agent: Agent) =>
    withRuntime({ sources: { crm: { kind: 'postgres', url } }, agents: [agent] }, async (runtime) => {
      const { text } = await runtime.conversation('orders', { parameters: { userId: mine } }).run('Which?')
      return JSON.parse(text)
    })

  test('[R49] [Rb42] [C19] the rows are those of the user, whatever the model asks for', async () => {
    const rows = await answer(database.readerUrl, reading({ least: 5, userId: theirs }))
    assert.deepEqual(rows, [{ item: 'cups', price: 12 }])
  })

  test('[D16] trouble in the database is a tool error that says nothing of it', async () => {
    const away = await answer('postgres://cny_user:cny_password@127.0.0.1:1/cny_base', reading({ least: 5 }))
    assert.deepEqual(away, { error: '`my-orders` failed in the database.' })
    const broken = reading({ least: 5 }, { query: 'select 1 / (price - price), $userId, $least from orders' })
    assert.deepEqual(await answer(database.adminUrl, broken), { error: '`my-orders` failed in the database.' })
  })

  test('[Rb42] a source out of reach refuses no save, and its text is checked all the same', async () => {
    const sources = { crm: { kind: 'postgres', url: 'postgres://127.0.0.1:1/crm' } } as const
    await withRuntime({ sources, agents: [reading({})] }, async (runtime) => {
      await runtime.ready
      const { data } = reading({})
      const saved = await runtime.agents.save({ ...data, description: 'again' })
      assert.deepEqual(
        saved.agent.warnings.map(({ code, path }) => [code, path]),
        [['QUERY_FAILED', 'queries.0.query']],
      )
      const codes = async (sql: string) => {
        const report = await runtime.agents.check([{ ...data, queries: [{ ...query, query: sql }] }])
        return report.errors.map(({ code }) => code)
      }
      assert.deepEqual(await codes('delete from orders where owner = $userId and price = $least'), [
        'QUERY_NOT_READ_ONLY',
      ])
      assert.deepEqual(await codes(`${query.query} limit $most`), ['QUERY_PARAM_UNCOVERED'])
      assert.deepEqual(await codes(`select pg_read_file('x'), $userId, $least`), ['QUERY_NOT_READ_ONLY'])
    })
  })

  test('[Rb42] within reach, a save learns what PostgreSQL says of the text', async () => {
    const sources = { crm: { kind: 'postgres', url: database.readerUrl } } as const
    await withRuntime({ sources, agents: [reading({})] }, async (runtime) => {
      const wrong = {
        ...reading({}).data,
        id: 'wrong',
        queries: [{ ...query, query: query.query.replace('item', 'itm') }],
      }
      const { errors } = await runtime.agents.check([wrong])
      assert.deepEqual(
        errors.map(({ code, detail }) => [code, detail]),
        [['QUERY_FAILED', '`my-orders`: column "itm" does not exist.']],
      )
    })
  })
})
