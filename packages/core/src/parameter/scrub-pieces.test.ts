/** A text that is scrubbed in pieces, held against the same text scrubbed whole, and what it costs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { parameterSchema } from '@witan/protocol/schemas'
import { createAutomaton } from './automaton.ts'
import { bind } from './bind.ts'
import { type Scrubber, scrubberOf } from './scrub.ts'
import { createPieceScrubber } from './scrub-pieces.ts'
import { fold } from './spelling.ts'

function unitsOf(value: string): Uint16Array {
  return Uint16Array.from({ length: value.length }, (_, at) => fold(value.charCodeAt(at)))
}

function scrubberFor(...values: readonly string[]): Exclude<Scrubber, null> {
  const declared = values.map((_, index) => parameterSchema.parse({ name: `p${index}`, sendToModel: false }))
  const given = new Map(values.map((value, index) => [`p${index}`, { value, hidden: true }]))
  const scrub = scrubberOf(declared, bind(declared, { parent: null, conversationValues: given, map: {} }).bound)
  assert.ok(scrub !== null)
  return scrub
}

function inPieces(scrub: Exclude<Scrubber, null>, pieces: readonly string[]): string {
  const scrubber = scrub.inPieces()
  let clean = ''
  for (const piece of pieces) clean += scrubber.push(piece)
  return clean + scrubber.flush()
}

function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other)
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length))
}

const letters = ['\\', '"', '%', 'a', 'B', '1', '4', 'n', '\n', ' ', '+', '&', '\u200b']
const written = ['%41', '%5c', '\\u0061', '\\\\u0022', '&#97;', '&#x0022;', '&amp;', '\\"', '\\n', '\\\\\\\\']

test('[D15] a text in pieces is scrubbed as if it had come whole', async (context) => {
  const drawn = fc.integer({ min: 2, max: letters.length }).chain((size) => {
    const unit = fc.constantFrom(...letters.slice(0, size))
    const value = fc.string({ unit, minLength: 4, maxLength: 7 })
    const filler = fc.string({ unit: fc.constantFrom(...letters.slice(0, size), ...written), maxLength: 40 })
    return fc.record({
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
      text: fc.array(fc.tuple(filler, fc.nat(2), fc.nat(5)), { maxLength: 4 }),
      places: fc.array(fc.nat(), { maxLength: 40 }),
    })
  })
  const spell = [
    (value: string) => value,
    (value: string) => JSON.stringify(value).slice(1, -1),
    (value: string) => encodeURIComponent(value),
    (value: string) => [...value].join('\u200b'),
    (value: string) => Buffer.from(value).toString('base64'),
    (value: string) => value.slice(0, -1),
  ]
  const property = fc.property(drawn, ({ values, text: parts, places }) => {
    const scrub = scrubberFor(...values)
    const text = parts.map(([filler, one, how]) => filler + (spell[how]?.(values[one] ?? '') ?? '')).join('')
    // As in a text that comes whole, backslashes before what they escape, however they are spelled, and unseen characters before a value may stay.
    const plain = (clean: string) => clean.replace(/%5c|[\\\u200b]/gi, '')
    assert.equal(plain(inPieces(scrub, cut(text, places))), plain(scrub(text)))
    assert.equal(plain(inPieces(scrub, text.split(''))), plain(scrub(text)), 'unit by unit')
  })
  await holds(context, property, 3000)
})

test('[D15] text that no value begins with is passed on at once', () => {
  const scrubber = scrubberFor('employees/3-A').inPieces()
  assert.equal(scrubber.push('Who is it? '), 'Who is it? ')
  assert.equal(scrubber.push('It is emplo'), 'It is ')
  assert.equal(scrubber.push('yment that '), 'employment that ')
  assert.equal(scrubber.push('employees/3'), '')
  assert.equal(scrubber.push('-A ends.'), '[hidden] ends.')
  assert.equal(scrubber.flush(), '')
})

test('the work is linear in the text, however it is cut', () => {
  const attacks: readonly (readonly [values: readonly string[], text: string])[] = [
    [[`${'a'.repeat(20_000)}b`], 'a'],
    [[`${'\\'.repeat(20_000)}x`], '\\'],
    [['secret-value'], 's\u200b'],
    [['secret-value'], 'secret-valu'],
    [[`${'%41'.repeat(6_000)}b`], '%41'],
    [['a'.repeat(5)], 'a'],
    [[`41b${'Ab'.repeat(100)}`], '%41b'],
    [['some value'], '&'],
  ]
  for (const [values, piece] of attacks) {
    const automaton = createAutomaton(values.map((value) => unitsOf(value)))
    const scrubber = createPieceScrubber(automaton, (text) => text)
    const text = piece.repeat(Math.ceil(50_000 / piece.length))
    const before = automaton.steps()
    for (let at = 0; at < text.length; at += 3) scrubber.push(text.slice(at, at + 3))
    scrubber.flush()
    const each = (automaton.steps() - before) / text.length
    assert.ok(each < 300, `${each} steps a character: ${values[0]?.slice(0, 20)} in ${piece}`)
  }
})

test('a text that could be read in too many ways is hidden from there on, also in pieces', () => {
  const value = `41b${'Ab'.repeat(100)}x`
  const text = `so: ${'%41b'.repeat(1_000)} and more`
  const clean = inPieces(scrubberFor(value), cut(text, [4, 77, 900, 2_000, 4_003]))
  assert.match(clean, /^so: %?\[hidden\]$/)
})
