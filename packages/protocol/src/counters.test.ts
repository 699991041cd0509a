/** Sums of usage do not depend on their order, nor on what is added up first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addCounters, addEmbeddings, addModelCall, emptyCounters } from './counters.ts'
import type { UsageCounters } from './usage.ts'

const reply = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 }
const adders: Readonly<Record<string, (sum: UsageCounters) => void>> = {
  'a priced reply': (sum) => addModelCall(sum, { ...reply, costUsd: 0.5 }),
  'a reply without a price': (sum) => addModelCall(sum, reply),
  'a priced embedding': (sum) =>
    addEmbeddings(sum, [{ model: 'm', inputTokens: 7, costUsd: 0.25, priceDate: '2026-01-01' }]),
  'an embedding without a price': (sum) => addEmbeddings(sum, [{ model: 'm', inputTokens: 7 }]),
  'an embedding of nothing': (sum) => addEmbeddings(sum, [{ model: 'm', inputTokens: 0 }]),
  'an unknown embedding': (sum) => addEmbeddings(sum, [{ model: 'm', inputTokens: null }]),
}

function sumOf(names: readonly string[]): UsageCounters {
  const sum = emptyCounters()
  for (const name of names) adders[name]?.(sum)
  return sum
}

test('three of any kinds are the same sum in each order, and in parts', () => {
  const names = Object.keys(adders)
  for (const one of names)
    for (const two of names)
      for (const three of names) {
        const whole = sumOf([one, two, three])
        assert.deepEqual(sumOf([three, one, two]), whole, `${one}, ${two}, ${three}`)
        assert.deepEqual(sumOf([two, one, three]), whole, `${one}, ${two}, ${three}`)
        const merged = sumOf([one])
        addCounters(merged, sumOf([two, three]))
        assert.deepEqual(merged, whole, `${one}, then ${two} and ${three}`)
      }
})

test('an embedding is no call; without a price its cost is unknown, and without tokens the sum is incomplete', () => {
  for (const [name, tokens, costUsd, complete] of [
    ['a priced embedding', 17, 0.75, true],
    ['an embedding without a price', 17, null, true],
    ['an embedding of nothing', 10, 0.5, true],
    ['an unknown embedding', 10, 0.5, false],
  ] as const) {
    const sum = sumOf(['a priced reply', name])
    assert.deepEqual([sum.modelCalls, sum.inputTokens, sum.totalTokens], [1, tokens, tokens + 5], name)
    assert.deepEqual([sum.costUsd, sum.complete], [costUsd, complete], name)
  }
})
