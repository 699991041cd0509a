import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutStart, cutText, oneLine, textWidth } from './width.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

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

test('one line shows control characters, and has no line ends', () => {
  assert.equal(oneLine('a\u001b[31mb\r\n\tc\u0007 \u009b2Jd'), 'a\\u001b[31mb c\\u0007 \\u009b2Jd')
})

test('a text of any length or kind is cut in the time of what is seen of it, to the columns of what is shown', async () => {
  const kinds = [
    'x',
    '你',
    'e\u0301',
    '👩‍👩‍👧',
    '👩\u200d',
    '\u001b[2J',
    '\u202e',
    '\u{e0041}',
    `e${'\u0301'.repeat(50)}`,
    '\ud83d',
  ]
  for (const kind of kinds) {
    const text = kind.repeat(Math.ceil(3_000_000 / kind.length))
    const cuts = await assertCheap({ total: 200 }, () => [cutText(text, 40), cutStart(text, 40)], JSON.stringify(kind))
    for (const cut of cuts.result) {
      assert.ok(textWidth(cut) <= 40, JSON.stringify(kind))
      assert.doesNotMatch(cut, /[\p{Cc}\p{Cs}\u202e\u{e0041}]/u)
    }
  }
})
