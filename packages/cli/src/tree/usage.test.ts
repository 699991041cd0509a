import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageCounters } from '@witan/protocol'
import { textWidth } from './width.ts'
import { usageLines } from './usage.ts'

const counters = (modelCalls: number, toolCalls: number, totalTokens: number): UsageCounters => ({
  modelCalls,
  toolCalls,
  inputTokens: totalTokens - 10,
  outputTokens: 10,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  totalTokens,
  costUsd: null,
  complete: true,
})

const textOf = (columns: number) => (usage: Parameters<typeof usageLines>[0]['usage']) =>
  usageLines({ usage, elapsedMs: 1234 }, columns).map((line) => line.map(({ text }) => text).join(''))

test('the sum comes first, then a line for each agent, indented by its depth', () => {
  const usage = { ...counters(3, 1, 1500), byAgent: { desk: counters(2, 0, 1000), 'desk/clerk': counters(1, 1, 500) } }
  assert.deepEqual(textOf(100)(usage), [
    '3 model calls · 1 tool call · 1,500 tokens  1,490 in, 10 out · 1.2 s',
    '  desk      2 model calls   0 tool calls   1,000 tokens',
    '    clerk    1 model call    1 tool call     500 tokens',
  ])
})

test('below a workflow, which calls no model, a line names the rest of the path', () => {
  const byAgent = {
    'paper/panel/law': counters(1, 0, 50),
    'paper/writer': counters(1, 0, 50),
    'paper/writer/aide/clerk': counters(1, 0, 50),
  }
  const [, ...lines] = textOf(100)({ ...counters(3, 0, 150), byAgent })
  assert.deepEqual(
    lines.map((line) => /^ *\S+/.exec(line)?.[0]),
    ['  panel/law', '  writer', '    aide/clerk'],
  )
})

test('what a provider did not say is never counted as nothing', () => {
  const incomplete = { ...counters(1, 0, 20), complete: false, costUsd: 0.5, byAgent: {} }
  assert.match(textOf(100)(incomplete)[0] ?? '', /at least 20 tokens · at least \$0\.5000/)
})

test('a price is shown where it is known', () => {
  assert.match(textOf(100)({ ...counters(1, 0, 20), costUsd: 0.01234, byAgent: {} })[0] ?? '', /\$0\.0123/)
})

test('narrow terminals get fewer words', () => {
  const usage = {
    ...counters(3, 1, 1500),
    byAgent: { 'company-assistant-agent': counters(2, 0, 1000), 'company-assistant-agent/clerk': counters(1, 1, 500) },
  }
  for (let columns = 10; columns < 100; columns += 1) {
    for (const line of textOf(columns)(usage)) assert.ok(textWidth(line) <= columns)
  }
})
