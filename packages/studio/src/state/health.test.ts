/** The figures of the health page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageItem } from '@witan/protocol/schemas'
import { byTokens, daysOf, firstDay, formatCost, scaleEnd, sumOf } from './health.ts'

const now = Date.parse('2026-03-02T01:00:00Z')
const item = (key: string, more: Partial<UsageItem> = {}): UsageItem => ({
  ...{ key, modelCalls: 1, toolCalls: 0, inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ totalTokens: 12, costUsd: 0.5, complete: true },
  ...more,
})

test('days have no gap, over the end of a month, and begin with the first that is asked for', () => {
  assert.equal(firstDay(now, 3), '2026-02-28')
  const days = daysOf([item('2026-03-01'), item('2026-03-02', { costUsd: null }), item('2026-01-01')], now, 3)
  assert.deepEqual(
    days.map(({ day, input, costUsd }) => [day, input, costUsd]),
    [
      ['2026-02-28', 0, 0],
      ['2026-03-01', 10, 0.5],
      ['2026-03-02', 10, null],
    ],
  )
  assert.deepEqual(sumOf(days), { tokens: 24, calls: 2, costUsd: 0.5, isCostWhole: false, complete: true })
  assert.deepEqual(sumOf(daysOf([], now, 7)), { tokens: 0, calls: 0, costUsd: 0, isCostWhole: true, complete: true })
})

test('a scale ends at a round number that holds the value', () => {
  const ends = [
    [0, 1],
    [Number.NaN, 1],
    [0.0007, 0.001],
    [1, 1],
    [1.01, 2],
    [34, 50],
    [51, 100],
    [1_000_000, 1_000_000],
  ]
  for (const [value = 0, end = 0] of ends) assert.ok(Math.abs(scaleEnd(value) - end) < end * 1e-9, `${value}`)
})

test('amounts are short, and a cost below the last digit is not nothing', () => {
  assert.deepEqual([0, 0.000_01, 0.0241, 12.4].map(formatCost), ['$0', '< $0.0001', '$0.0241', '$12.40'])
  assert.deepEqual(
    byTokens([item('a'), item('b', { totalTokens: 99 })]).map(({ key }) => key),
    ['b', 'a'],
  )
})
