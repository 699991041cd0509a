/** What is shown of artifacts: their lineage, whatever a server says of it, and their content, at a bounded cost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Artifact } from '@witan/protocol/entries'
import { indented, lineageOf, previewKind } from './artifacts.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

const made = (given: Readonly<Record<string, readonly string[]>>) =>
  new Map(Object.entries(given).map(([id, inputs]) => [id, { id, inputs: [...inputs] } as Artifact]))
const drawn = (given: Readonly<Record<string, readonly string[]>>, id: string | null) => {
  const { nodes, edges, isCut } = lineageOf(made(given), id)
  return [nodes.map((one) => one.id).join(), edges.map(({ from, to }) => `${from}>${to}`).join(), isCut]
}

describe('the lineage of artifacts', () => {
  const files = { log: [], note: [], model: ['log'], report: ['model', 'log'], other: ['note'], alone: [] }

  test('[Tb30] of one is what it came from and what came of it; of all, what has any', () => {
    assert.deepEqual(drawn(files, 'model'), ['log,model,report', 'log>model,model>report', false])
    assert.deepEqual(drawn(files, 'other'), ['note,other', 'note>other', false])
    assert.deepEqual(drawn(files, 'alone'), ['alone', '', false])
    const all = 'log,note,model,report,other'
    assert.deepEqual(drawn(files, null), [all, 'log>model,model>report,note>other', false])
  })

  test('[Tb30] has no edge where a longer way leads to the same file', () => {
    const chain = { a: [], b: ['a'], c: ['a', 'b'], d: ['c', 'b', 'a'] }
    assert.deepEqual(drawn(chain, null), ['a,b,c,d', 'a>b,b>c,c>d', false])
    assert.deepEqual(drawn({ a: [], b: ['a'], c: ['a'], d: ['a', 'b', 'c'] }, 'd')[1], 'b>d,c>d,a>b,a>c')
    assert.deepEqual(drawn({ a: ['b'], b: ['a'], c: ['a', 'b'] }, 'c')[1], 'a>c,b>c,b>a,a>b')
  })

  test('goes on whatever the inputs are: unknown, the file itself, or a circle', () => {
    assert.deepEqual(drawn({ a: ['a', 'gone', 'b'], b: ['a'] }, 'a'), ['a,b', 'b>a,a>b', false])
    assert.deepEqual(drawn({}, null), ['', '', false])
  })

  test('draws at most 60, those nearest to the chosen one, and does not take long', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`f${index}`, index === 0 ? [] : [`f${index - 1}`]]),
    )
    const files = made(chain)
    const { result } = await assertCheap({ total: 500 }, () => lineageOf(files, 'f500'))
    const { nodes, isCut } = result
    assert.deepEqual([nodes.length, isCut, nodes.at(-1)?.id], [60, true, 'f500'])
  })
})

test('[T31] a page of HTML is text, a drawing is no picture until it is asked for, and bytes are nothing', () => {
  const kinds = ['text/html', 'application/xhtml+xml', 'image/svg+xml', 'image/png', 'application/pdf', 'text/x-new']
  assert.deepEqual(kinds.map(previewKind), ['text', 'text', 'drawing', 'picture', 'none', 'text'])
  assert.deepEqual(['text/markdown', 'application/json', 'a/b+json'].map(previewKind), ['markdown', 'json', 'json'])
})

test('JSON is indented, but not where it is cut, broken, or so deep that its lines would fill the page', () => {
  const shown = (text: string, isCut = false) => indented({ text, isCut })
  assert.equal(shown('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}')
  assert.equal(shown('{"a":1}', true), '{"a":1}')
  assert.equal(shown('{"a":'), '{"a":')
  for (const value of [{}, [], 'a: {,', 7, { a: {}, b: [[], [{ c: null }, '"\\']], d: [1, true] }])
    assert.equal(shown(JSON.stringify(value)), JSON.stringify(value, null, 2))
  assert.equal(
    shown('{"id":12345678901234567890,"x":1e400,"a":1.10,"a":"\\u00e4"}'),
    '{\n  "id": 12345678901234567890,\n  "x": 1e400,\n  "a": 1.10,\n  "a": "\\u00e4"\n}',
    'as it is written',
  )
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  assert.equal(shown(deep), deep)
})
