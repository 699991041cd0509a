/** Bound names are in no schema that a model reads, wherever the tool's own schema has them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { validatorOf } from '../model/json-schema.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { describesName, namesInside, namesOf } from './schema-names.ts'
import { withoutBound } from './without-bound.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

type Schema = Record<string, unknown>

const text = { type: 'string' }
/** The consequence of a condition, as a part of a schema. */
const thenIt = (schema: Schema): Schema => Object.fromEntries([['then', schema]])
const withUser = { type: 'object', properties: { userId: text, a: text }, required: ['userId', 'a'] }

/** Schemas with the bound name; `takes` are arguments that a model may write, `refuses` those that it may not. */
const rows: readonly { title: string; schema: Schema; takes: readonly object[]; refuses?: readonly object[] }[] = [
  { title: 'properties', schema: withUser, takes: [{ a: 'x' }], refuses: [{}] },
  {
    title: 'a discriminated union of zod',
    schema: z.toJSONSchema(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('a'), userId: z.string().describe('Of userId.') }),
        z.object({ kind: z.literal('b'), userId: z.string(), city: z.string() }),
      ]),
      { io: 'input' },
    ),
    takes: [{ kind: 'a' }, { kind: 'b', city: 'x' }],
    refuses: [{ kind: 'b' }, {}],
  },
  { title: 'allOf', schema: { allOf: [withUser, { required: ['userId'] }] }, takes: [{ a: 'x' }], refuses: [{}] },
  {
    title: 'oneOf, told apart by the name alone',
    schema: { properties: { userId: text, city: text }, oneOf: [{ required: ['userId'] }, { required: ['city'] }] },
    takes: [{}, { city: 'x' }],
  },
  {
    title: 'references through definitions, one of them named so',
    schema: {
      $ref: '#/$defs/one',
      $defs: { one: { allOf: [{ $ref: '#/$defs/userId' }] }, userId: withUser, unused: withUser },
    },
    takes: [{ a: 'x' }],
    refuses: [{}],
  },
  {
    title: 'another property of the same definition',
    schema: {
      properties: { userId: text, owner: { $ref: '#/properties/userId' }, b: { $ref: '#/definitions/userId' } },
      definitions: { userId: { type: 'number' } },
    },
    takes: [{ owner: 'x', b: 1 }],
    refuses: [{ owner: 1 }, { b: 'x' }],
  },
  {
    title: 'a condition on the value',
    schema: {
      properties: { reason: text },
      if: { properties: { userId: { const: 'admin' } } },
      ...thenIt({ required: ['reason'] }),
      else: { properties: { other: text } },
    },
    takes: [{}, { reason: 'x' }, { other: 'x' }],
  },
  {
    title: 'a consequence with the name',
    schema: { properties: { a: text }, if: { required: ['a'] }, ...thenIt({ required: ['userId', 'b'] }) },
    takes: [{}, { a: 'x', b: 1 }],
    refuses: [{ a: 'x' }],
  },
  { title: 'not', schema: { properties: { a: text }, not: { required: ['userId'] } }, takes: [{}, { a: 'x' }] },
  {
    title: 'dependencies',
    schema: {
      properties: { a: text, b: text, userId: text },
      dependentRequired: { userId: ['a'], b: ['userId', 'a'] },
      dependentSchemas: { userId: { properties: { b: { minLength: 2 } } }, a: { required: ['userId'] } },
    },
    takes: [{ a: 'x' }, { a: 'x', b: 'xx' }],
    refuses: [{}, { a: 'x', b: 'x' }],
  },
  {
    title: 'patterns and names of properties',
    schema: {
      patternProperties: { '^userId$': text, '^x-': text },
      propertyNames: { enum: ['userId', 'x-1', 'x-2'] },
    },
    takes: [{ 'x-1': 'a' }],
    refuses: [{ 'x-1': 1 }, { other: 'a' }],
  },
  {
    title: 'examples, defaults and constants of the whole',
    schema: {
      properties: { userId: { ...text, default: 'userId', examples: ['u'] }, a: text },
      examples: [{ userId: 'u', a: 'x' }],
      default: { userId: 'u' },
      enum: [{ userId: 'u', a: 'x' }],
      minProperties: 2,
      discriminator: { propertyName: 'userId', mapping: { u: '#/properties/userId' } },
    },
    takes: [{ a: 'x' }],
    refuses: [{ a: 'y' }],
  },
  {
    title: 'a value that refers to itself',
    schema: {
      properties: { userId: text, tree: { $ref: '#/$defs/tree' } },
      $defs: { tree: { type: 'object', properties: { next: { $ref: '#/$defs/tree' } }, additionalProperties: false } },
    },
    takes: [{ tree: { next: { next: {} } } }],
    refuses: [{ tree: { next: 1 } }],
  },
]

describe('[P5] a bound name is in no schema that a model reads', () => {
  for (const { title, schema, takes, refuses = [] } of rows)
    test(title, () => {
      const before = JSON.stringify(schema)
      const shown = withoutBound(schema, new Set(['userId']))
      assert.equal(JSON.stringify(schema), before)
      assert.doesNotMatch(JSON.stringify(shown), /userId/)
      for (const args of takes) assert.deepEqual(validatorOf(shown).issuesOf(args), [], JSON.stringify(args))
      for (const args of refuses) assert.notDeepEqual(validatorOf(shown).issuesOf(args), [], JSON.stringify(args))
    })

  test('a schema without the name stays the same object', () => {
    for (const name of ['other', 'user']) assert.equal(withoutBound(withUser, new Set([name])), withUser)
  })

  test('a schema that refers to itself in its own place ends', () => {
    const schema = { properties: { userId: text }, allOf: [{ $ref: '#' }, { anyOf: [{ $ref: '#/allOf/1' }] }] }
    assert.doesNotMatch(JSON.stringify(withoutBound(schema, new Set(['userId']))), /userId/)
  })

  test('the name of an argument is found through every combination, and through none of its values', () => {
    for (const schema of [
      { oneOf: [{ properties: { kind: text } }, withUser] },
      { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { if: {}, ...thenIt(withUser) } } },
      { patternProperties: { '^user': text } },
    ])
      assert.ok(describesName(schema, 'userId'), JSON.stringify(schema))
    const inside = { properties: { order: { items: { $ref: '#/$defs/a' } } }, $defs: { a: withUser } }
    assert.ok(!describesName(inside, 'userId'))
    assert.deepEqual([...runWithoutPause(namesInside(inside, new Set(['userId'])))], [['userId', 'order.items.userId']])
  })

  test('names of every alternative are listed; what takes other names leaves the schema open', () => {
    const named = { oneOf: [{ properties: { a: text } }, { properties: { b: text } }] }
    assert.deepEqual([[...namesOf(named).listed], namesOf(named).isOpen], [['a', 'b'], false])
    assert.ok(namesOf({ anyOf: [...named.oneOf, { type: 'object' }] }).isOpen)
    for (const additionalProperties of [true, {}, text]) {
      const loose = { properties: { a: text }, additionalProperties }
      assert.ok(namesOf(loose).isOpen, 'a schema that says of other names what they hold takes them')
      assert.ok(namesOf({ oneOf: [...named.oneOf, loose] }).isOpen)
    }
    assert.ok(!namesOf({ properties: { a: text } }).isOpen)
  })

  test('references that fork twenty times and chains of 2,000 cost little', async () => {
    const forks: Schema = { properties: { userId: text }, allOf: [{ $ref: '#/$defs/d0' }] }
    const fork = (index: number) => [{ allOf: [{ $ref: `#/$defs/d${index}` }] }, { $ref: `#/$defs/d${index}` }]
    const defs = Array.from({ length: 20 }, (_, index) => [`d${index}`, { oneOf: fork(index + 1) }])
    forks['$defs'] = Object.fromEntries([...defs, ['d20', withUser]])
    const chain: Schema = { $ref: '#/$defs/d0' }
    const links = Array.from({ length: 2_000 }, (_, index) => [
      `d${index}`,
      { oneOf: [{ $ref: `#/$defs/d${index + 1}` }] },
    ])
    chain['$defs'] = Object.fromEntries([...links, ['d2000', withUser]])
    for (const [schema, most] of [
      [forks, 100],
      [chain, 250],
    ] as const) {
      const { result } = await assertCheap({ total: most }, () => ({
        isDescribed: describesName(schema, 'userId'),
        left: withoutBound(schema, new Set(['userId'])),
      }))
      assert.ok(result.isDescribed)
      assert.doesNotMatch(JSON.stringify(result.left), /userId/)
    }
  })
})
