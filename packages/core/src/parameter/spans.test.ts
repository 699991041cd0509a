/** The search over all readings of a text, held against a slow one, and what it costs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { createAutomaton } from './automaton.ts'
import { spansOf } from './spans.ts'
import { fold } from './spelling.ts'

function automatonOf(...values: readonly string[]) {
  return createAutomaton(
    values.map((value) => Uint16Array.from({ length: value.length }, (_, at) => fold(value.charCodeAt(at)))),
  )
}

const unseen = /[\u00ad\u200b]/
const control: Readonly<Record<string, string>> = { '\n': 'n', '\t': 't' }
const entity: Readonly<Record<string, string>> = { '&': 'amp', '"': 'quot' }

/** All ways to write one character, from the words of the documents, as a pattern. */
function ways(character: string): RegExp[] {
  const code = character.charCodeAt(0)
  const cases = [...new Set([code, character.toUpperCase().charCodeAt(0), character.toLowerCase().charCodeAt(0)])]
  const forms = cases.flatMap((one) => {
    const hex = one.toString(16)
    const bytes = Buffer.from(String.fromCharCode(one)).toString('hex')
    return [bytes.replace(/../g, '%$&'), `\\\\{1,8}u${hex.padStart(4, '0')}`, `&#0{0,6}${one};`, `&#x0{0,6}${hex};`]
  })
  const itself = character.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  forms.push(itself)
  if (character === ' ') forms.push('\\+')
  if ('"\\/'.includes(character)) for (let most = 1; most <= 8; most += 1) forms.push(`\\\\{${most}}${itself}`)
  if (control[character] !== undefined) forms.push(`\\\\{1,8}${control[character]}`)
  if (entity[character] !== undefined) forms.push(`&${entity[character]};`)
  return forms.map((form) => new RegExp(form, 'iy'))
}

/** Where a value ends that begins here, in any spelling. */
function endsOf(text: string, value: string, start: number): ReadonlySet<number> {
  let ends = new Set([start])
  for (const [index, character] of [...value].entries()) {
    if (index > 0) for (const end of ends) if (unseen.test(text[end] ?? '')) ends.add(end + 1)
    const next = new Set<number>()
    for (const end of ends)
      for (const way of ways(character)) {
        way.lastIndex = end
        if (way.test(text)) next.add(way.lastIndex)
      }
    ends = next
  }
  return ends
}

/** Of each character whether it belongs to a value, by the slow way. */
function coverOf(text: string, values: readonly string[]): boolean[] {
  const cover = Array.from(text, () => false)
  for (const value of values)
    for (let start = 0; start < text.length; start += 1)
      for (const end of endsOf(text, value, start)) cover.fill(true, start, end)
  return cover
}

const letters = ['\\', '"', '%', 'a', 'B', '1', '4', 'n', '\n', ' ', '+', '&', '\u200b']
const written = ['%41', '%5c', '\\u0061', '\\\\u0022', '&#97;', '&#x0022;', '&amp;', '\\"', '\\n', '\\\\\\\\']

test('[P24] [D15] every spelling of every value is found, and nothing else', async (context) => {
  const drawn = fc.integer({ min: 2, max: letters.length }).chain((size) => {
    const unit = fc.constantFrom(...letters.slice(0, size))
    const value = fc.string({ unit, minLength: 1, maxLength: 6 })
    const filler = fc.string({ unit: fc.constantFrom(...letters.slice(0, size), ...written), maxLength: 5 })
    return fc.record({
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
      text: fc.array(fc.tuple(filler, fc.nat(2), fc.nat(3)), { maxLength: 3 }),
    })
  })
  const spell = [
    (value: string) => value,
    (value: string) => JSON.stringify(value).slice(1, -1),
    (value: string) => encodeURIComponent(value),
    (value: string) => JSON.stringify(JSON.stringify(value)).slice(3, -3),
  ]
  const property = fc.property(drawn, ({ values, text: pieces }) => {
    const text = pieces
      .map(([filler, which, how]) => filler + (spell[how]?.(values[which % values.length] ?? '') ?? ''))
      .join('')
    const cover = coverOf(text, values)
    const found = Array.from(text, () => false)
    for (const { start, end } of spansOf(text, automatonOf(...values))) found.fill(true, start, end)
    for (let at = 0; at < text.length; at += 1) {
      // Backslashes before what they escape, and unseen characters before a value that begins with one, may stay.
      if (cover[at] && !isEscape(text, at)) assert.ok(found[at], `${at} is left`)
      if (found[at]) assert.ok(cover[at], `${at} is taken`)
    }
  })
  await holds(context, property, 3000)
})

/** Whether a character belongs to a backslash, also as a URL writes it, or cannot be seen. */
function isEscape(text: string, at: number): boolean {
  if (/[\\\u200b]/.test(text[at] ?? '')) return true
  return [0, 1, 2].some((back) => back <= at && /^%5c/i.test(text.slice(at - back, at - back + 3)))
}

test('[P24] the work is linear in the text, whatever the values are', () => {
  const attacks: readonly (readonly [values: readonly string[], text: string])[] = [
    [[`${'\\'.repeat(10)}x`], '\\'],
    [[`${'\\'.repeat(20_000)}x`], '\\'],
    [['"'.repeat(200)], '"'],
    [['"'.repeat(200)], '\\"'],
    [[`${'a'.repeat(20_000)}b`], 'a'],
    [[`${'%41'.repeat(6_000)}b`], '%41'],
    [[`${'\\\\a'.repeat(3_000)}b`], '\\\\\\\\\\\\a'],
    [[`41b${'Ab'.repeat(100)}`], '%41b'],
    [['a\u200b'.repeat(2_000)], 'a\u200b\u200b'],
    [[`${'&#97;'.repeat(3_000)}b`], '&#97;'],
    [Array.from({ length: 300 }, (_, index) => 'a'.repeat(index) + String.fromCharCode(0x4e00 + index)), 'a'],
    [Array.from({ length: 300 }, (_, index) => `${'%41'.repeat(index)}${String.fromCharCode(0x4e00 + index)}`), '%41'],
    [Array.from({ length: 1_000 }, (_, index) => `item ${index} of a list`), 'item 7 of a '],
  ]
  for (const [values, piece] of attacks) {
    const automaton = automatonOf(...values)
    const text = piece.repeat(Math.ceil(100_000 / piece.length))
    const before = automaton.steps()
    spansOf(text, automaton)
    const each = (automaton.steps() - before) / text.length
    assert.ok(each < 100, `${each} steps a character: ${values[0]?.slice(0, 20)} in ${piece}`)
  }
})

test('[P24] what begins no value takes no step, also where escapes stand', () => {
  const automaton = automatonOf('canary-7')
  for (const piece of ['Come, cut the cloth. ', 'some\\n text\\u0041\\\\ ', 'a%20b%C3%A9&amp;&#x41; ']) {
    const text = piece.repeat(100)
    const before = automaton.steps()
    assert.deepEqual(spansOf(text, automaton), [])
    assert.ok(automaton.steps() - before <= text.length / 10, `${automaton.steps() - before} steps: ${piece}`)
  }
})

test('a text that could be read in too many ways is hidden from there on', () => {
  const text = `so: ${'%41b'.repeat(1_000)} and more`
  const [span] = spansOf(text, automatonOf(`41b${'Ab'.repeat(100)}x`))
  assert.equal(span?.start, 5)
  assert.equal(span?.end, text.length)
})

test('a pair of UTF-16 is found as one character of a URL, of HTML and of JSON', () => {
  for (const text of ['see😀x', 'see%F0%9f%98%80x', 'see&#128512;x', 'see&#x1F600;x', 'see\\ud83d\\uDE00x'])
    assert.deepEqual(spansOf(`${text}y`, automatonOf('see😀x')), [{ start: 0, end: text.length }], text)
})
