/** Passages follow the structure of a document, lose nothing of it, and are never longer than the limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertCheap } from '../../../../test/support/cpu.ts'
import { holds } from '../../../../test/support/seeds.ts'
import { runWithoutPause, runWithPauses } from '../identity/pausable.ts'
import type { Block } from './document.ts'
import { dividedBlocks, splitPassages } from './passages.ts'

const split = (blocks: readonly Block[], limit = 200) => runWithoutPause(splitPassages(blocks, limit))
const told = (blocks: readonly Block[], limit?: number) =>
  split(blocks, limit).map(({ heading, text }) => `${heading} | ${text}`)

const heading = (level: number, text: string): Block => ({ kind: 'heading', level, text })
const paragraph = (text: string): Block => ({ kind: 'paragraph', text })
const row = (text: string): Block => ({ kind: 'row', text })

const words = (count: number, word = 'word') => Array.from({ length: count }, () => word).join(' ')

test('what a document becomes', () => {
  const table: readonly (readonly [string, readonly Block[], readonly string[]])[] = [
    ['nothing', [], []],
    ['blank blocks', [paragraph(' \n'), row('')], []],
    ['short neighbours', [paragraph('One.'), paragraph('Two.')], [' | One.\n\nTwo.']],
    ['rows', [row('a: 1'), row('a: 2'), paragraph('Done.')], [' | a: 1\na: 2\n\nDone.']],
    [
      'the path of headings',
      [
        heading(1, 'A'),
        paragraph('x'),
        heading(2, 'B'),
        paragraph('y'),
        heading(2, 'C'),
        paragraph('z'),
        heading(1, 'D'),
        paragraph('w'),
      ],
      ['A | x', 'A › B | y', 'A › C | z', 'D | w'],
    ],
    [
      'levels that are left out',
      [heading(3, 'A'), heading(5, 'B'), paragraph('x'), heading(4, 'C'), paragraph('y')],
      ['A › B | x', 'A › C | y'],
    ],
    [
      'levels that are none',
      [heading(0, 'A'), heading(Number.NaN, 'B'), paragraph('x'), heading(99, 'C'), paragraph('y')],
      [' | A', 'B | x', 'B › C | y'],
    ],
    ['headings with nothing beneath', [heading(1, 'A'), heading(2, 'B'), heading(2, 'C')], ['A | B\n\nC']],
    ['a heading alone', [heading(2, 'A')], [' | A']],
    ['a blank heading', [heading(1, 'A'), heading(2, ' '), paragraph('x')], ['A | x']],
    ['a heading of two lines', [heading(1, 'A\n  b'), paragraph('x')], ['A b | x']],
  ]
  for (const [what, blocks, expected] of table) assert.deepEqual(told(blocks), expected, what)
})

test('a long heading is cut in the path and stands whole in a passage', () => {
  const long = `${words(24, 'heading')} 😀`
  const [passage] = split([heading(1, long), paragraph('x')])
  assert.ok(passage !== undefined && passage.heading.length <= 120 && passage.heading.endsWith('…'))
  assert.equal(passage.text, `${long}\n\nx`)
})

test('what fits stays whole, and what is longer is cut at a line, a sentence, a word, or where it must be', () => {
  const whole = `${words(39)} last.`
  assert.deepEqual(told([paragraph('First.'), paragraph(whole)], 200), [' | First.', ` | ${whole}`])
  const table: readonly (readonly [Block, readonly string[]])[] = [
    [paragraph(`${words(30)}. ${words(30)}.`), [`${words(30)}.`, `${words(30)}.`]],
    [paragraph(`${words(30)} (“so.”) ${words(30)}.`), [`${words(30)} (“so.”)`, `${words(30)}.`]],
    [paragraph(words(50)), [words(40), words(10)]],
    [paragraph('x'.repeat(450)), ['x'.repeat(200), 'x'.repeat(200), 'x'.repeat(50)]],
    [paragraph(`x${'😀'.repeat(150)}`), [`x${'😀'.repeat(99)}`, '😀'.repeat(51)]],
    [paragraph(`${'知'.repeat(150)}。${'識'.repeat(100)}`), [`${'知'.repeat(150)}。`, '識'.repeat(100)]],
    [{ kind: 'list', text: `- ${words(30)}. So.\n- ${words(30)}.` }, [`- ${words(30)}. So.`, `- ${words(30)}.`]],
    [{ kind: 'code', text: `${words(30)};\n  ${words(30)}\n` }, [`${words(30)};`, `  ${words(30)}`]],
  ]
  for (const [block, expected] of table)
    assert.deepEqual(
      split([block]).map(({ text }) => text),
      expected,
    )
})

const text = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', 'word', ' ', ' ', '. ', '\n', '😀', '。', '.”) ', '\t') },
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constant('x'.repeat(150)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))
const blocks = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('heading' as const), level: fc.integer({ min: 1, max: 6 }), text }),
    fc.record({ kind: fc.constantFrom('paragraph' as const, 'list' as const, 'code' as const, 'row' as const), text }),
  ),
  { maxLength: 15 },
)
const signs = (texts: readonly string[]) => texts.join('').replace(/\s/g, '')

test('nothing is lost or doubled, nothing is longer than the limit, and no surrogate pair is cut', async (context) => {
  const property = fc.asyncProperty(blocks, fc.integer({ min: 200, max: 400 }), async (list, limit) => {
    const passages = split(list, limit)
    assert.deepEqual(
      passages.map(({ place }) => place),
      passages.map((_, at) => at),
    )
    for (const passage of passages) {
      assert.ok(passage.text.length <= limit && passage.text.trim() !== '')
      assert.ok(passage.text.isWellFormed() && passage.heading.isWellFormed())
      assert.ok(passage.heading.length <= 6 * 120 + 5 * 3)
    }
    const found = signs(passages.map((passage) => passage.text))
    const content = list.filter(({ kind }) => kind !== 'heading').map((block) => block.text)
    if (list.length === content.length) assert.equal(found, signs(content))
    for (const { kind, text: whole } of list) {
      if (kind === 'heading' || whole.length > limit || whole.trim() === '') continue
      const kept = kind === 'code' ? whole.trimEnd() : whole.trim()
      assert.ok(passages.some((passage) => passage.text.includes(kept)))
    }
    for (const { text: any } of list)
      assert.ok(signs([...passages.flatMap((each) => [each.heading, each.text])]).includes(signs([any]).slice(0, 40)))
  })
  await holds(context, property, { all: 400 })
})

test('what is very long is several blocks, which together say the same', async () => {
  const short = [heading(1, 'A'), paragraph('x')]
  assert.equal(runWithoutPause(dividedBlocks(short)), short)
  const texts = ['x'.repeat(200_000), `${'😀'.repeat(100_000)}`, words(40_000), 'line\n'.repeat(40_000)]
  for (const text of texts)
    for (const block of [paragraph(text), heading(2, text), { kind: 'code', text } as const]) {
      const divided = runWithoutPause(dividedBlocks([...short, block, ...short]))
      assert.equal(divided.map((each) => each.text).join(''), `Ax${text}Ax`)
      for (const each of divided) assert.ok(each.text.length <= 65_537 && each.text.isWellFormed())
      assert.equal(divided.filter(({ kind }) => kind === 'heading').length, block.kind === 'heading' ? 3 : 2)
    }
  const long = [paragraph('x'.repeat(16_000_000)), { kind: 'list', text: 'y\n'.repeat(8_000_000) } as const]
  await assertCheap({ longest: 40 }, () => runWithPauses(dividedBlocks(long)))
})

test('16 MB without a space, of spaces, of lines, or of a million headings hold no turn', async () => {
  const size = 16_000_000
  const long: Readonly<Record<string, () => Block[]>> = {
    'no space': () => [paragraph('x'.repeat(size))],
    spaces: () => [paragraph(`${' '.repeat(size)}x`)],
    brackets: () => [paragraph('.)'.repeat(size / 2))],
    lines: () => [{ kind: 'code', text: 'x\n'.repeat(size / 2) }],
    'a heading without a space': () => [heading(1, 'x'.repeat(size)), paragraph('x')],
    'a million headings': () => Array.from({ length: 1_000_000 }, (_, at) => heading((at % 6) + 1, `Heading ${at}`)),
    'a million bare headings': () => Array.from({ length: 1_000_000 }, (_, at) => heading(1, `Heading ${at}`)),
  }
  for (const [what, make] of Object.entries(long)) {
    const list = make()
    await assertCheap({ longest: 40 }, () => runWithPauses(splitPassages(list, 200)), what)
  }
})
