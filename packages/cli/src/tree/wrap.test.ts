/** Lines broken at words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Span } from './lines.ts'
import { wrapLine } from './wrap.ts'

const plain = (text: string): Span => ({ text, tone: 'plain' })
const textsOf = (lines: ReturnType<typeof wrapLine>) => lines.map((line) => line.map(({ text }) => text).join(''))
const wrapped = (text: string, columns: number, indent = 0) => textsOf(wrapLine([plain(text)], columns, indent))

test('a line ends before the word that does not fit, and goes on indented', () => {
  assert.deepEqual(wrapped('one two three four', 9, 2), ['one two', '  three', '  four'])
  assert.deepEqual(wrapped('one two', 7), ['one two'])
  assert.deepEqual(wrapped('', 7), [''])
})

test('a word that is wider than the line stays whole', () => {
  assert.deepEqual(wrapped('see /a/very/long/path for it', 8), ['see', '/a/very/long/path', 'for it'])
})

test('spaces at the start and inside a line stay; a line end of the text is one', () => {
  assert.deepEqual(wrapped('  a   b c', 7, 4), ['  a   b', '    c'])
  assert.deepEqual(wrapped('a b\n\n  c d', 80), ['a b', '', '  c d'])
})

test('a word of several colours is not broken, and each keeps its own', () => {
  const bad: Span = { text: 'BAD', tone: 'bad' }
  const lines = wrapLine([plain('it is ('), bad, plain(') now')], 9)
  assert.deepEqual(textsOf(lines), ['it is', '(BAD) now'])
  assert.ok(lines[1]?.some((span) => span.text === 'BAD' && span.tone === 'bad'))
})

test('wide letters count twice', () => {
  assert.deepEqual(wrapped('漢字 漢字', 8), ['漢字', '漢字'])
})
