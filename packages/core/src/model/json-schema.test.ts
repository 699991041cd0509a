/** JSON Schemas held against what the standard says of them, against another validator, and what they cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { holds } from '../../../../test/support/seeds.ts'
import { validatorOf } from './json-schema.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import * as problem from './json-schema-problem.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

type Schema = Readonly<Record<string, unknown>>
const schemaProblem = (schema: Schema) => runWithoutPause(problem.schemaProblem(schema))
const fits = (schema: Schema, value: unknown) => validatorOf(schema).fits(value) === true

/** A schema, what fits it, and what does not. */
const table: readonly (readonly [Schema, readonly unknown[], readonly unknown[]])[] = [
  [{}, [1, 'x', null, {}], []],
  [{ minimum: 5 }, [5, 'x', null, {}, []], [4]],
  [{ pattern: '^a', minLength: 2 }, ['ab', 4], ['a', 'bb']],
  [{ contains: { const: 'x' } }, [['x', 'y'], 'x'], [[], ['y']]],
  [{ properties: { n: { minimum: 5 } } }, [{ n: 5 }, { n: '1' }, {}, 7], [{ n: 4 }]],
  [{ properties: { n: { minimum: 5 } }, required: ['n'] }, [{ n: 5 }, { n: '1' }], [{ n: 4 }, {}]],
  [{ type: 'object', properties: { n: { const: 1 } } }, [{ n: 1 }, {}], [{ n: 2 }, 1]],
  [{ required: ['a'] }, [{ a: null }, { a: 0, b: 1 }, 'x'], [{}, { b: 1 }]],
  [{ properties: { a: {} }, required: ['a'] }, [{ a: 1 }], [{}]],
  [{ properties: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }]],
  [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ a: 1 }, { b: 1 }], [{}, { c: 1 }]],
  [{ anyOf: [{ required: ['a'] }], required: ['c'] }, [{ a: 1, c: 1 }], [{ a: 1 }, { c: 1 }]],
  [{ allOf: [{ required: ['a'] }], minProperties: 2 }, [{ a: 1, b: 1 }], [{ a: 1 }, { b: 1, c: 1 }]],
  [
    {
      oneOf: [
        { minimum: 5, type: 'number' },
        { maximum: 7, type: 'number' },
      ],
    },
    [4, 8],
    [6, 'x'],
  ],
  [{ enum: ['a', 'b'], minLength: 1 }, ['a'], ['c']],
  [{ additionalProperties: { minimum: 3 } }, [{ a: 3 }, { a: 'x' }], [{ a: 2 }]],
  [{ additionalProperties: false, properties: { a: {} } }, [{ a: 1 }], [{ b: 1 }]],
  [{ items: { minimum: 3 } }, [[3, 'x'], {}], [[2]]],
  [{ $defs: { big: { minimum: 5 } }, properties: { n: { $ref: '#/$defs/big' } } }, [{ n: 6 }], [{ n: 4 }]],
]

test('a keyword without a type holds for the values that it is about, and lets others pass', () => {
  for (const [schema, good, bad] of table) {
    for (const value of good) assert.ok(fits(schema, value), `${JSON.stringify(value)} fits ${JSON.stringify(schema)}`)
    for (const value of bad)
      assert.ok(!fits(schema, value), `${JSON.stringify(value)} does not fit ${JSON.stringify(schema)}`)
  }
})

const name = fc.constantFrom('a', 'b', 'c')
const plain = fc.constantFrom<unknown>(0, 1, 5, -3, 2.5, 'a', 'ab', 'abc1', '', true, false, null)
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plain,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}))
const size = fc.nat(3)
const some = (keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>, type: string) =>
  fc.record(keywords, { requiredKeys: [] }).map((given) => ({ ...given, type }))
const { schema: anySchema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    some({ minLength: size, maxLength: size, pattern: fc.constantFrom('^a', 'b+$', '[0-9]') }, 'string'),
    some({ minimum: size, maximum: size, exclusiveMinimum: size, multipleOf: fc.constantFrom(1, 2) }, 'number'),
    some({ maximum: size }, 'integer'),
    fc.constantFrom<Schema>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'number'], minimum: 1 }),
    fc.record({ enum: fc.array(plain, { minLength: 1, maxLength: 4 }) }),
    fc.record({ const: plain }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 2, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    some({ minItems: size, maxItems: size, uniqueItems: fc.boolean() }, 'array').chain((list) =>
      tie('schema').map((items) => ({ ...list, items })),
    ),
    some({ contains: tie('schema'), minContains: fc.constantFrom(1, 2), maxContains: size }, 'array'),
    some(
      {
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'c$'), tie('schema'), { maxKeys: 2 }),
        propertyNames: fc.constant({ pattern: '[ab]' }),
        minProperties: size,
      },
      'object',
    ),
  ),
}))

test('a schema with types means what it means to zod', async (context) => {
  const property = fc.property(anySchema, fc.array(anyValue, { minLength: 1, maxLength: 8 }), (schema, values) => {
    fc.pre(
      !JSON.stringify(schema).includes('"additionalProperties":{') ||
        !JSON.stringify(schema).includes('"patternProperties"'),
    )
    const theirs = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    assert.equal(schemaProblem(schema), null)
    for (const value of values) {
      assert.equal(validatorOf(schema).fits(value), theirs.safeParse(value).success, JSON.stringify({ schema, value }))
      assert.equal(validatorOf(schema).issuesOf(value).length === 0, theirs.safeParse(value).success)
    }
  })
  await holds(context, property, 2000)
})

test('what cannot be checked in linear time, or at all, is named with its place', () => {
  const refused: readonly (readonly [schema: Schema, path: string, reason: RegExp])[] = [
    [{ properties: { a: { pattern: '(?=a)b' } } }, 'properties.a', /`\(\?=a\)b` is not supported.*\(\?=/],
    [{ patternProperties: { '(a)\\1': {} } }, '', /`\(a\)\\1` is not supported/],
    [{ items: [{ pattern: 'a'.repeat(1001) }] }, 'items.0', /1000 characters, not 1001/],
    [{ pattern: '(a{1000}){1000}' }, '', /repeat count/],
    [
      { anyOf: Array.from({ length: 30 }, (_, index) => ({ pattern: 'a'.repeat(900) + index })) },
      'anyOf.25',
      /too long to compile/,
    ],
    [{ type: 'objekt' }, '', /Unsupported type: objekt/],
    [{ properties: { a: { $ref: '#/$defs/b' } } }, 'properties.a', /Reference not found/],
    [{ $ref: 'https://example.org' }, '', /only a local/],
    [{ allOf: [{ unevaluatedItems: false }] }, 'allOf.0', /`unevaluatedItems` is not supported/],
    [{ not: 4 }, 'not', /a schema is an object/],
  ]
  for (const [schema, path, reason] of refused) {
    assert.equal(schemaProblem(schema)?.path, path, JSON.stringify(schema).slice(0, 100))
    assert.match(schemaProblem(schema)?.reason ?? '', reason)
  }
})

/** A schema whose references branch at each of `length` steps, so that a reader who follows them all never ends. */
function chain(length: number, step: (next: Schema) => Schema): Schema {
  const defs = Array.from({ length }, (_, index) => [
    `d${index}`,
    index === length - 1 ? { type: 'string' } : step({ $ref: `#/$defs/d${index + 1}` }),
  ])
  return { properties: { a: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(defs) as Schema }
}

test('no schema and no value takes more than its share of work', async () => {
  const deep = (depth: number): Schema =>
    depth === 0 ? { type: 'string' } : { anyOf: [deep(depth - 1), deep(depth - 1)] }
  const many = Array.from({ length: 50_000 }, (_, index) => index)
  const alternatives = (one: (index: number) => Schema) => Array.from({ length: 60 }, (_, index) => one(index))
  const attacks: readonly (readonly [schema: Schema, value: unknown, fits: boolean | 'unknown'])[] = [
    [{ pattern: '^(a+)+$' }, `${'a'.repeat(34)}!`, false],
    [{ pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}!`, false],
    [{ pattern: '[ab]*a[ab]{200}c' }, 'ab'.repeat(50_000), 'unknown'],
    [{ $ref: '#' }, 1, 'unknown'],
    [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1, 'unknown'],
    [{ allOf: [{ $ref: '#' }, { $ref: '#' }] }, 1, 'unknown'],
    [{ not: { $ref: '#' } }, 1, 'unknown'],
    [deep(14), 1, false],
    [{ items: deep(12) }, many, 'unknown'],
    [{ uniqueItems: true }, many, true],
    [{ uniqueItems: true }, many.slice(0, 20_000).map((index) => ({ a: 'x'.repeat(10), index })), true],
    [{ items: { enum: many } }, many, true],
    [{ contains: deep(12), minContains: 50_000 }, many, 'unknown'],
    [{ patternProperties: { '^(a|b|ab)*c': {} } }, { ['ab'.repeat(10_000)]: 1 }, true],
    [{ pattern: '[ab]*a[ab]{200}c' }, `${'abbaaabab'.repeat(100)}bc`, true],
    [{ maxLength: 150_000 }, 'x'.repeat(200_000), false],
    [chain(20, (next) => ({ anyOf: [next, next] })), { a: 1 }, 'unknown'],
    [chain(20, (next) => ({ oneOf: [next, next] })), { a: 'x' }, 'unknown'],
    [chain(20, (next) => ({ allOf: [next, next] })), { a: 'x' }, 'unknown'],
    [chain(20, (next) => ({ not: { allOf: [next, next] } })), { a: 'x' }, 'unknown'],
    [chain(20, (next) => Object.fromEntries(['if', 'then', 'else'].map((key) => [key, next]))), { a: 1 }, 'unknown'],
    [chain(20, (next) => ({ anyOf: [next, { propertyNames: next, ...next }] })), { a: 1 }, 'unknown'],
    [{ items: { anyOf: alternatives((index) => ({ const: `c${index}` })) } }, many.map(String), 'unknown'],
    [
      { items: { anyOf: alternatives((index) => ({ required: ['k'], properties: { k: { const: index } } })) } },
      many.map((k) => ({ k: k % 60 })),
      'unknown',
    ],
    [{ items: { oneOf: alternatives((index) => ({ minimum: index })) } }, many, 'unknown'],
    [{ anyOf: alternatives((index) => ({ const: [index] })) }, many, false],
    [
      { patternProperties: { '^a': {}, '^b': {}, z$: {} }, additionalProperties: false },
      Object.fromEntries(many.map((index) => [`a${index}z`, index])),
      'unknown',
    ],
    [{ propertyNames: { pattern: '^a' } }, Object.fromEntries(many.map((index) => [`a${index}`, index])), 'unknown'],
  ]
  for (const [schema, value, fits] of attacks) {
    validatorOf(schema).fits(value) // compiled by now: what is measured is the work
    const what = JSON.stringify(schema).slice(0, 100)
    const { result } = await assertCheap({ total: 100 }, () => validatorOf(schema).fits(value), what)
    assert.equal(result, fits, what)
    if (fits === 'unknown')
      assert.match(validatorOf(schema).issuesOf(value).join(), /^the value cannot be checked: [^,]*$/)
  }
})

test('what zod writes of its own formats can be checked', () => {
  const own = { email: z.email(), duration: z.iso.duration(), hostname: z.hostname(), emoji: z.emoji(), ipv6: z.ipv6() }
  for (const [format, schema] of Object.entries({ ...own, at: z.iso.datetime(), id: z.uuid(), url: z.url() })) {
    const json = z.toJSONSchema(schema) as Schema
    assert.equal(schemaProblem(json), null, format)
    assert.equal(validatorOf(json).fits('?'), false, format)
  }
  assert.equal(validatorOf(z.toJSONSchema(z.email()) as Schema).fits('ada@example.org'), true)
})

test('issues say where, and what was expected, and echo no value', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 5 }, list: { items: { enum: ['a', 'b'] } }, x: { type: 'string' } },
    required: ['x'],
    additionalProperties: false,
  }
  assert.deepEqual(validatorOf(schema).issuesOf({ n: 4, list: ['a', 'secret'], y: 1 }), [
    '`n`: expected number to be >=5',
    '`list.1`: expected one of "a"|"b"',
    '`x`: expected string, got undefined',
    'the value: Unrecognized key: "y"',
  ])
  assert.deepEqual(validatorOf(schema).issuesOf([]), ['the value: expected object, got array'])
  assert.deepEqual(validatorOf({ pattern: '(?=x)' }).issuesOf('x').length, 1)
})
