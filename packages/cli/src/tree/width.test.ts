import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutStart, cutText, oneLine, textWidth } from './width.ts'

test('a text takes as many columns as a terminal gives it', () => {
  const widths: [string, number][] = [
    ['', 0],
    ['plain', 5],
    ['Köln', 4],
    ['e\u0301', 1],
    ['你好', 4],
    ['🎉', 2],
    ['👩‍👩‍👧', 2],
    ['✓ ok', 4],
    ['│└─', 3],
    ['ｆｕ', 4],
    ['❤️', 2],
  ]
  for (const [text, width] of widths) assert.equal(textWidth(text), width, text)
})

test('a text is cut between letters, never inside a wide one', () => {
  assert.equal(cutText('short', 5), 'short')
  assert.equal(cutText('shorter', 5), 'shor…')
  assert.equal(cutText('你好吗', 4), '你…')
  assert.equal(cutText('ab cd', 4), 'ab…')
  assert.equal(cutText('x', 0), '')
  assert.equal(cutStart('abcdef', 4), '…def')
  assert.equal(cutStart('你好吗', 4), '…吗')
})

test('one line holds no escape codes and no line ends', () => {
  assert.equal(oneLine('a\u001b[31mb\u001b[0m\r\n\tc\u0007 \u009b2Jd'), 'ab c d')
})
