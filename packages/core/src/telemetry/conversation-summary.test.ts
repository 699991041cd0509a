/** The figures of a conversation depend on its log alone: not on who wrote it, nor on how many pieces it is read in. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { Summaries } from './conversation-summary.ts'

interface Given {
  readonly type: string
  readonly kind?: string | null
  readonly body?: object
  readonly author?: string
  readonly parentCall?: string | null
}

/** A log of these entries, and the figures up to one of them. */
function logOf(given: readonly Given[]) {
  const entries = given.map(({ type, kind = null, body = {}, author = 'boss', parentCall = null }, index) => ({
    ...{ type, kind, body, seq: index + 1, at: 1_001 + index },
    place: { author, parentCall, call: 'c_1', run: 'c_1' },
  })) as unknown as Entry[]
  const asked: number[] = []
  const summaries = new Summaries(async function* ({ upTo }, after) {
    asked.push(after)
    yield* entries.slice(after, upTo)
  })
  const at = { database: 'default', conversation: 'chats/1' }
  return { asked, summaries, entries, upTo: (upTo = entries.length) => summaries.upTo({ ...at, upTo }) }
}
const reply = (author = 'boss', costUsd?: number, known = true): Given => {
  const usage = { inputTokens: known ? 10 : null, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }
  return {
    type: 'end',
    kind: 'model',
    author,
    body: { usage: { ...usage, ...(costUsd === undefined ? {} : { costUsd }) } },
  }
}
const tool = (author = 'boss'): Given => ({ type: 'start', kind: 'tool', author, parentCall: 'c_1' })
const end: Given = { type: 'end', kind: 'agent' }
const failure: Given = { type: 'error', kind: 'agent' }
const sums = (prefix: string, calls: number, tools: number) => ({
  [`${prefix}model_calls`]: calls,
  [`${prefix}tool_calls`]: tools,
  [`${prefix}input_tokens`]: calls * 10,
  [`${prefix}output_tokens`]: calls * 2,
  [`${prefix}total_tokens`]: calls * 12,
})

describe('the metrics of a conversation', () => {
  test('[Tb15] add up in total and for each agent', async () => {
    const child = { ...end, author: 'leaf', parentCall: 'c_1' }
    const { upTo } = logOf([reply(), tool(), reply('leaf'), child, end, reply(), failure])
    const first = await upTo(5)
    assert.deepEqual(
      { ...first, metrics: Object.fromEntries(first?.metrics ?? []) },
      {
        ...{ upTo: 5, at: 1_005, startedAt: 1_001, endedAt: 1_005, isFailed: false },
        metrics: { runs: 1, failed_runs: 0, ...sums('', 2, 1), ...sums('boss/', 1, 1), ...sums('leaf/', 1, 0) },
      },
    )
    const second = await upTo()
    assert.deepEqual([second?.isFailed, second?.endedAt], [true, 1_007])
    const { metrics = new Map() } = second ?? {}
    assert.deepEqual([metrics.get('runs'), metrics.get('failed_runs'), metrics.get('model_calls')], [2, 1, 3])
    assert.equal(first?.metrics.get('model_calls'), 2, 'figures that wait stay as they are')
  })

  test('[Tb15] are the same in every process, and only what is new is read', async () => {
    const given = [reply(), tool(), end, reply('leaf', 0.5), reply(), failure, reply()]
    const steps = logOf(given)
    for (const seq of [3, 5, 6]) assert.deepEqual(await steps.upTo(seq), await logOf(given).upTo(seq))
    assert.deepEqual(steps.asked, [0, 3, 5])
    steps.entries.splice(2)
    assert.deepEqual(await steps.upTo(2), await logOf(given).upTo(2), 'of a conversation that began anew')
    steps.entries.splice(0)
    assert.equal(await steps.upTo(1), null, 'of one that is gone')
  })

  test('[E83] an unknown cost is never 0, and a sum that lacks a part says so', async () => {
    const costs = async (...all: (number | undefined)[]) => {
      const { metrics = new Map() } = (await logOf(all.map((cost) => reply('a', cost))).upTo()) ?? {}
      return ['cost_usd', 'cost_incomplete', 'a/cost_usd', 'a/cost_incomplete'].map((name) => metrics.get(name))
    }
    assert.deepEqual(await costs(undefined, undefined), [undefined, undefined, undefined, undefined])
    assert.deepEqual(await costs(0.1, 0.2), [0.3, undefined, 0.3, undefined])
    assert.deepEqual(await costs(0.5, undefined), [0.5, 1, 0.5, 1])
    assert.deepEqual(await costs(undefined, 0.5, 0.5), [1, 1, 1, 1])
    for (const lost of [reply('a', 1, false), { type: 'notice', author: 'a', body: { code: 'USAGE_INCOMPLETE' } }]) {
      const { metrics = new Map() } = (await logOf([lost]).upTo()) ?? {}
      assert.deepEqual([metrics.get('usage_incomplete'), metrics.get('a/usage_incomplete')], [1, 1])
    }
  })

  test('are never more than MLflow takes in a request, nor have names that it refuses', async () => {
    const authors = ['a b:c', '@x@y.example', ...Array.from({ length: 500 }, (_, index) => `agent-${index}`)]
    const all = authors.flatMap((author) => [reply(author, 0.1, false), reply(author)])
    const { metrics = new Map() } = (await logOf(all).upTo()) ?? {}
    assert.ok(metrics.size > 800 && metrics.size <= 1_000, `${metrics.size}`)
    assert.equal(metrics.get('model_calls'), 1_004, 'the total counts all of them')
    for (const name of metrics.keys()) assert.match(name, /^[a-z0-9_/-]+$/)
  })
})
