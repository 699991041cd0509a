/** A copy is what JSON makes of a value, each thing of it read once; and it costs only what is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { runWithoutPause } from './pausable.ts'
import { NotPlain, plainCopy } from './plain.ts'

const limits = { characters: 10_000, values: 10_000 }
const copyOf = (value: unknown, most = limits) => runWithoutPause(plainCopy(value, most))

class Money {
  readonly amount = 12
  readonly #secret = 3
  get doubled() {
    return this.amount * 2 + this.#secret
  }
}

const values: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  'a function': () => 1,
  'a symbol': Symbol('x'),
  'a text': 'a "b" \u0001 \ud800',
  numbers: [1, -0, 1e21, 0.1, Number.NaN, Number.POSITIVE_INFINITY],
  'a date': new Date(0),
  'an invalid date': { at: new Date(Number.NaN) },
  'a map, a set and a pattern': [new Map([[1, 2]]), new Set([1]), /a/],
  'an instance of a class': new Money(),
  'what JSON leaves out': { a: undefined, b: () => 1, c: Symbol('x'), d: [undefined, () => 1, Symbol('x')] },
  'a list with holes': Object.assign([1], { 4: 2 }),
  'a getter': {
    get at() {
      return [1]
    },
  },
  'hidden keys': Object.defineProperty({ a: 1, [Symbol('s')]: 2 }, 'b', { value: 3 }),
  'a key that names the prototype': JSON.parse('{"__proto__":{"a":1},"b":2}'),
  'no prototype': Object.assign(Object.create(null), { a: 1 }),
  wrappers: [Object('a'), Object(1), Object(false)],
  toJSON: { toJSON: (key: string) => `key ${key}`, inner: { toJSON: (key: string) => key } },
  'toJSON within': [{ a: { toJSON: (key: string) => ({ key, toJSON: () => 'again' }) } }, { toJSON: () => undefined }],
  'a Buffer': { bytes: Buffer.from('ab') },
  'typed arrays': [
    new Uint8Array([1, 2]),
    new Float64Array([0.5]),
    new DataView(new ArrayBuffer(2)),
    new ArrayBuffer(2),
  ],
  'the same twice': (() => {
    const one = { a: [1] }
    return [one, one, { one }]
  })(),
  'a proxy': new Proxy([1, { a: 2 }], {}),
  'numbers as keys': { b: 1, 2: 2, 1: 1 },
}

for (const [name, value] of Object.entries(values)) {
  test(`${name}: the copy is what JSON makes of it`, () => {
    const text = JSON.stringify(value)
    const { value: copy, isWhole, characters } = copyOf(value)
    assert.deepEqual(copy, text === undefined ? undefined : JSON.parse(text))
    assert.equal(JSON.stringify(copy), text)
    assert.ok(isWhole)
    assert.ok(characters <= (text ?? 'null').length && (text ?? '').length <= 6 * characters)
  })
}

const anything = fc.anything({
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
})

test('any value is copied as JSON writes it, and a cut copy begins as the whole JSON does', async (context) => {
  await holds(
    context,
    fc.property(anything, fc.integer({ min: 4, max: 200 }), (value, characters) => {
      const text = JSON.stringify(value)
      const { value: copy, isWhole } = copyOf(value, { characters, values: 10_000 })
      const whole = JSON.stringify(copyOf(value).value)
      assert.equal(whole, text)
      if (isWhole) assert.equal(JSON.stringify(copy), text)
      else assert.equal(JSON.stringify(copy).slice(0, characters), text.slice(0, characters))
    }),
    2_000,
  )
})

test('a copy shares nothing that can change', () => {
  const list = [{ a: [1] }]
  const { value } = copyOf({ list })
  list[0]?.a.push(2)
  list.push({ a: [] })
  assert.deepEqual(value, { list: [{ a: [1] }] })
})

test('a getter and a toJSON are called once', () => {
  let calls = 0
  const count = () => {
    calls += 1
    return calls
  }
  copyOf({
    get a() {
      return count()
    },
    b: { toJSON: count },
  })
  assert.equal(calls, 2)
})

const circle: Record<string, unknown> = { a: [] }
circle['a'] = [circle]

const refused: Readonly<Record<string, { value: unknown; why: RegExp; path: string }>> = {
  'a circle': { value: { in: circle }, why: /^it refers to itself$/, path: 'in.a.0' },
  'a BigInt': { value: { a: [1n] }, why: /BigInt/, path: 'a.0' },
}

for (const [name, { value, why, path }] of Object.entries(refused)) {
  test(`${name} is refused by name, with its place`, () => {
    const isIt = (error: unknown) => error instanceof NotPlain && why.test(error.message) && error.path === path
    assert.throws(() => copyOf(value), isIt)
  })
}

test('numbers that JSON cannot hold are refused by a strict copy', () => {
  for (const value of [Number.NaN, [Number.NEGATIVE_INFINITY], { a: Object(Number.NaN) }])
    assert.throws(() => runWithoutPause(plainCopy(value, { ...limits, isStrict: true })), NotPlain)
})

const endless: unknown = { toJSON: () => [endless] }
const long: Readonly<Record<string, () => unknown>> = {
  'a Buffer': () => Buffer.alloc(8_000_000),
  'a typed array': () => new Float64Array(2_000_000),
  'a list with 10 million holes': () => new Array(10_000_000),
  'a list without an end': () => new Proxy([], { get: (_, key) => (key === 'length' ? Number.POSITIVE_INFINITY : 1) }),
  'a toJSON without an end': () => endless,
  'texts of 1 MB': () => new Array(40).fill('a'.repeat(1_000_000)),
  'a long key': () => ({ ['k'.repeat(1_000_000)]: 'v'.repeat(1_000_000) }),
  'a million keys without values': () =>
    Object.fromEntries(new Array(200_000).fill(0).map((_, at) => [`k${at}`, undefined])),
}

for (const [name, make] of Object.entries(long)) {
  test(`${name}: no more is copied than the limits allow`, () => {
    const most = { characters: 1_000, values: 1_000 }
    const { value, isWhole } = copyOf(make(), most)
    assert.ok(!isWhole)
    assert.ok(JSON.stringify(value).length <= 2 * most.characters + 100)
  })
}
