/** JSON that is written in pieces is the same, and each piece is short. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { jsonLength } from './json-length.ts'
import { jsonBytes, jsonPieces, jsonText, textBytes, textPieces } from './json-pieces.ts'

const most = 65_536
const line = 'A "line" of a report.\n'
const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nested(depth - 1, inner)])
const numbers = Array.from({ length: 300_000 }, (_, at) => at / 7)

const values: Readonly<Record<string, unknown>> = {
  'a short value': { a: [1, null, 'x', true, undefined], b: undefined },
  'a long text': line.repeat(60_000),
  'characters of three bytes': '語'.repeat(900_000),
  'pairs of surrogates, and one alone': `x${'😀'.repeat(100_000)}\ud800`,
  'control characters': { text: '\u0001'.repeat(500_000) },
  'many short items': {
    items: Array.from({ length: 30_000 }, (_, at) => ({ at, name: line, none: undefined })),
    end: 1,
  },
  'short items and long ones': ['a', line.repeat(9_000), 'b', line.repeat(9_000), undefined, 'c'],
  'many keys': Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k"${at}`, at])),
  'a deep list': nested(400, numbers),
}

for (const [name, value] of Object.entries(values)) {
  test(`[E80] ${name} in pieces is what is written at once`, async () => {
    const whole = JSON.stringify(value)
    const pieces = [...jsonPieces(value)]
    assert.ok(pieces.join('') === whole)
    for (const piece of pieces) assert.ok(piece.length <= 7 * most, `a piece of ${piece.length} characters`)
    assert.ok((await jsonText(value)) === whole)
    assert.equal(await jsonBytes(value), Buffer.byteLength(whole))
    assert.ok(Buffer.from(await textBytes(whole)).equals(Buffer.from(whole)))
    assert.ok(jsonLength(value) * 6 >= Buffer.byteLength(whole))
  })
}

test('any JSON is the same in pieces, and its estimate times six is enough', async (context) => {
  const long = fc.array(fc.string({ unit: 'binary', minLength: 2_000, maxLength: 40_000 }), { maxLength: 5 })
  await holds(
    context,
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), long))), (value) => {
      const whole = JSON.stringify(value)
      assert.ok([...jsonPieces(value)].join('') === whole)
      assert.ok(jsonLength(value) * 6 >= Buffer.byteLength(whole))
    }),
    300,
  )
})

test('pieces of a text cut no character', () => {
  for (const text of ['', 'x', '😀'.repeat(70_000), `x${'😀'.repeat(70_000)}`, '\ud83d'.repeat(70_000)]) {
    const pieces = [...textPieces(text)]
    assert.ok(pieces.join('') === text)
    if (text.isWellFormed()) assert.ok(pieces.every((piece) => piece.isWellFormed()))
  }
})
