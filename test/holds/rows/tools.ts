/** What a model asks of tools in one reply, and what tools return. */
import { defineTool, type FunctionContext, type Source } from '@witan/core'
import { z } from 'zod'
import type { Row } from '../support/row.ts'
import { open, run, runsAtOnce, type Said, type Stage } from '../support/said.ts'

const plain = { name: 'tell', description: 'Tells.', effect: 'none' } as const

/** One step that calls, and one that ends. */
function calling(
  calls: readonly { readonly name: string; readonly arguments: string }[],
  tools: Stage['options'],
  agent: Stage['agent'] = { tools: ['tell'] },
): Stage {
  const first: Said = { calls }
  return { script: (step) => (step === 0 ? first : { text: 'Done.' }), agent, options: tools ?? {} }
}

const many = (count: number, args: string) => Array.from({ length: count }, () => ({ name: 'tell', arguments: args }))

/** A tool without arguments that returns a value. */
const returning = (value: () => unknown) => ({
  tools: [defineTool({ ...plain, parameters: z.object({}), execute: value })],
})

const keys = (count: number, value: unknown = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))

const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)])

const results: Readonly<Record<string, () => unknown>> = {
  'a Buffer of 8 MB': () => Buffer.alloc(8_000_000, 7),
  'a typed array of 2 MB': () => new Uint8Array(2_000_000),
  'a list of 3 million numbers': () => new Array(3_000_000).fill(1),
  'a list of 600,000 objects': () => Array.from({ length: 600_000 }, () => ({})),
  'an object of 100,000 keys': () => keys(100_000),
  'an object of 100,000 numbers as keys': () =>
    Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [7 * at, 0])),
  'a list of 40 texts of 1 MB': () => new Array(40).fill('a'.repeat(1_000_000)),
  'a text of 20 million characters': () => 'a '.repeat(10_000_000),
  'a text of 20 million line ends': () => '\n'.repeat(20_000_000),
  'brackets of 256,000 characters': () => '['.repeat(256_000),
  'a list 5,000 deep': () => nested(5_000),
  'a list that doubles 22 times': () => {
    let list: unknown = [0]
    for (let at = 0; at < 22; at += 1) list = [list, list]
    return list
  },
  'a list whose `toJSON` is called 300,000 times': () => Array.from({ length: 300_000 }, () => ({ toJSON: () => 1 })),
  'a list of 10 million holes': () => new Array(10_000_000),
  'a value whose `toJSON` never ends': () => {
    const endless: unknown = { toJSON: () => [1, endless] }
    return endless
  },
  'a map of 1 million entries': () => new Map(Array.from({ length: 1_000_000 }, (_, at) => [at, at])),
}

const thrown: Readonly<Record<string, () => unknown>> = {
  'of 20 million characters': () => new Error('a '.repeat(10_000_000)),
  'of 20 million line ends': () => new Error('\n'.repeat(20_000_000)),
}

const price = { kind: 'payment_required', message: 'One euro.' }
const demanded: Readonly<Record<string, () => unknown>> = {
  'of 20 million characters': () => ({ ...price, message: 'a '.repeat(10_000_000) }),
  'of 100,000 keys': () => ({ ...price, data: keys(100_000) }),
  'of 100,000 names of its own': () => ({ ...price, ...keys(100_000) }),
  'of 10 million holes': () => ({ ...price, auth_challenges: new Array(10_000_000) }),
  'of a list 5,000 deep': () => ({ ...price, data: { x: nested(5_000) } }),
  'with a link of 15,000 characters': () => ({ ...price, url: `https://${'a.'.repeat(7_000)}test` }),
}

const hidden = { parameters: [{ name: 'key', secret: true, sendToModel: false }], tools: ['tell'] }

/** A source of queries that answers with rows. */
function rowsOf(rows: readonly object[]): Source {
  return {
    kind: 'source',
    engine: 'sqlite',
    check: async () => ({ ok: true, placeholders: [] }),
    run: async () => ({ ok: true, rows, truncated: false }),
    close: async () => undefined,
  } as unknown as Source
}

/** References that branch twenty times: one check of them does all the work that a check may do. */
const branching = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` }
      return [`d${at}`, at === 19 ? { type: 'string' } : { anyOf: [next, next] }]
    }),
  ),
}

const tell = { name: 'tell', description: 'Does.' }
/** Agents whose action takes one long check for each call. */
const actors = {
  'whose schema branches twenty times': { actions: [{ ...tell, parametersSchema: branching }] },
  'with an approval whose condition branches twenty times': {
    actions: [{ ...tell, parametersSample: { a: 1 } }],
    approvals: [{ tool: 'tell', when: branching }],
  },
}

/** A tool that is tried alone, beside a hidden value. */
function trying(name: string, value: () => unknown, { throws = false } = {}): Row {
  return {
    name,
    setUp: async (play) => {
      const made = value()
      const execute = () => {
        if (throws) throw made
        return made
      }
      const tools = [defineTool({ ...plain, parameters: z.object({}), execute })]
      const runtime = await open(play, { script: () => ({ text: 'Done.' }), agent: hidden, options: { tools } })
      return () => runtime.agents.tools.try('root', 'tell', { request: { parameters: { key: 'employees/3' } } })
    },
  }
}

/** Rows of tools. */
export const tools: readonly Row[] = [
  ...Object.entries(results).map(([what, value]) => trying(`a tool that is tried returns ${what}`, value)),
  ...Object.entries(thrown).map(([what, error]) =>
    trying(`a tool that is tried throws an error ${what}`, error, { throws: true }),
  ),
  ...Object.entries(results).map(
    ([what, value]): Row => ({
      name: `a tool returns ${what}`,
      setUp: (play) => {
        const made = value()
        return run(
          play,
          calling(
            many(1, '{}'),
            returning(() => made),
          ),
        )
      },
    }),
  ),
  ...Object.entries(thrown).flatMap(([what, error]): Row[] => [
    {
      name: `a tool throws an error ${what}`,
      setUp: (play) => {
        const made = error()
        return run(
          play,
          calling(
            many(1, '{}'),
            returning(() => {
              throw made
            }),
          ),
        )
      },
    },
    {
      name: `a tool throws an error ${what} beside a hidden value`,
      setUp: (play) => {
        const made = error()
        return run(play, {
          ...calling(
            many(1, '{}'),
            returning(() => {
              throw made
            }),
            hidden,
          ),
          start: { parameters: { key: 'employees/3' } },
        })
      },
    },
  ]),
  ...Object.entries(demanded).map(
    ([what, value]): Row => ({
      name: `a tool demands something ${what}`,
      setUp: (play) => {
        const made = value()
        const execute = (_: unknown, { demand }: FunctionContext) => demand(made as never)
        return run(
          play,
          calling(many(1, '{}'), { tools: [defineTool({ ...plain, parameters: z.object({}), execute })] }),
        )
      },
    }),
  ),
  {
    name: '90,000 arguments that the tool does not list in one call',
    setUp: (play) =>
      run(
        play,
        calling(
          many(1, JSON.stringify(keys(90_000))),
          returning(() => 'ok'),
        ),
      ),
  },
  {
    name: '9,900 arguments in letters of another script that the tool does not list, beside a bound one',
    setUp: (play) => {
      const tool = defineTool({ ...plain, parameters: z.object({ key: z.string() }), execute: () => 'ok' })
      const written = Object.fromEntries(Array.from({ length: 9_900 }, (_, at) => [`кеу語${at}`, 0]))
      return run(play, {
        ...calling(many(1, JSON.stringify(written)), { tools: [tool] }, { ...hidden }),
        start: { parameters: { key: 'employees/3' } },
      })
    },
  },
  {
    name: '9,900 arguments of a tool that takes any name',
    setUp: (play) => {
      const action = { name: 'tell', description: 'Does.', parametersSchema: { type: 'object' } }
      return run(play, calling(many(1, JSON.stringify(keys(9_900))), {}, { actions: [action] }))
    },
  },
  {
    name: '128 calls with 700 arguments each that the tool does not list',
    setUp: (play) =>
      run(
        play,
        calling(
          many(128, JSON.stringify(keys(700))),
          returning(() => 'ok'),
        ),
      ),
  },
  {
    name: 'a dropped argument that holds 90,000 keys, beside a bound one',
    setUp: (play) => {
      const tool = defineTool({ ...plain, parameters: z.object({ key: z.string() }), execute: () => 'ok' })
      return run(play, {
        ...calling(many(1, JSON.stringify(keys(90, keys(1_000)))), { tools: [tool] }, { ...hidden }),
        start: { parameters: { key: 'employees/3' } },
      })
    },
  },
  {
    name: '128 calls of a tool in one reply',
    setUp: (play) =>
      run(
        play,
        calling(
          many(128, '{}'),
          returning(() => 'ok'),
        ),
      ),
  },
  {
    name: '128 calls of a tool that returns 256,000 characters in one reply',
    setUp: (play) => {
      const long = 'a '.repeat(128_000)
      return run(
        play,
        calling(
          many(128, '{}'),
          returning(() => long),
        ),
      )
    },
  },
  {
    name: '128 calls of a tool that returns a list of 256,000 characters in one reply',
    setUp: (play) => {
      const long = Array.from({ length: 60_000 }, () => 'a')
      return run(
        play,
        calling(
          many(128, '{}'),
          returning(() => long),
        ),
      )
    },
  },
  {
    name: '4,000 calls of tools that do not exist in one reply',
    setUp: (play) =>
      run(
        play,
        calling(
          Array.from({ length: 4_000 }, () => ({ name: 'no_such', arguments: '{}' })),
          returning(() => 'ok'),
        ),
      ),
  },
  {
    name: '128 queries in one reply',
    setUp: (play) => {
      const query = {
        name: 'tell',
        description: 'Reads.',
        source: 'db',
        query: 'SELECT 1 AS one',
        allowModelQueries: true,
        parametersSample: {},
      }
      const rows = Array.from({ length: 200 }, (_, at) => ({ id: at, name: 'a'.repeat(20), more: 'b'.repeat(40) }))
      return run(play, calling(many(128, '{}'), { sources: { db: rowsOf(rows) } }, { queries: [query] }))
    },
  },
  {
    name: '9 calls with 20,000 items each',
    setUp: (play) => {
      const tool = defineTool({
        ...plain,
        parameters: z.object({ items: z.array(z.object({ id: z.number(), name: z.string() })) }),
        execute: () => 'ok',
      })
      const items = Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: 'ab' }))
      return run(play, calling(many(9, JSON.stringify({ items })), { tools: [tool] }))
    },
  },
  ...Object.entries(actors).map(
    ([what, agent]): Row => ({
      name: `128 calls of an action ${what}`,
      setUp: (play) => run(play, calling(many(128, '{"a":1}'), {}, agent)),
    }),
  ),
  ...Object.entries(actors).map(
    ([what, agent]): Row => ({
      name: `40 runs at once, each with a call of an action ${what}`,
      setUp: (play) => runsAtOnce(play, calling(many(1, '{"a":1}'), {}, agent), 40),
    }),
  ),
  {
    name: '40 runs at once, each with an output whose schema branches twenty times',
    setUp: (play) => {
      const agent = { outputSchema: { ...branching, required: ['a'] } }
      return runsAtOnce(play, { script: () => ({ text: '{"a":1}' }), agent }, 40)
    },
  },
  {
    name: '128 calls of an action with 7,000 characters each',
    setUp: (play) => {
      const action = { name: 'tell', description: 'Does.', parametersSample: { text: 'x' } }
      return run(play, calling(many(128, JSON.stringify({ text: 'a\\n'.repeat(2_300) })), {}, { actions: [action] }))
    },
  },
]
