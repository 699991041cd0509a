/** Which words a text has, and which of a query count. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threadCpuMs } from '../identity/clock.ts'
import { queryWordsOf, wordsOf } from './words.ts'

const table: readonly (readonly [text: string, en: string, none: string])[] = [
  ['The quick-brown foxes’ runs', 'the quick brown fox run', 'the quick brown foxes runs'],
  ['E-1042, v2.1 and snake_case', 'e 1042 v2 1 and snake case', 'e 1042 v2 1 and snake case'],
  ['naïve Café Zürich', 'naiv cafe zurich', 'naïve café zürich'],
  ['cafe\u0301', 'cafe', 'café'],
  ['ﬁnd 5㎏ Ｆｕｌｌ ①', 'find 5kg full 1', 'find 5kg full 1'],
  ['STRASSE Straße', 'strass strass', 'strasse strasse'],
  ['ΟΔΟΣ οδός', 'οδοσ οδόσ', 'οδοσ οδόσ'],
  ['Йод и ёлка', 'йод и ёлка', 'йод и ёлка'],
  ['日本語 水', '日本 本語 水', '日本 本語 水'],
  ['カタカナー', 'カタ タカ カナ ナー', 'カタ タカ カナ ナー'],
  ['ｶﾞ', 'ガ', 'ガ'],
  ['한국어 ไทย', '한국 국어 ไท ทย', '한국 국어 ไท ทย'],
  ['iPhone用', 'iphon 用', 'iphone 用'],
  ['Donau\u00adschiff a\u200bb', 'donauschiff ab', 'donauschiff ab'],
  ['\ud800x\0y \udfff', 'x y', 'x y'],
  ['\u0301\u0301', '', ''],
  ['👩‍👩‍👧 — …', '', ''],
  ['𝐁old', 'bold', 'bold'],
]

test('words are runs of letters and digits; some scripts give pairs', () => {
  for (const [text, en, none] of table) {
    assert.equal(wordsOf(text, 'en').join(' '), en, text)
    assert.equal(wordsOf(text, 'none').join(' '), none, text)
  }
})

test('of a long run its first 64 characters are the word, and no pair of surrogates is cut', () => {
  assert.deepEqual(wordsOf(`${'a1'.repeat(50_000)} b`, 'none'), ['a1'.repeat(32), 'b'])
  for (const word of wordsOf(`a${'𐐨'.repeat(30_000)}`, 'none')) assert.ok(word.isWellFormed() && word.length <= 64)
  for (const word of wordsOf('𠀀'.repeat(30_000), 'en')) assert.ok(word.isWellFormed() && word.length === 4)
})

test('stop words are left out of a query unless nothing else is left', () => {
  assert.deepEqual(queryWordsOf('What is the duration of the contracts?', 'en'), ['durat', 'contract'])
  assert.deepEqual(queryWordsOf("Don't they?", 'en'), ['don'])
  assert.deepEqual(queryWordsOf('to be or not to be', 'en'), ['to', 'be', 'or', 'not'])
  assert.deepEqual(queryWordsOf('the contract', 'none'), ['the', 'contract'])
  assert.deepEqual(queryWordsOf('run runs running', 'en'), ['run'])
  assert.deepEqual(queryWordsOf(' — ', 'en'), [])
})

test('of more than 32 words those with a digit count first, then the longest, then the first', () => {
  const short = Array.from(
    { length: 40 },
    (_, index) => `w${String.fromCharCode(97 + (index % 26))}${index < 26 ? '' : 'z'}`,
  )
  const words = queryWordsOf(['x1', ...short, 'considerable'].join(' '), 'none')
  assert.equal(words.length, 32)
  assert.deepEqual([words[0], words.at(-1)], ['x1', 'considerable'])
  assert.deepEqual(words.slice(1, -1), [...short.slice(0, 16), ...short.slice(26)])
})

test('the time of a text is linear, whatever it holds', () => {
  const kinds = {
    'one run': (count: number) => 'a'.repeat(count),
    'marks in two orders': (count: number) => `a${'\u0316\u0301'.repeat(count / 2)}`,
    'letters with marks': (count: number) => `e${'\u0316\u0301'.repeat(14)}`.repeat(count / 29),
    'lone surrogates': (count: number) => '\ud800'.repeat(count),
    NUL: (count: number) => '\0'.repeat(count),
    'long compositions': (count: number) => '\ufdfa'.repeat(count / 18),
    'one run of Han': (count: number) => '水火'.repeat(count / 2),
    'spaces alone': (count: number) => '\u3000'.repeat(count),
    'ordinary words': (count: number) => 'naïve words that people write '.repeat(count / 30),
  }
  for (const [name, make] of Object.entries(kinds)) {
    const cpuOf = (count: number) => {
      const text = make(count)
      const from = threadCpuMs()
      wordsOf(text, 'en')
      return threadCpuMs() - from
    }
    cpuOf(100_000)
    const [small, large] = [Math.min(cpuOf(200_000), cpuOf(200_000)), Math.min(cpuOf(1_600_000), cpuOf(1_600_000))]
    assert.ok(large < 8 * 3 * Math.max(small, 4), `${name}: ${small} ms, eight times as much ${large} ms`)
  }
})
