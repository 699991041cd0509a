/** Sums of usage: many of one user are found as few are, and two counts add up to one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { UsageCount } from './usage-count.ts'

const dayMs = 86_400_000

/** One reply of each of `models` models, and a tool call beside each, spread over three days and two agents. */
function entries(models: number): readonly Entry[] {
  return Array.from({ length: models * 2 }, (_, at): Entry => {
    const number = Math.floor(at / 2)
    const usage = { inputTokens: number, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0, costUsd: 1 }
    const place = { author: `agent-${number % 2}` }
    const own = { at: (number % 3) * dayMs, place }
    const isTool = at % 2 === 1
    return (isTool
      ? { type: 'start', kind: 'tool', body: {}, ...own }
      : {
          type: 'end',
          kind: 'model',
          body: { asked: `model-${number}`, model: null, usage },
          ...own,
        }) as unknown as Entry
  })
}

function countOf(all: readonly Entry[], into = new UsageCount()): UsageCount {
  for (const entry of all) into.add(entry, { conversation: 'chats/1', user: 'user:anna' })
  return into
}

for (const models of [1, 16, 17, 40, 300]) {
  test(`the usage of ${models} models is counted by model, by agent and in all`, () => {
    const rows = countOf(entries(models)).rows()
    const of = (by: string) => rows.filter((row) => row.by === by)
    assert.equal(new Set(of('model').map(({ key }) => key)).size, models)
    for (const by of ['agent', 'user', 'conversation']) {
      assert.equal(
        of(by).reduce((sum, row) => sum + row.modelCalls, 0),
        models,
        by,
      )
      assert.equal(
        of(by).reduce((sum, row) => sum + row.toolCalls, 0),
        models,
        by,
      )
      assert.equal(
        of(by).reduce((sum, row) => sum + row.inputTokens, 0),
        (models * (models - 1)) / 2,
        by,
      )
    }
  })

  test(`two counts of ${models} models add up to the count of both`, () => {
    const all = entries(models)
    const [first, second] = [all.slice(0, models), all.slice(models)]
    const merged = countOf(first)
    merged.adopt(countOf(second))
    const byUser = (count: UsageCount) => count.rows(['user', 'conversation', 'day'])
    assert.deepEqual(byUser(merged), byUser(countOf(all)))
  })
}

const used = [
  { model: 'near', inputTokens: 7, costUsd: 0.5 },
  { model: 'far', inputTokens: 2 },
  { model: 'far', inputTokens: null },
]
const own = { at: dayMs, place: { author: 'agent-0' } }
for (const [name, entry] of [
  ['a search by itself', { type: 'retrieval', kind: null, body: { embedded: used } }],
  ['a tool', { type: 'end', kind: 'tool', body: { embedded: used } }],
  ['a tool that failed', { type: 'error', kind: 'tool', body: { embedded: used } }],
] as const)
  test(`what embedding models used for ${name} counts by their names, and as no call`, () => {
    const rows = countOf([{ ...own, ...entry } as unknown as Entry]).rows(['model', 'agent', 'conversation'])
    assert.deepEqual(
      rows.map(({ by, key, modelCalls, toolCalls, inputTokens, costUsd, unpriced, incomplete }) => [
        ...[by, key, modelCalls, toolCalls],
        ...[inputTokens, costUsd, unpriced, incomplete],
      ]),
      [
        ['agent', 'agent-0', 0, 0, 9, 0.5, 1, 1],
        ['conversation', 'chats/1', 0, 0, 9, 0.5, 1, 1],
        ['model', 'far', 0, 0, 2, 0, 1, 1],
        ['model', 'near', 0, 0, 7, 0.5, 0, 0],
      ],
    )
  })

test('an entry that used no embedding model changes no sum', () => {
  for (const body of [{}, { embedded: [] }])
    for (const of of [
      { type: 'retrieval', kind: null },
      { type: 'end', kind: 'tool' },
      { type: 'error', kind: 'agent' },
    ])
      assert.deepEqual(countOf([{ ...own, ...of, body } as unknown as Entry]).rows(), [])
})
