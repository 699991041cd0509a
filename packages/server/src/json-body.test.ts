/** Bodies at and beyond each limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { maxJsonDepth } from '@witan/protocol/schemas'
import { MAX_BODY_BYTES, readJsonBody } from './json-body.ts'

const json = { 'content-type': 'application/json' }

function post(
  body: string | Blob | Uint8Array<ArrayBuffer> | ReadableStream | null,
  headers: Record<string, string> = json,
): Request {
  const streaming = body instanceof ReadableStream ? { duplex: 'half' as const } : {}
  return new Request('http://127.0.0.1/', { method: 'POST', body, headers, ...streaming })
}

function stream(bytes: Uint8Array<ArrayBuffer>): ReadableStream {
  return new Blob([bytes]).stream()
}

const spaces = new TextEncoder().encode(`{}${' '.repeat(MAX_BODY_BYTES)}`)
const refused: [name: string, request: Request, code: string, names: string[]][] = [
  [
    'too large by its length',
    post('{}', { ...json, 'content-length': '2000000' }),
    'BODY_TOO_LARGE',
    ['2000000', '1048576'],
  ],
  ['too large in chunks', post(stream(spaces)), 'BODY_TOO_LARGE', ['1048576']],
  [
    'a form',
    post('a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    'CONTENT_TYPE_UNSUPPORTED',
    ['x-www-form-urlencoded', 'application/json'],
  ],
  ['plain text', post('{}', { 'content-type': 'text/plain' }), 'CONTENT_TYPE_UNSUPPORTED', ['text/plain']],
  [
    'another charset',
    post('{}', { 'content-type': 'application/json; charset=latin1' }),
    'CONTENT_TYPE_UNSUPPORTED',
    ['latin1'],
  ],
  ['compressed', post('{}', { ...json, 'content-encoding': 'gzip' }), 'CONTENT_TYPE_UNSUPPORTED', []],
  ['no type', post(new Blob(['{}']), {}), 'CONTENT_TYPE_UNSUPPORTED', ['none']],
  ['bad UTF-8', post(Uint8Array.of(0x22, 0xff, 0xfe, 0x22)), 'JSON_INVALID', ['UTF-8']],
  ['half a pair, cut', post(Uint8Array.of(0x22, 0xf0, 0x9f)), 'JSON_INVALID', ['UTF-8']],
  ['not JSON', post('{"secretvalue": 1,}'), 'JSON_INVALID', ['character 18']],
  ['cut JSON', post('{"a": '), 'JSON_INVALID', []],
  ['too deep', post('['.repeat(65) + ']'.repeat(65)), 'JSON_TOO_DEEP', ['65', '64']],
  ['far too deep', post('{"a":'.repeat(90_000)), 'JSON_TOO_DEEP', ['90000', '64']],
  ['too many values', post(`[${'0,'.repeat(100_000)}0]`), 'BODY_TOO_LARGE', ['100000 values']],
  [
    'too many keys',
    post(`{${Array.from({ length: 10_001 }, (_, at) => `"secretvalue${at}":0`).join()}}`),
    'BODY_TOO_LARGE',
    ['10000 different keys'],
  ],
]

for (const [name, request, code, names] of refused) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(readJsonBody(request), (error) => {
      assert.ok(isWitanError(error), String(error))
      assert.equal(error.code, code)
      for (const word of names) assert.ok(error.message.includes(word), `\`${word}\` in: ${error.message}`)
      assert.equal(error.message.includes('secretvalue'), false)
      assert.ok(error.hint)
      return true
    })
  })
}

test('accepted: charset, no length, a byte order mark, brackets in strings, and nothing at all', async () => {
  const plain = await readJsonBody(post('{"a":1}', { 'content-type': 'application/json; charset="UTF-8"' }))
  assert.deepEqual(plain.value, { a: 1 })
  assert.deepEqual((await readJsonBody(post(stream(new TextEncoder().encode('[1]'))))).value, [1])
  assert.deepEqual((await readJsonBody(post('\ufeff[]'))).value, [])
  const brackets = JSON.stringify('["{'.repeat(100))
  assert.equal((await readJsonBody(post(brackets))).value, '["{'.repeat(100))
  assert.equal((await readJsonBody(post(null, {}))).value, undefined)
  const deepest = '['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth)
  assert.ok((await readJsonBody(post(deepest))).value)
})

test('a number that JavaScript would change is read as text, in a short body and in a long one', async () => {
  for (const words of ['x', 'x'.repeat(200_000)]) {
    const { value } = await readJsonBody(post(`{"id":9007199254740993,"n":1,"words":"${words}"}`))
    assert.deepEqual(value, { id: '9007199254740993', n: 1, words })
  }
})

test('a key __proto__ stays data', async () => {
  const { value } = await readJsonBody(post('{"__proto__": {"polluted": true}}'))
  assert.equal(Object.hasOwn(value as object, '__proto__'), true)
  assert.equal(Reflect.get({}, 'polluted'), undefined)
})
