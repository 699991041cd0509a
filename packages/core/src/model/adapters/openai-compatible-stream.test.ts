/** Tests of the reading of replies, however their bytes are cut. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ReplyDocument } from './openai-compatible-stream.ts'
import { createDocumentReader } from './openai-compatible-stream.ts'
import { holds } from '../../../../../test/support/seeds.ts'
import { assertCheap } from '../../../../../test/support/cpu.ts'

function readAll(chunks: readonly Uint8Array[]): ReplyDocument[] {
  const documents: ReplyDocument[] = []
  const reader = createDocumentReader((document) => documents.push(document))
  for (const bytes of chunks) reader.push(bytes)
  reader.end()
  return documents
}

const bytesOf = (text: string) => new TextEncoder().encode(text)
const read = (text: string) => readAll([bytesOf(text)])
const json = (value: unknown): ReplyDocument => ({ type: 'json', value })
const done: ReplyDocument = { type: 'done' }

test('line ends, comments, other fields and a missing last line end make no difference', () => {
  const expected = [json({ a: 1 }), json({ b: 2 }), done]
  for (const end of ['\n', '\r\n', '\r']) {
    const lines = [
      ':keep-alive',
      '',
      'event: message',
      'id: 7',
      'data: {"a":1}',
      '',
      'retry: 5',
      'data:{"b":2}',
      '',
      'data: [DONE]',
    ]
    assert.deepEqual(read(lines.join(end)), expected)
    assert.deepEqual(read(`\uFEFF${lines.join(end)}${end}${end}`), expected)
  }
})

test('documents without an empty line between them, and one over several lines, are read', () => {
  assert.deepEqual(read('data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n'), [json({ a: 1 }), json({ b: 2 }), done])
  assert.deepEqual(read('data: {\ndata: "a": [1,\ndata: 2]}\n\n'), [json({ a: [1, 2] })])
})

test('a document has at most 300,000 lines, and may have that many; what comes after too many is still read', () => {
  const lines = (count: number) => `data: {"a":[0\n${'data:\n'.repeat(count - 2)}data: ]}\n\n`
  assert.deepEqual(read(lines(300_000)), [json({ a: [0] })])
  const [first, ...others] = read(`${lines(300_001)}data: {"b":2}\n\n`)
  assert.deepEqual(first, { type: 'excess', problem: 'one document has more than 300000 lines' })
  assert.deepEqual(others.at(-1), json({ b: 2 }))
})

test('a reply that was measured before it ends is the same reply', () => {
  const whole = `{"a":"${'\\\\'.repeat(100)}"}`
  for (const [text, later] of [
    [whole, ''],
    [whole, ' '],
    ['{"a":', '1}'],
    ['[{}', ']'],
    ['{"a":1}', '}'],
    [`[${'{},'.repeat(100_000)}{}]`, ''],
    ['', '{}'],
    ['data: {"a":1}', '\n\n'],
  ] as const) {
    const documents: ReplyDocument[] = []
    const reader = createDocumentReader((document) => documents.push(document))
    reader.push(bytesOf(text))
    reader.measure()
    reader.push(bytesOf(later))
    reader.end()
    assert.deepEqual(documents, read(text + later), text.slice(0, 20))
  }
})

test('a plain reply is one document and then the end', () => {
  assert.deepEqual(read(' \n{"a":\n1}\n'), [json({ a: 1 }), done])
  assert.deepEqual(read('{"a":'), [{ type: 'broken', text: '{"a":' }])
  assert.deepEqual(read('<html></html>'), [{ type: 'broken', text: '<html></html>' }])
  assert.deepEqual(read(''), [])
})

test('what is no JSON is handed over as broken', () => {
  assert.deepEqual(read('data: {"a":\n\ndata: {"b":2}\n\n'), [{ type: 'broken', text: '{"a":' }, json({ b: 2 })])
})

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const event = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((value) => `data: ${JSON.stringify({ value })}`),
  fc.string({ unit: 'binary' }).map((text) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}`),
  fc.constantFrom(': ping', 'event: x', 'data: {"broken":', 'data: [DONE]', 'data: {"a":\ndata: 1}', 'data', 'data:'),
  fc.string().map((text) => `: ${text.replace(/[\r\n]/g, '')}`),
)
const reply = fc.oneof(
  fc
    .tuple(fc.array(event), lineEnd)
    .map(([events, end]) => events.join(`${end}${end}`).replaceAll('\n', end === '\r\n' ? '\n' : end)),
  fc.jsonValue().map((value) => JSON.stringify({ value })),
  fc.string({ unit: 'binary' }),
)

test('any cutting of the bytes, also inside a character, gives what the uncut bytes give', async (context) => {
  const cuts = fc.array(fc.nat(4_000), { maxLength: 40 })
  await holds(
    context,
    fc.property(reply, cuts, (text, at) => {
      const bytes = bytesOf(text)
      const borders = [...new Set([0, ...at.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
        (a, b) => a - b,
      )
      const chunks = borders.slice(1).map((to, index) => bytes.subarray(borders[index], to))
      assert.deepEqual(readAll(chunks), readAll([bytes]))
      assert.deepEqual(readAll([...bytes].map((byte) => Uint8Array.of(byte))), readAll([bytes]))
    }),
    2_000,
  )
})

test('a line of ten megabytes in small chunks is read in linear time', async () => {
  const bytes = bytesOf(`data: {"a":"${'x'.repeat(10_000_000)}"}\n\n`)
  const chunks: Uint8Array[] = []
  for (let from = 0; from < bytes.length; from += 1024) chunks.push(bytes.subarray(from, from + 1024))
  const { result } = await assertCheap({ total: 3_000 }, () => readAll(chunks))
  assert.equal(result.length, 1)
})
