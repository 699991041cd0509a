/** The difference of two texts: applied to the earlier one it gives the later one, and it has nothing that it need not have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineDiff } from './line-diff.ts'

const signs = { same: ' ', removed: '-', added: '+' } as const
const written = (before: string, after: string) =>
  lineDiff(before, after)
    .map(({ kind, text }) => `${signs[kind]}${text}`)
    .join('|')

test('lines are the same, removed or added', () => {
  for (const [before, after, expected] of [
    ['a', 'a', ' a'],
    ['a\nb\nc', 'a\nc', ' a|-b| c'],
    ['a\nc', 'a\nb\nc', ' a|+b| c'],
    ['a\nb\nc\nd', 'a\nx\nc\ny', ' a|-b|+x| c|-d|+y'],
    ['', 'a', '-|+a'],
    ['a\na', 'a', ' a|-a'],
  ] as const)
    assert.equal(written(before, after), expected)
})

test('very long texts are compared too', () => {
  const text = (word: string) => Array.from({ length: 5_000 }, (_, at) => `${word} ${at}`).join('\n')
  assert.equal(lineDiff(text('a'), text('b')).length, 10_000)
})
