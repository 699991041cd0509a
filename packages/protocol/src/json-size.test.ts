/** What of JSON is too much to parse it, and that nothing of a legal size is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../test/support/seeds.ts'
import { readJson } from './json.ts'
import { type JsonSize, jsonDepth, jsonExcess, jsonSize, maxJsonDepth, maxJsonSize } from './json-size.ts'

const { values, keys, beside, written } = maxJsonSize

const list = (count: number, one: string | ((at: number) => string)) =>
  `[${Array.from({ length: count }, (_, at) => (typeof one === 'string' ? one : one(at))).join()}]`
const object = (count: number, name: (at: number) => string = (at) => `k${at}`) =>
  `{${Array.from({ length: count }, (_, at) => `"${name(at)}":0`).join()}}`
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const message = (content: string) => `{"choices":[{"message":{"content":${JSON.stringify(content)}}}]}`
const call = (at: number) =>
  JSON.stringify({
    index: at,
    id: `call_${at}`,
    type: 'function',
    function: { name: 'look', arguments: `{"id":${at}}` },
  })

/** Texts of outsiders, and what each has too much of. */
const tooMuch: readonly [text: string, problem: RegExp][] = [
  [nested(maxJsonDepth + 1), /nested 65 deep; the limit is 64/],
  [nested(50_000), /nested 50000 deep/],
  ['['.repeat(9_000_000), /nested 100000 deep/],
  [list(values, '0'), /more than 100000 values/],
  [list(values, '{}'), /100000 values/],
  [list(values / 2, '[0]'), /100000 values/],
  [list(values / 2, '{"a":0}'), /100000 values/],
  [`{${'"":0,'.repeat(values)}"b":1}`, /100000 values/],
  [object(keys + 1), /more than 10000 different keys/],
  [list(keys + 1, (at) => `{"k${at}":0}`), /10000 different keys/],
  [object(keys + 1, (at) => String.fromCharCode(0x4e00 + at)), /10000 different keys/],
  [`[${'1'.repeat(beside)}]`, /more than 1500000 characters outside its texts/],
  [`{${' '.repeat(beside)}}`, /1500000 characters outside/],
  [object(keys, (at) => `${'a'.repeat(200)}${at}`), /1500000 characters outside/],
  [`["${'\\n'.repeat(written / 2)}"]`, /more than 6500000 characters of short or escaped texts/],
  [`["${'\\\\'.repeat(written / 2)}"]`, /6500000 characters of short/],
  [`["${'\\"'.repeat(written / 2)}"]`, /6500000 characters of short/],
]

test('JSON that would take long to parse is refused before that, with its limit and none of its text', () => {
  for (const [text, problem] of tooMuch) {
    const read = readJson(text)
    assert.ok(!read.ok && read.isExcess, `${text.slice(0, 40)} is read`)
    assert.match(read.problem, problem)
    assert.equal(jsonExcess(text)?.isDepth, problem.source.includes('nested'))
  }
})

/** The largest of what is allowed elsewhere, and what looks like too much and is none. */
const legal: readonly [what: string, text: string][] = [
  ['a reply of 10,000 calls', `{"choices":[{"message":{"tool_calls":${list(10_000, call)}}}]}`],
  ['a text of 4 MB', message('The quick brown fox. '.repeat(200_000))],
  ['a text of 9 MB that looks like many values', message('[{,'.repeat(3_000_000))],
  ['a text of a million escaped characters', message('語'.repeat(1_000_000)).replaceAll('語', '\\u8a9e')],
  ['a text of a million quotes', message('"'.repeat(1_000_000))],
  ['a file of 16 MB', JSON.stringify({ prompt: [{ type: 'file', data: 'QUJD'.repeat(4_000_000) }] })],
  ['a body of 1,000 agents', JSON.stringify({ agents: Array.from({ length: 1_000 }, (_, at) => agent(at)) })],
  ['9,000 rows of ten fields', list(9_000, `{${Array.from({ length: 10 }, (_, at) => `"field${at}":${at}`).join()}}`)],
  ['as many values as are allowed', list(values - 1, '0')],
  ['as many keys as are allowed', object(keys)],
  ['as deep as is allowed', nested(maxJsonDepth)],
]

function agent(at: number) {
  return {
    id: `agent-${at}`,
    model: 'a/model',
    instructions: 'You do it. '.repeat(40),
    description: 'Does it.',
    parameters: Array.from({ length: 5 }, (_, index) => ({ name: `p${index}`, type: 'string', sendToModel: false })),
    subAgents: [{ agent: `agent-${at + 1}`, description: 'Helps.' }],
    limits: { maxIterations: 20, maxDepth: 4 },
  }
}

test('nothing of a legal size is refused', () => {
  for (const [what, text] of legal) assert.equal(jsonExcess(text)?.problem, undefined, what)
})

/** The same counts from the value itself. */
function sizeOf(
  value: unknown,
): Omit<JsonSize, 'written'> & { readonly names: readonly string[]; readonly texts: number } {
  if (typeof value === 'string') return { ...none, texts: JSON.stringify(value).length }
  if (typeof value !== 'object' || value === null) return { ...none, beside: JSON.stringify(value).length }
  const inner = Object.values(value).map(sizeOf)
  const sum = (part: 'values' | 'beside' | 'texts') => inner.reduce((before, one) => before + one[part], 0)
  const own = Array.isArray(value) ? [] : Object.keys(value)
  const marks =
    2 + Math.max(0, inner.length - 1) + own.reduce((length, one) => length + JSON.stringify(one).length + 1, 0)
  const names = [...new Set([...own, ...inner.flatMap((one) => one.names)])]
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + sum('values'),
    beside: marks + sum('beside'),
    texts: sum('texts'),
    keys: names.length,
    names,
  }
}

const none = { depth: 0, values: 1, keys: 0, beside: 0, names: [], texts: 0 }

test('the counts of a text are those of its value', async (context) => {
  const anything = fc.jsonValue({ maxDepth: 6, noUnicodeString: false })
  await holds(
    context,
    fc.property(anything, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      const { names: _, texts, ...counts } = sizeOf(value)
      const plain = JSON.stringify(value)
      assert.deepEqual(jsonSize(plain), { ...counts, written: texts })
      assert.equal(jsonDepth(plain), counts.depth)
      const spaced = JSON.stringify(value, null, space)
      const { depth, values: count, keys: different, written: length } = jsonSize(spaced)
      assert.deepEqual([depth, count, different, length], [counts.depth, counts.values, counts.keys, texts])
    }),
    2000,
  )
})

test('a long text counts only where it has escapes', () => {
  const long = 'a'.repeat(2_000)
  assert.equal(jsonSize(JSON.stringify([long])).written, 0)
  assert.equal(jsonSize(JSON.stringify([`${long}\n`])).written, 2_004)
  assert.equal(jsonSize(JSON.stringify([`"${long}`])).written, 2_004)
  assert.equal(jsonSize(JSON.stringify({ [long]: 0 })).written, 0)
  assert.equal(jsonSize(JSON.stringify({ [long]: 0 })).beside, 2_006)
})
