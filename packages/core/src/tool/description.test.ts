/** The parts that descriptions are made of keep to their room, say what is missing, and cut no character in two. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { firstLines, listWithin, longestDescription, oneLine, titled } from './description.ts'

const text = fc.string({ unit: 'binary', maxLength: 60 })
const form = { before: 'It has: ', between: ', ', after: '.' }

test('[Rb04] a part is never longer than its room, and whole only with all of its text', async (context) => {
  await holds(
    context,
    fc.property(text, fc.integer({ min: 1, max: 80 }), (given, room) => {
      for (const made of [oneLine(given, room), firstLines(given, room)]) {
        assert.ok(made.text.length <= room)
        assert.equal(made.text.isWellFormed() || !given.isWellFormed(), true)
        assert.equal(made.isWhole || made.text.endsWith('…'), true)
      }
    }),
    100,
  )
})

test('[Rb04] a list has all of its items, or says how many are missing', async (context) => {
  await holds(
    context,
    fc.property(fc.array(text, { maxLength: 30 }), fc.integer({ min: 1, max: 200 }), (items, room) => {
      const short = items.map((_, index) => String(index))
      const made = listWithin(room, [() => items, () => short], form)
      if (made.text !== '') assert.ok(made.text.length <= room)
      if (made.isWhole && items.length > 0) assert.equal(made.text, `It has: ${items.join(', ')}.`)
      const shown = short.length - made.leftOut
      if (made.leftOut > 0 && shown > 0)
        assert.equal(made.text, `It has: ${[...short.slice(0, shown), `… and ${made.leftOut} more`].join(', ')}.`)
    }),
    100,
  )
})

for (const [words, expected] of [
  ['', 'The Leaf'],
  ['Knows.', 'The Leaf: Knows.'],
  ['x'.repeat(longestDescription - 10), `The Leaf: ${'x'.repeat(longestDescription - 10)}`],
  ['x'.repeat(longestDescription - 9), 'x'.repeat(longestDescription - 9)],
  ['x'.repeat(2 * longestDescription), 'x'.repeat(2 * longestDescription)],
] as const)
  test(`[Rb04] [T05] a display name stands before ${words.length} characters where there is room`, () => {
    assert.deepEqual(titled({ id: 'leaf', name: 'The Leaf' }, words), {
      text: expected,
      isWhole: expected.startsWith('The Leaf'),
    })
  })
