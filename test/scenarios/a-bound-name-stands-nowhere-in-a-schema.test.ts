/** A value that is bound reaches a tool wherever its schema has the name, and no model reads that name. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineTool, type FunctionToolDefinition } from '@witan/core'
import { call } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { z } from 'zod'
import { createStage } from '../support/stage.ts'

type Parameters = Pick<FunctionToolDefinition<unknown>, 'parameters' | 'jsonSchema'>
type Json = Record<string, unknown>

/** Takes everything, as a validator that is more lenient than its JSON Schema does. */
const lenient = {
  '~standard': { version: 1, vendor: 'any', validate: (value: unknown) => ({ value }) },
} as FunctionToolDefinition<unknown>['parameters']

const text = { type: 'string' }
const consequence: Json = Object.fromEntries([['then', { properties: { userId: text } }]])

/** What the model writes, and what the function gets. */
const rows: readonly { title: string; of: Parameters; writes: Json; gets: Json }[] = [
  {
    title: 'a discriminated union whose alternatives all have the name',
    of: {
      parameters: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('one'), userId: z.string() }),
        z.object({ kind: z.literal('two'), userId: z.string(), city: z.string() }),
      ]),
    },
    writes: { kind: 'two', city: 'Rome', userId: 'forged', other: 1 },
    gets: { kind: 'two', city: 'Rome', userId: 'u-1' },
  },
  {
    title: 'alternatives that refuse other names, with it',
    of: {
      parameters: z.union([
        z.strictObject({ kind: z.literal('one') }),
        z.strictObject({ kind: z.literal('two'), userId: z.string() }),
      ]),
    },
    writes: { kind: 'two' },
    gets: { kind: 'two', userId: 'u-1' },
  },
  {
    title: 'alternatives that refuse other names, without it',
    of: {
      parameters: z.union([
        z.strictObject({ kind: z.literal('one') }),
        z.strictObject({ kind: z.literal('two'), userId: z.string() }),
      ]),
    },
    writes: { kind: 'one' },
    gets: { kind: 'one' },
  },
  {
    title: 'an intersection',
    of: { parameters: z.intersection(z.object({ a: z.string() }), z.object({ userId: z.string() })) },
    writes: { a: 'x', userId: 'forged' },
    gets: { a: 'x', userId: 'u-1' },
  },
  {
    title: 'allOf and a reference beside a lenient validator',
    of: {
      parameters: lenient,
      jsonSchema: {
        allOf: [{ $ref: '#/$defs/base' }, { properties: { a: text }, required: ['a'] }],
        $defs: { base: { type: 'object', properties: { userId: text }, required: ['userId'] } },
      },
    },
    writes: { a: 'x', userId: 'forged' },
    gets: { a: 'x', userId: 'u-1' },
  },
  {
    title: 'a condition',
    of: {
      parameters: lenient,
      jsonSchema: { properties: { a: text }, if: { required: ['a'] }, ...consequence },
    },
    writes: { a: 'x', UserId: 'forged' },
    gets: { a: 'x', userId: 'u-1' },
  },
]

const hidden = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const

describe('[P5] [C19] the name of a hidden value', () => {
  for (const { title, of, writes, gets } of rows)
    test(title, async () => {
      const ran: unknown[] = []
      const execute = (args: unknown) => {
        ran.push(args)
        return 'done'
      }
      const tool = defineTool({ name: 'act', description: 'Acts.', ...of, execute } as FunctionToolDefinition<unknown>)
      const stage = createStage({
        agents: [{ id: 'root', parameters: [hidden], tools: ['act'] }],
        plays: { root: [call('act', writes), 'end'] },
        options: { tools: [tool] },
      })
      await stage.ask('root', 'go', { parameters: { userId: 'u-1' } })
      assert.deepEqual(ran, [gets])
      assert.doesNotMatch(JSON.stringify(stage.requests[0]?.tools), /userId/i)
      await stage.runtime.close()
    })

  test('inside an argument it is refused by name', async () => {
    const inside = {
      type: 'object',
      properties: { order: { $ref: '#/$defs/order' } },
      $defs: {
        order: { type: 'object', properties: { lines: { type: 'array', items: { properties: { userId: text } } } } },
      },
    }
    const tool = defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: lenient,
      jsonSchema: inside,
      execute: () => 1,
    })
    const stage = createStage({ agents: [{ id: 'root' }], plays: {}, options: { tools: [tool] } })
    const actions = [{ name: 'Do', parametersSchema: inside }]
    const queries = [{ name: 'read', source: 'shop', query: 'select 1', parametersSchema: inside }]
    for (const more of [{ actions }, { tools: ['act'] }, { queries }]) {
      const agent = { id: 'root', model: 'play/model', instructions: 'x', parameters: [hidden], ...more }
      const { errors } = await stage.runtime.agents.check([agent])
      const found = errors.find(({ code }) => code === 'NAME_TAKEN')
      assert.match(found?.detail ?? '', /`userId` is a hidden parameter of `root`, and `order\.lines\.items\.userId`/)
      const saved = await stage.runtime.agents.save(agent).catch((error: unknown) => error)
      assert.ok(isWitanError(saved) && ['NAME_TAKEN', 'SOURCE_UNKNOWN'].includes(saved.code))
      const open = { ...agent, queries: [], parameters: [{ name: 'userId' }] }
      assert.deepEqual((await stage.runtime.agents.check([open])).errors, [])
    }
    await stage.runtime.close()
  })
})
