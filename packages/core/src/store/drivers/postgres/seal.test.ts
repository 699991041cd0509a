/** Sealed notifications: only for those who hold the key, on one channel, and once. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { readText } from './notification.ts'
import { createOpener, createSealer, type Opened } from './seal.ts'
import { assertCheap } from '../../../../../../test/support/cpu.ts'

const key = randomBytes(32)
const channel = 'witan_notices'
const sealer = (sender = randomBytes(16)) => createSealer({ channel, sender })
const opener = (since = 0) => createOpener({ key, channel, since })
const textOf = (opened: Opened) => (typeof opened === 'object' ? opened.text : opened)

test('what was sealed opens once, and whatever is changed or repeated does not', () => {
  const seal = sealer()
  const open = opener()
  const payload = seal(key, 'one', 5)
  for (let at = 0; at < payload.length; at += 1) {
    const other = payload[at] === 'A' ? 'B' : 'A'
    assert.notEqual(textOf(open(payload.slice(0, at) + other + payload.slice(at + 1))), 'one', `character ${at}`)
    assert.notEqual(textOf(open(payload.slice(0, at))), 'one', `${at} characters`)
  }
  const later = seal(key, 'two', 6)
  assert.equal(textOf(open(payload)), 'one')
  assert.equal(textOf(open(payload)), 'not for us')
  assert.equal(textOf(open(`${payload}=\n`)), 'not for us', 'spelt in another way')
  assert.equal(textOf(open(later)), 'two')
  assert.equal(textOf(open(payload)), 'not for us', 'an older number')
})

test('another key, another channel and another version open nothing', () => {
  const payload = sealer()(key, 'one', 5)
  assert.equal(createOpener({ key: randomBytes(32), channel, since: 0 })(payload), 'not for us')
  assert.equal(createOpener({ key, channel: 'other_notices', since: 0 })(payload), 'not for us')
  assert.equal(opener()(payload.replace('2.', '3.')), 'another version')
  assert.equal(opener()(payload.replace('2.', '1.')), 'another version')
})

test('two sealed texts have nothing in common, whatever they say', () => {
  const seal = sealer()
  const payloads = Array.from({ length: 100 }, () => seal(key, 'x'.repeat(60), 5))
  const bodies = payloads.map((payload) => Buffer.from(payload.slice(2), 'base64url').subarray(24).toString('hex'))
  assert.equal(new Set(bodies.map((body) => body.slice(0, 16))).size, 100)
})

test('what was sent before a connection began to listen changes nothing, also when its sender is new to the listener', () => {
  const seal = sealer()
  const [before, after] = [seal(key, 'before', 9_999), seal(key, 'after', 10_000)]
  const open = opener(10_000)
  assert.equal(textOf(open(before)), 'too early')
  assert.equal(textOf(open(after)), 'after')
  assert.equal(textOf(open(before)), 'not for us')
})

test('what was on its way when a connection began to listen is no reason to warn; what is older is', () => {
  const open = opener(10_000)
  assert.equal(textOf(open(sealer()(key, 'on its way', 9_990))), 'too early')
  assert.equal(textOf(open(sealer()(key, 'kept by somebody', 4_000))), 'not for us')
  assert.equal(textOf(opener(10_000)(sealer()(randomBytes(32), 'of somebody else', 9_990))), 'not for us')
})

test('a sender that was forgotten among thousands can be repeated by nobody', () => {
  const open = opener()
  const first = sealer()(key, 'first', 1)
  assert.equal(textOf(open(first)), 'first')
  for (let at = 2; at < 2_000; at += 1) assert.equal(textOf(open(sealer()(key, 'more', at))), 'more')
  assert.equal(textOf(open(first)), 'not for us')
})

test('no payload throws, sealed or not, and none takes long', async () => {
  const open = opener()
  const head = (sender: Buffer, number: bigint) => {
    const bytes = Buffer.alloc(24)
    sender.copy(bytes)
    bytes.writeBigUInt64BE(number, 16)
    return bytes
  }
  const poison = [
    '',
    ' ',
    'null',
    '{}',
    '[]',
    '{"kind":"gone"}',
    '\u001e\u001f',
    '2.',
    '2',
    '2..',
    '2.A',
    '2.%%%',
    '-1.x',
    '٢.x',
  ]
  const sealed = [0n, 1n, 2n ** 53n, 2n ** 64n - 1n].map(
    (number) => `2.${Buffer.concat([head(randomBytes(16), number), randomBytes(200)]).toString('base64url')}`,
  )
  const long = `2.${randomBytes(5_900).toString('base64url')}`
  for (const payload of [...poison, ...sealed, long, 'x'.repeat(7_999), '2.'.repeat(3_999)])
    assert.ok(typeof open(payload) === 'string', payload.slice(0, 40))
  const openAll = () => {
    for (let index = 0; index < 1_000; index += 1) open(long)
  }
  await assertCheap({ total: 1_000 }, openAll, 'a thousand of the largest')
})

test('a text that opens and holds anything but notifications is none', () => {
  const bad = [
    '',
    'null',
    '{}',
    '[[]]',
    '[["gone"]]',
    '[["gone","d",1]]',
    '[["appended","d","c","1"]]',
    '[["appended","d","c",1.5]]',
  ]
  for (const text of [...bad, '[["due"],["other"]]', '[["due","x"]]', '[', '"due"', '[["appended","d","c",1e999]]'])
    assert.equal(readText(text), null, text)
  assert.deepEqual(readText('[]'), [])
})
