/** What calls cost: by a price of their own, and by the table. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ModelUsage } from '@witan/protocol/entries'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import type { Model, ModelPrice, ModelReply } from './model.ts'
import { costOf, withTable } from './price.ts'
import { type PriceTable, priceTable, tablePrice, vendorAt } from './price-table.ts'

const usage: ModelUsage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 400, reasoningTokens: 0 }
const flat: ModelPrice = { inputPerMillion: 10, outputPerMillion: 30 }

describe('[Rb56] the cost of a call', () => {
  test('reads and writes of a cache have a price of their own, or that of other input', () => {
    const used = { ...usage, cacheWriteTokens: 200 }
    assert.equal(costOf(used, flat), (1000 * 10 + 100 * 30) / 1e6)
    const cached = { ...flat, cachedInputPerMillion: 1, cacheWritePerMillion: 12.5 }
    assert.equal(costOf(used, cached), (400 * 10 + 400 * 1 + 200 * 12.5 + 100 * 30) / 1e6)
  })

  test('a long request has the price of long ones, whole; its cost is not known where that is not', () => {
    const long = { inputPerMillion: 20, outputPerMillion: 45 }
    const moreThan = 999
    assert.equal(costOf(usage, { ...flat, longInput: { moreThan, price: long } }), (1000 * 20 + 100 * 45) / 1e6)
    assert.equal(costOf(usage, { ...flat, longInput: { moreThan, price: null } }), null)
    assert.equal(costOf(usage, { ...flat, longInput: { moreThan: 1000, price: null } }), costOf(usage, flat))
  })

  test('it is never less than nothing, whatever a provider counts', async (context) => {
    const count = fc.nat(2_000_000)
    const price = fc.record({
      inputPerMillion: fc.nat(100),
      outputPerMillion: fc.nat(100),
      cachedInputPerMillion: fc.nat(100),
      cacheWritePerMillion: fc.nat(100),
    })
    const used = fc.record({
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count,
      reasoningTokens: count,
      cacheWriteTokens: count,
    })
    await holds(
      context,
      fc.property(used, price, (one, prices) => {
        const most = Math.max(prices.inputPerMillion, prices.cachedInputPerMillion, prices.cacheWritePerMillion)
        const cost = costOf(one, prices) ?? Number.NaN
        assert.ok(
          cost >= 0 && cost <= (one.inputTokens * most + one.outputTokens * prices.outputPerMillion) / 1e6 + 1e-9,
        )
      }),
      100,
    )
  })
})

describe('the table', () => {
  test('every row is a price: cached input costs no more than other input, a long request no less', () => {
    const rows = Object.values(priceTable).flatMap(({ date, models }) =>
      Object.entries(models).map(([name, price]) => [date, name, price] as const),
    )
    assert.ok(rows.length > 30)
    for (const [date, name, price] of rows) {
      assert.match(date, /^20\d\d-[01]\d-[0-3]\d$/)
      const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price
      assert.ok(inputPerMillion > 0 && outputPerMillion >= inputPerMillion && outputPerMillion <= 200, name)
      assert.ok(cachedInputPerMillion <= inputPerMillion, name)
      assert.ok((price.cacheWritePerMillion ?? inputPerMillion) >= inputPerMillion, name)
      assert.ok((price.longInput?.price?.inputPerMillion ?? inputPerMillion) >= inputPerMillion, name)
    }
  })

  test('a model is found by its name, also with a date behind it, and only at its vendor', () => {
    assert.equal(tablePrice(priceTable, 'openai', 'gpt-5-mini')?.price.outputPerMillion, 2)
    assert.equal(tablePrice(priceTable, 'openai', 'gpt-5-mini-2025-08-07')?.price.outputPerMillion, 2)
    assert.equal(tablePrice(priceTable, 'anthropic', 'claude-haiku-4-5-20251001')?.price.outputPerMillion, 5)
    assert.equal(tablePrice(priceTable, 'openai', 'gpt-4o-2024-05-13')?.price.outputPerMillion, 15)
    for (const [vendor, model] of [
      ['openai', 'claude-haiku-4-5'],
      ['openai', 'gpt-5-mini-search'],
      ['mine', 'gpt-5-mini'],
      ['__proto__', 'toString'],
      ['openai', 'constructor'],
    ] as const)
      assert.equal(tablePrice(priceTable, vendor, model), null, `${vendor} ${model}`)
    assert.deepEqual(
      ['api.openai.com', 'api.openai.com:444', 'openai.com', '127.0.0.1:11434', 'constructor'].map(vendorAt),
      ['openai', null, null, null, null],
    )
  })

  test('a reply is priced by the name that answered, and says of which date the price is', async () => {
    const table: PriceTable = {
      shop: { date: '2026-01-02', models: { big: flat, small: { inputPerMillion: 1, outputPerMillion: 1 } } },
    }
    const answer = async (listed: string, name: string | null, used: ModelUsage | null) => {
      const reply: ModelReply = { text: 'ok', toolCalls: [], finishReason: 'stop', usage: used, model: name }
      const model: Model = {
        id: 'm',
        async *stream() {
          yield { type: 'reply', reply }
        },
      }
      const priced = withTable(model, { vendor: 'shop', model: listed }, table)
      for await (const part of priced.stream({} as never, {} as never))
        if (part.type === 'reply') return [part.reply.usage?.costUsd, part.reply.usage?.priceDate]
      return null
    }
    const big = costOf(usage, flat)
    assert.deepEqual(await answer('big', null, usage), [big, '2026-01-02'])
    assert.deepEqual(await answer('big', 'big-2026-01-01', usage), [big, '2026-01-02'])
    assert.deepEqual(await answer('big', 'small', usage), [0.0011, '2026-01-02'])
    assert.deepEqual(await answer('big', 'unheard-of', usage), [big, '2026-01-02'])
    assert.deepEqual(await answer('unheard-of', 'big', usage), [undefined, undefined])
    assert.deepEqual(await answer('big', null, null), [undefined, undefined])
    assert.deepEqual(await answer('big', null, { ...usage, inputTokens: null }), [undefined, undefined])
  })
})
