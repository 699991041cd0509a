/** Text from outside is shown and not obeyed, and what people really write stays as it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownJson, shownJsonText, shownText, withoutHidden } from './shown.ts'
import { assertCheap } from '../../../test/support/cpu.ts'

test('what a terminal would obey, or a reader would not see, is written as an escape', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a\u001b[31mb', 'a\\u001b[31mb'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['\u001b]8;;http://x\u001b\\y', '\\u001b]8;;http://x\\u001b\\y'],
    ['a\bb\u007f\u0000\u000b\u000c', 'a\\u0008b\\u007f\\u0000\\u000b\\u000c'],
    ['\u0080\u0085\u009b2J\u009f', '\\u0080\\u0085\\u009b2J\\u009f'],
    ['\u061c\u200e\u202eexe\u2066\u2069', '\\u061c\\u200e\\u202eexe\\u2066\\u2069'],
    ['bil\u200bling\u2060\ufeff\u00ad\u034f\u3164', 'bil\\u200bling\\u2060\\ufeff\\u00ad\\u034f\\u3164'],
    ['a\u200db\u200cc', 'a\\u200db\\u200cc'],
    ['\u{e0041}\u{e007f}', '\\u{e0041}\\u{e007f}'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\ud800x\udc00', '\\ud800x\\udc00'],
    ['a\ufe0fb😀\ufe0f\ufe0f\u{e0100}', 'a\\ufe0fb😀\ufe0f\\ufe0f\\u{e0100}'],
    [`e${'\u0301'.repeat(8)}`, `e${'\u0301'.repeat(6)}\\u0301\\u0301`],
    ['a\r\nb\rc\td', 'a\nb\nc d'],
  ]
  for (const [text, shown] of cases) {
    assert.equal(shownText(text), shown)
    assert.equal(shownText(shown), shown, 'a shown text stays as it is')
  }
})

test('what people write stays: emoji, joined scripts, marks, variants, number signs', () => {
  const texts = [
    '',
    'plain ~',
    'Köln e\u0301',
    '👩‍👩‍👧 👩🏽‍🚀 ❤️‍🔥 1️⃣ ✓',
    'می‌خواهم',
    'क्‍ष',
    '葛\u{e0100} 你好',
    'שלום',
    '\u0600١٢',
    'a\\u001bb',
  ]
  for (const text of texts) assert.equal(shownText(text), text)
})

test('JSON for a terminal is the same value, and holds no hidden character', () => {
  const odd = '\u001b\u007f\u009b\u202e\u200b\u2028\u{e0041}\ud800\u0085\u{e0100}ä😀👩‍👧'
  const value = { [odd]: [odd, 1, null], plain: 'x' }
  for (const json of [shownJson(value), shownJson(value, 2), shownJsonText(JSON.stringify(value))]) {
    assert.deepEqual(JSON.parse(json), value)
    assert.doesNotMatch(json.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
  }
  assert.equal(shownJson(undefined), 'null')
})

test('a long text is shown in linear time', async () => {
  for (const piece of [
    '\u001b]0;',
    '\u001b[1;',
    'e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301',
    '👩\u200d',
    'می‌',
    '\u{e0041}',
  ]) {
    const text = piece.repeat(Math.ceil(300_000 / piece.length))
    await assertCheap({ total: 3_000 }, () => [shownText(text), shownJson(text)], JSON.stringify(piece))
  }
})

test('a text for a model loses what is hidden, and nothing else', () => {
  const table: readonly (readonly [given: string, plain: string])[] = [
    ['Plain text.\nTwo lines.', 'Plain text.\nTwo lines.'],
    ['a\tb\r\nc\rd\u2028e\u0085f', 'a b\nc\nd\ne\nf'],
    ['a\u200b\u200d\u00ad\ufeff\u{e0041}\u{e0101}\u202eb\u0000\u001b', 'ab'],
    [`a${'\u0301'.repeat(50)}b`, `a${'\u0301'.repeat(6)}b`],
    ['\ud800x', 'x'],
    ['Grüße, 你好, مرحبا ١٢', 'Grüße, 你好, مرحبا ١٢'],
  ]
  for (const [given, plain] of table) {
    assert.equal(withoutHidden(given), plain, JSON.stringify(given))
    assert.equal(withoutHidden(plain), plain)
  }
})
