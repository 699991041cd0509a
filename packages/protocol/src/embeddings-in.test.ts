/** What entries say of embedding models, from this server or from outside. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embeddingsIn } from './embeddings-in.ts'
import type { Entry } from './entry.ts'
import { entryProblem } from './entry-schema.ts'

const rows = [
  { type: 'retrieval', kind: null, body: { query: 'q', passages: [] } },
  { type: 'end', kind: 'tool', body: { result: null, truncated: false } },
  { type: 'error', kind: 'tool', body: { code: 'TOOL_FAILED', detail: 'no' } },
]

for (const { type, kind, body } of rows)
  test(`${type} ${kind ?? ''} says what embedding models used, and nothing that cannot be`, () => {
    const of = (embedded: unknown) => ({ type, kind, body: { ...body, embedded } })
    const used = [
      { model: 'm', inputTokens: 7, costUsd: 0.5, priceDate: '2026-01-01' },
      { model: 'm', inputTokens: null },
    ]
    assert.equal(entryProblem(of(used)), null)
    assert.equal(entryProblem({ type, kind, body }), null)
    assert.deepEqual(embeddingsIn(of(used) as unknown as Entry), used)
    assert.deepEqual(embeddingsIn({ type, kind, body } as unknown as Entry), [])
    for (const inputTokens of [-1, 1.5, '7', 1e300, undefined])
      assert.equal(entryProblem(of([{ model: 'm', inputTokens }]))?.path, 'embedded.0.inputTokens')
    assert.equal(entryProblem(of([{ model: 'm', inputTokens: 1, costUsd: -1 }]))?.path, 'embedded.0.costUsd')
    assert.equal(entryProblem(of('none'))?.path, 'embedded')
  })
