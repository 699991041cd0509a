/** Tests of tool calls in pieces, as different servers cut and number them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ModelRequest } from '../model.ts'
import { addDocument, emptyReply, finishReply } from './openai-compatible-reply.ts'
import { createToolCallCollector } from './openai-compatible-tool-calls.ts'
import { holds } from '../../../../../test/support/seeds.ts'

function collect(pieces: readonly unknown[]): unknown[] {
  const collector = createToolCallCollector((position) => `fresh${position}`)
  for (const piece of pieces) collector.add(piece)
  return collector.finish().calls.map((call) => [call.id, call.name, call.arguments])
}

const piece = (index: number | null, id: string | null, ...[name, args]: readonly unknown[]) => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})

const long = 'a'.repeat(200_000)

const table: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
  [
    'by index, mixed',
    [
      piece(0, 'a', 'f', ''),
      piece(1, 'b', 'g', '{"y"'),
      piece(0, null, undefined, '{"x":'),
      piece(1, null, null, ':2}'),
      piece(0, null, undefined, '1}'),
    ],
    [
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{"y":2}'],
    ],
  ],
  [
    'ids that are missing or empty',
    [piece(0, null, 'f', '{}'), piece(1, '', 'g', '{}')],
    [
      ['fresh0', 'f', '{}'],
      ['fresh1', 'g', '{}'],
    ],
  ],
  ['an id that comes late', [piece(0, null, 'f', ''), piece(0, 'a', undefined, '{}')], [['a', 'f', '{}']]],
  [
    'an id that looks like a made one',
    [piece(0, 'fresh1', 'f', '{}'), piece(1, null, 'g', '{}')],
    [
      ['fresh1', 'f', '{}'],
      ['fresh2', 'g', '{}'],
    ],
  ],
  [
    'an id given twice',
    [piece(0, 'a', 'f', '{}'), piece(1, 'a', 'f', '{}')],
    [
      ['a', 'f', '{}'],
      ['fresh1', 'f', '{}'],
    ],
  ],
  [
    'a name in pieces',
    [piece(0, 'a', 'get_', ''), piece(0, null, 'weather', ''), piece(0, null, '', '{}')],
    [['a', 'get_weather', '{}']],
  ],
  [
    'the name after the arguments began',
    [piece(0, 'a', null, '{"x"'), piece(0, null, 'f', ':1}')],
    [['a', 'f', '{"x":1}']],
  ],
  [
    'the name repeated with every piece',
    [piece(0, 'a', 'f', '{"x"'), piece(0, 'a', 'f', ':'), piece(0, 'a', 'f', '1}')],
    [['a', 'f', '{"x":1}']],
  ],
  [
    'the index repeated, ids differ',
    [piece(0, 'a', 'f', '{"x":1}'), piece(0, 'b', 'f', '{"x":2}')],
    [
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{"x":2}'],
    ],
  ],
  [
    'the index repeated, ids differ, in pieces',
    [
      piece(0, 'a', 'f', ''),
      piece(0, null, undefined, '{}'),
      piece(0, 'b', 'f', ''),
      piece(0, null, undefined, '{"x":2}'),
    ],
    [
      ['a', 'f', '{}'],
      ['b', 'f', '{"x":2}'],
    ],
  ],
  [
    'the index repeated, no ids',
    [piece(0, null, 'f', '{}'), piece(0, null, 'g', '{}'), piece(0, null, 'g', '{"x":2}')],
    [
      ['fresh0', 'f', '{}'],
      ['fresh1', 'g', '{}'],
      ['fresh2', 'g', '{"x":2}'],
    ],
  ],
  [
    'the index and the name repeated, with brackets, quotes and cut escapes in texts',
    [
      piece(0, null, 'f', '{"x":"}'),
      piece(0, null, 'f', '{\\'),
      piece(0, null, undefined, '"}"'),
      piece(0, null, 'f', '{'),
      piece(0, null, 'f', '}'),
      piece(0, null, undefined, '}'),
      piece(0, null, 'f', '{"x":[2]}'),
    ],
    [
      ['fresh0', 'f', '{"x":"}{\\"}"{}}'],
      ['fresh1', 'f', '{"x":[2]}'],
    ],
  ],
  [
    'the index and the name repeated, after long arguments',
    [piece(0, null, 'f', `{"x":"${long}"}`), piece(0, null, 'f', '{"x":2}')],
    [
      ['fresh0', 'f', `{"x":"${long}"}`],
      ['fresh1', 'f', '{"x":2}'],
    ],
  ],
  [
    'no index, whole calls',
    [piece(null, 'a', 'f', '{}'), piece(null, 'b', 'f', '{}')],
    [
      ['a', 'f', '{}'],
      ['b', 'f', '{}'],
    ],
  ],
  [
    'no index, no ids',
    [piece(null, null, 'f', '{}'), piece(null, null, 'f', '{"x":2}')],
    [
      ['fresh0', 'f', '{}'],
      ['fresh1', 'f', '{"x":2}'],
    ],
  ],
  [
    'no index, in pieces',
    [piece(null, 'a', 'f', ''), piece(null, null, undefined, '{"x":'), piece(null, 'a', undefined, '1}')],
    [['a', 'f', '{"x":1}']],
  ],
  [
    'a new id with every piece',
    [piece(0, 'a', 'f', ''), piece(0, 'b', undefined, '{"x":'), piece(0, 'c', null, '1}')],
    [['a', 'f', '{"x":1}']],
  ],
  [
    'arguments that are empty, missing or null',
    [piece(0, 'a', 'f', ''), piece(1, 'b', 'f'), piece(2, 'c', 'f', null)],
    [
      ['a', 'f', '{}'],
      ['b', 'f', '{}'],
      ['c', 'f', '{}'],
    ],
  ],
  ['arguments as an object', [piece(0, 'a', 'f', { x: 1 })], [['a', 'f', '{"x":1}']]],
  ['arguments that are no JSON', [piece(0, 'a', 'f', '{"x":')], [['a', 'f', '{"x":']]],
  ['empty entries and rubbish', [null, 3, {}, piece(0, 'a', '', ''), { index: 1, function: null }], []],
]

for (const [name, pieces, expected] of table) {
  test(`tool calls: ${name}`, () => assert.deepEqual(collect(pieces), expected))
}

test('calls cut anywhere and mixed by index come out whole', async (context) => {
  const call = fc.record({
    name: fc.stringMatching(/^[a-z]{1,8}$/),
    args: fc.jsonValue().map((x) => JSON.stringify({ x })),
    cuts: fc.array(fc.nat(100), { maxLength: 6 }),
  })
  await holds(
    context,
    fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), fc.infiniteStream(fc.nat(4)), (calls, choices) => {
      const queues = calls.map(({ name, args, cuts }, index) => {
        const borders = [...new Set([0, ...cuts.map((cut) => cut % args.length), args.length])].sort((a, b) => a - b)
        const texts = borders.slice(1).map((to, at) => args.slice(borders[at], to))
        return [piece(index, `id${index}`, name, ''), ...texts.map((text) => piece(index, null, undefined, text))]
      })
      const pieces = queues.map((queue) => queue.shift())
      for (const choice of choices) {
        const open = queues.filter((queue) => queue.length > 0)
        if (open.length === 0) break
        pieces.push(open[choice % open.length]?.shift())
      }
      assert.deepEqual(
        collect(pieces),
        calls.map(({ name, args }, index) => [`id${index}`, name, args]),
      )
    }),
    100,
  )
})

test('tens of thousands of calls without an index are read in time', { timeout: 10_000 }, () => {
  const pieces = Array.from({ length: 60_000 }, (_, at) => ({
    id: `id${at}`,
    function: { name: 'f', arguments: '{}' },
  }))
  assert.equal(collect(pieces).length, 60_000)
})

test('tens of thousands of calls without an id get one each in time', { timeout: 10_000 }, () => {
  const toolCalls = Array.from({ length: 30_000 }, (_, at) => ({ id: `call_${at}`, name: 'f', arguments: '{}' }))
  const messages = [{ role: 'assistant', content: '', toolCalls }] as const
  const request: ModelRequest = {
    messages,
    tools: [],
    toolChoice: 'none',
    temperature: null,
    reasoningEffort: null,
    output: null,
  }
  const reply = emptyReply(false)
  const tool_calls = toolCalls.slice(0, 10_000).map(() => ({ function: { name: 'f', arguments: '' } }))
  addDocument(reply, { choices: [{ message: { tool_calls } }] }, request)
  const ids = new Set(finishReply(reply, '').toolCalls.map(({ id }) => id))
  assert.equal(ids.size, 10_000)
  assert.ok(toolCalls.every(({ id }) => !ids.has(id)))
})
