/** Names: what a reader takes for another name, or does not see at all, is refused; what was stored before is shown escaped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looksLike, nameProblem, shownName } from './name.ts'

const hidden = [
  '\u0000',
  '\u001b',
  '\u0085',
  '\u00ad',
  '\u061c',
  '\u180e',
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2028',
  '\u2029',
  '\u2060',
  '\u2066',
  '\u3164',
  '\u2800',
  '\u{1d159}',
  '\ufffc',
  '\ufe0f',
  '\ufeff',
  '\ue000',
  '\ufdd0',
  '\ud800',
  '\u{e0041}',
  '\u{e0100}',
]
const brackets = ['[', ']', '{', '}', '<', '>', '\uff3b', '\u3010', '\u27e6', '\u2045', '\ufe47']

test('no kind of name has a hidden character or a bracket, wherever it stands', () => {
  for (const kind of ['id', 'word', 'name'] as const)
    for (const one of [...hidden, ...brackets])
      for (const text of [`a${one}b`, `${one}a`, `a${one}`])
        assert.notEqual(nameProblem(text, kind), null, `${kind} ${JSON.stringify(text)}`)
  for (const kind of ['id', 'word'] as const)
    for (const blank of [' ', '\t', '\u00a0', '\u2003', '\u3000'])
      assert.notEqual(nameProblem(`a${blank}b`, kind), null, kind)
  for (const text of [' a', 'a ', 'a\u00a0b', '', 'a\nb'])
    assert.notEqual(nameProblem(text, 'name'), null, JSON.stringify(text))
})

test('ids of identity providers, e-mail addresses and the words of every script are names', () => {
  const ids = [
    'anna',
    'Anna.Meier_7',
    'anna@example.com',
    "o'hara+x@example.com",
    'auth0|5f7c8ec7c33c6c004bbafe82',
    '248289761001',
    'AItOawmwtWwcT0k51BayewNvutrJUqsvl6qs7A4',
    '3f2a-11',
    'jürgen',
    '李雷',
    'анна',
    'Ελένη',
    'नेहा',
    'ญาดา',
    'สมชาย1',
    'ליאת',
  ]
  for (const id of ids)
    for (const kind of ['id', 'word', 'name'] as const) assert.equal(nameProblem(id, kind), null, `${kind} ${id}`)
  for (const id of ['a:b', 'a/b', 'a\\b', 'a`b', 'a"b', 'a(b', 'a,b', 'a;b', '@anna', '-anna', '|x', "'x"])
    assert.notEqual(nameProblem(id, 'id'), null, id)
  for (const word of ['urn:example:role', 'https://example.com/roles/admin', 'CORP\\admins', 'role.write', 'ns:admin*'])
    assert.equal(nameProblem(word, 'word'), null, word)
  for (const name of [
    'Anna Meier (sales)',
    'Refunds & returns — EU',
    'Support 🙂',
    '„Anna“'.slice(1, -1),
    'Anna Анна',
    'नेहा शर्मा',
  ])
    assert.equal(nameProblem(name, 'name'), null, name)
})

test('letters that only look like others are refused: mixed alphabets, compatible forms, loose marks, heaps of marks', () => {
  for (const id of [
    'bіlling',
    'аnna',
    'Αnna',
    'pаypal',
    'annа@example.com',
    'ｂｉｌｌｉｎｇ',
    '𝐛𝐢𝐥𝐥𝐢𝐧𝐠',
    'ﬁn',
    'e\u0301',
    '\u0301a',
    `a${'\u0316'.repeat(9)}`,
  ])
    assert.notEqual(nameProblem(id, 'id'), null, id)
  for (const name of ['Bіlling', 'e\u0301', `a${'\u0316'.repeat(9)}`])
    assert.notEqual(nameProblem(name, 'name'), null, name)
})

test('[C28] a name looks like those that a reader takes it for', () => {
  for (const name of [
    'billing',
    'Billing',
    'BILLING',
    'bіlling',
    'ｂilling',
    'bi11ing',
    'biIIing',
    'bi||ing',
    'Вilling',
  ])
    assert.ok(looksLike(name).has('billing'), name)
  for (const [name, other] of [
    ['рау', 'pay'],
    ['retum', 'retum'],
    ['modern', 'modem'],
    ['deskl0', 'desk10'],
    ['wіtan', 'witan'],
  ] as const)
    assert.ok(looksLike(name).has(other), name)
  for (const [name, other] of [
    ['anna', 'anne'],
    ['al', 'ai'],
    ['bob', 'rob'],
  ] as const)
    assert.ok(!looksLike(name).has(other), name)
})

test('what was stored before the rule is shown on one line, with what is hidden as an escape', () => {
  for (const one of hidden) {
    const shown = shownName(`a${one}b`)
    assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u, JSON.stringify(one))
    if (!/\p{Co}|\p{Cn}/u.test(one)) assert.match(shown, /^a\\u\{?[\da-f]+\}?b$/)
  }
  assert.equal(shownName('a\r\nb'), 'a\\u000ab')
  assert.equal(shownName('Anna Meier (sales) 🙂 李雷'), 'Anna Meier (sales) 🙂 李雷')
})
