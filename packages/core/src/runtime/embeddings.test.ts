/** Embedding models of a runtime: found by name, asked again after a failure that may pass, and within the limits of their connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmbeddingUse } from '@witan/protocol/entries'
import { fakeClock } from '../../../../test/support/clock.ts'
import type { Embedded, EmbeddingModel } from '../model/embedding.ts'
import { ModelCallError } from '../model/model.ts'
import type { PriceTable } from '../model/price-table.ts'
import { createRateLimit } from '../model/rate-limit.ts'
import { embeddingsOf } from './embeddings.ts'

const { signal } = new AbortController()
const of = { database: 'default', signal }

const nothing = { spent: async () => {}, placed: () => {} }

function stage(model: Partial<EmbeddingModel>, prices?: PriceTable) {
  const clock = fakeClock()
  const reports: unknown[] = []
  const limit = createRateLimit(clock, { maxConcurrent: 1 })
  const live: EmbeddingModel = { id: 'live', embed: async () => ({ vectors: [[1]], tokens: 1 }), ...model }
  const embeddings = embeddingsOf(
    {
      embeddings: { live, 'slow/live': live },
      ...(prices === undefined ? {} : { prices }),
      retry: { tries: 2 },
      random: () => 0,
      connections: { code: () => assert.fail() },
    },
    {
      clock,
      rateLimitOf: (name) => (name === 'slow' ? limit : undefined),
      report: (error) => reports.push(error),
      ...nothing,
    },
  )
  return { embeddings, clock, reports }
}

test('a model is found by its name, and an unknown one is a failure', async () => {
  const { embeddings, reports } = stage({})
  assert.deepEqual(await embeddings.texts('live', ['a'], of), [[1]])
  assert.deepEqual(await embeddings.query('live', 'a', { ...of, embedded: [] }), [1])
  for (const name of ['other', 'code/model', '/live', 'none/model']) {
    await assert.rejects(embeddings.texts(name, ['a'], of), /no embedding model/)
    assert.equal(await embeddings.query(name, 'a', { ...of, embedded: [] }), null)
  }
  assert.equal(reports.length, 4)
})

test('a failure that may pass is tried again, another is not', async () => {
  for (const [retryable, tries] of [
    [true, 2],
    [false, 1],
  ] as const) {
    let asked = 0
    const embed = async () => {
      asked += 1
      throw new ModelCallError('busy', { retryable })
    }
    const { embeddings, clock } = stage({ embed })
    const asking = embeddings.texts('live', ['a'], of)
    setTimeout(() => clock.advance(60_000), 20)
    await assert.rejects(asking, /busy/)
    assert.equal(asked, tries)
  }
})

test('requests of a connection keep to its limit', async () => {
  let running = 0
  let most = 0
  const embed = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running -= 1
    return { vectors: [[1]], tokens: null }
  }
  const { embeddings } = stage({ embed })
  await Promise.all(Array.from({ length: 5 }, () => embeddings.texts('slow/live', ['a'], of)))
  assert.equal(most, 1)
})

const unknown = { model: 'live', inputTokens: null }
const told = (tokens: unknown) => async () => ({ vectors: [[1]], tokens }) as Embedded
const perMillion = (inputPerMillion: number) => ({ inputPerMillion, outputPerMillion: 9 })

test('the cost of a request comes from the price of the model, or from a table with its date, or is unknown', async () => {
  const table: PriceTable = { maker: { date: '2026-11-01', models: { small: perMillion(3) } } }
  const listing = { vendor: 'maker', model: 'small' }
  for (const [model, used] of [
    [{}, {}],
    [{ price: perMillion(2) }, { costUsd: 0.00001 }],
    [{ listing }, { costUsd: 0.000015, priceDate: '2026-11-01' }],
    [{ listing: { vendor: 'maker', model: 'other' } }, {}],
    [{ listing, price: perMillion(2) }, { costUsd: 0.00001 }],
  ] as const) {
    const { embeddings } = stage({ ...model, embed: told(5) }, table)
    const embedded: EmbeddingUse[] = []
    await embeddings.query('live', 'a', { ...of, embedded })
    assert.deepEqual(embedded, [{ model: 'live', inputTokens: 5, ...used }])
  }
})

test('tokens that are no number of tokens are unknown', async () => {
  for (const tokens of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_000_001, '5', null, undefined, {}, [5]]) {
    const { embeddings } = stage({ embed: told(tokens) })
    const embedded: EmbeddingUse[] = []
    assert.deepEqual(await embeddings.query('live', 'a', { ...of, embedded }), [1])
    assert.deepEqual(embedded, [unknown], String(tokens))
  }
})

test('each request counts that may have cost something: tries without a reply too, and one under way', async () => {
  for (const [mayHaveCost, expected] of [
    [true, [unknown, { model: 'live', inputTokens: 3 }]],
    [false, [{ model: 'live', inputTokens: 3 }]],
  ] as const) {
    const embedded: EmbeddingUse[] = []
    let asked = 0
    const embed = async () => {
      assert.deepEqual(embedded.at(-1), unknown, 'while it lasts')
      asked += 1
      if (asked === 1) throw new ModelCallError('busy', { retryable: true, mayHaveCost })
      return { vectors: [[1]], tokens: 3 }
    }
    const { embeddings, clock } = stage({ embed })
    const asking = embeddings.query('live', 'a', { ...of, embedded })
    setTimeout(() => clock.advance(60_000), 20)
    assert.deepEqual(await asking, [1])
    assert.deepEqual(embedded, expected)
  }
})
