/** Results as they are stored: short where they are as the engine makes them, and always as they were. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultOf, resultText } from './result-text.ts'

const of = { id: 'c_1', conversation: 'chats/1' }
const counters = {
  ...{ modelCalls: 2, toolCalls: 0, inputTokens: 40, outputTokens: 20, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ totalTokens: 60, costUsd: null, complete: true },
}
const usage = { ...counters, byAgent: { root: counters, 'root/a': counters } }
const whole = {
  ...{ runId: 'c_1', conversationId: 'chats/1', agent: 'root', status: 'completed', text: 'Done.', output: null },
  ...{ finishReason: 'stop', error: null, interruptions: [], tasks: [], usage, elapsedMs: 27 },
}
const { agent: _, ...without } = whole
const results: Readonly<Record<string, unknown>> = {
  'a whole one': whole,
  'one of another run': { ...whole, runId: 'c_2', conversationId: 'chats/2' },
  'one that waits': { ...whole, status: 'waiting', finishReason: null, interruptions: [{ id: 'i', kind: 'approval' }] },
  'one that failed': { ...whole, status: 'failed', error: { code: 'X', detail: 'Y' }, text: '' },
  'one with an answer': { ...whole, output: { a: [1, '\u0000'] }, tasks: [{ taskId: 't' }] },
  'one with a price': { ...whole, usage: { ...usage, costUsd: 0.1, priceDate: '2026-01-01' } },
  'one with an agent of more': {
    ...whole,
    usage: { ...usage, byAgent: { root: { ...counters, cacheWriteTokens: 4 } } },
  },
  'one with an agent called __proto__': {
    ...whole,
    usage: JSON.parse(`{${JSON.stringify(usage).slice(1, -1).replace('"root/a"', '"__proto__"')}}`),
  },
  'one of no agent': { ...whole, usage: { ...counters, byAgent: {} } },
  'one with a list for usage': { ...whole, usage: [[1], [['root', 1]]] },
  'one without a field': without,
  'one with a field more': { ...whole, mood: 1 },
  'one in another order': Object.fromEntries(Object.entries(whole).reverse()),
  'one that looks short': { $: 1, text: 'x' },
  nothing: null,
  'a text': 'x',
  'a list': [whole],
}

for (const [name, result] of Object.entries(results))
  test(`${name} is read as it was stored`, () => {
    const text = resultText(result, of)
    assert.ok(!text.includes('\n'))
    assert.equal(JSON.stringify(resultOf(text, of)), JSON.stringify(result))
  })

test('what every result repeats is not stored, and what an earlier version stored is read', () => {
  assert.ok(resultText(whole, of).length * 2 < JSON.stringify(whole).length, resultText(whole, of))
  assert.deepEqual(resultOf(JSON.stringify(whole), of), whole)
})
