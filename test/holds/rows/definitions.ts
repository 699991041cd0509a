/** Definitions that clients save: agents and protocols, their schemas and samples. */
import { stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'
import { open } from '../support/said.ts'
import { serve } from './server.ts'

/** Agents of a batch; each is small. */
const batch = (count: number) => ({
  agents: Array.from({ length: count }, (_, at) => ({
    id: `agent-${at}`,
    model: 'play/root',
    instructions: 'You do it.',
    ...(at === 0 ? {} : { subAgents: [{ agent: `agent-${at - 1}` }] }),
  })),
})

type Schema = Readonly<Record<string, unknown>>

/** Schemas of 19 patterns each, all different. */
function patterns(number: number, most: number): readonly Schema[] {
  const one = (at: number) => ({ type: 'string', pattern: `${number}x${at}([\\p{L}\\p{N}]{1,40}){${most}}` })
  return Array.from({ length: 50 }, (_, at) => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 19 }, (_, index) => [`p${index}`, one(19 * at + index)])),
  }))
}

function references(count: number): readonly Schema[] {
  const named = properties(count, () => ({ $ref: '#/$defs/a' }))
  return [{ type: 'object', properties: named, $defs: { a: { type: 'string' } } }]
}

/** Many properties, each of a schema of its own. */
function properties(count: number, one: (at: number) => Schema): Schema {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, one(at)]))
}

/** A name that no model may see, which a check looks for in every schema. */
const hidden = { parameters: [{ name: 'key', secret: true, sendToModel: false }] }

/** The preview of a draft whose actions have these schemas. */
function previewing(what: string, schemas: (number: number) => readonly Schema[]): Row {
  return {
    name: `a preview with ${what}`,
    setUp: async (play) => {
      const runtime = await open(play, { script: () => ({ text: 'Done.' }) })
      const actions = schemas(play.number).map((parametersSchema, at) => ({ name: `act-${at}`, parametersSchema }))
      const draft = { id: 'saved', model: 'play/root', instructions: 'You do it.', actions }
      return () => runtime.agents.preview('saved', { draft })
    },
  }
}

/** The save of an agent whose actions have these schemas. */
function saving(what: string, schemas: (number: number) => readonly Schema[], more: Schema = {}): Row {
  return {
    name: `a save with ${what}`,
    setUp: async (play) => {
      const runtime = await open(play, { script: () => ({ text: 'Done.' }) })
      const actions = schemas(play.number).map((parametersSchema, at) => ({
        name: `act-${at}`,
        description: 'Acts.',
        parametersSchema,
      }))
      const agent = { id: 'saved', model: 'play/root', instructions: 'You do it.', actions, ...more }
      return () => runtime.agents.save(agent).catch(() => undefined)
    },
  }
}

/** The first run of an agent whose action has such a schema: what its model reads of it is made then. */
function running(what: string, parametersSchema: Schema): Row {
  return {
    name: `a run with ${what} beside a hidden name`,
    setUp: async (play) => {
      const runtime = await open(play, { script: () => ({ text: 'Done.' }) })
      await runtime.agents.save({ ...acting({ parametersSchema }), ...hidden })
      const start = { agent: 'saved', prompt: 'Go.', parameters: { key: 'k' } }
      return async () => (await runtime.start(start)).run?.result
    },
  }
}

const many = (count: number, one: unknown) => Array.from({ length: count }, () => one)
const named = (count: number, one: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, one(at)]))
const typed = () => ({ type: 'string', minLength: 1, title: 'a', description: 'b' })

const agent = { id: 'saved', model: 'play/root', instructions: 'You do it.' }
const acting = (more: Schema) => ({ ...agent, actions: [{ name: 'act', description: 'Acts.', ...more }] })
const protocol = (more: Schema) => ({ name: 'saved', messages: [{ name: 'ask', from: 'initiator' }], ...more })

/** Agents within the limits of a body, by what they have: whether each can be saved. */
/** Each begins as all others do, and ends otherwise. */
const callers = many(900, 0).map((_, at) => ['@*', ...['a', 'b', 'c'].map((one) => `role:${one}`), `role:${at}`])

const agents: Readonly<Record<string, readonly [isSaved: boolean, agent: Schema]>> = {
  '98,000 alternatives': [false, acting({ parametersSchema: { type: 'object', anyOf: many(98_000, {}) } })],
  '9,900 properties of four keys': [
    true,
    acting({ parametersSchema: { type: 'object', properties: named(9_900, typed) } }),
  ],
  'a sample of 9,000 objects': [false, acting({ parametersSample: named(9_000, () => named(9, () => 0)) })],
  'a sample of 900 objects': [true, acting({ parametersSample: named(900, () => named(9, () => 0)) })],
  'a sample of an answer of 9,000 objects': [true, { ...agent, outputSample: named(9_000, () => named(9, () => 0)) }],
  'a schema of an answer of 9,900 properties': [
    true,
    { ...agent, outputSchema: { type: 'object', properties: named(9_900, typed) } },
  ],
  'a condition of 9,900 properties': [
    true,
    {
      ...acting({ parametersSample: {} }),
      approvals: [{ tool: 'act', when: { type: 'object', properties: named(9_900, typed) } }],
    },
  ],
  '98,000 tools': [false, { ...agent, tools: many(98_000, 'a') }],
  '98,000 empty actions': [false, { ...agent, actions: many(98_000, {}) }],
  '9,900 unknown keys': [false, { ...agent, ...named(9_900, () => 0) }],
  '4,900 unknown keys': [false, { ...agent, ...named(4_900, () => 0) }],
  '9,900 tools with access for nobody': [false, { ...agent, access: { tools: named(9_900, () => 0) } }],
  '4,900 tools with access for nobody': [false, { ...agent, access: { tools: named(4_900, () => 0) } }],
  '11,000 malformed names that may call it': [false, { ...agent, access: { call: many(110, many(100, '')) } }],
  '98,000 malformed names that may call it': [false, { ...agent, access: { call: many(1_000, many(97, '')) } }],
  '11,000 addresses in other alphabets that may call it': [
    true,
    {
      ...agent,
      access: {
        call: many(110, 0).map((_, at) => many(100, `@a${at}@${'ü'.repeat(9)}.日本.example`)),
      },
    },
  ],
  '11,000 malformed addresses that may call it': [
    false,
    { ...agent, access: { call: many(110, many(100, `@a@${'ü'.repeat(15)}`)) } },
  ],
  '11,000 addresses in other alphabets that may meet its demands': [
    true,
    {
      ...agent,
      demands: many(11, 0).map((_, at) => ({
        ...{ kind: 'consent_required', message: `${'May we? '.repeat(1_200)}${at}` },
        of: many(1_000, `@a${at}@${'ü'.repeat(9)}.日本.example`),
      })),
    },
  ],
  '900 callers of five names, and a tool for each of them': [
    true,
    { ...acting({ parametersSample: {} }), access: { call: callers, tools: { act: callers.toReversed() } } },
  ],
  '98,000 malformed names of parameters': [
    false,
    { ...agent, subAgents: many(200, { agent: 'root', map: named(490, () => 0) }) },
  ],
  '9,900 malformed options of providers': [false, { ...agent, providerOptions: named(9_900, () => 0) }],
  '4,900 malformed options of providers': [false, { ...agent, providerOptions: named(4_900, () => 0) }],
}

const protocols: Readonly<Record<string, readonly [isSaved: boolean, protocol: Schema]>> = {
  'a message of 9,900 properties': [
    true,
    protocol({
      messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object', properties: named(9_900, typed) } }],
    }),
  ],
  'a reply of 98,000 alternatives': [
    true,
    protocol({ messages: [{ name: 'ask', from: 'initiator', reply: { type: 'object', anyOf: many(98_000, {}) } }] }),
  ],
  '9,900 states': [
    false,
    protocol({ order: { start: 'k0', final: ['k1'], states: named(9_900, (at) => ({ ask: `k${at + 1}` })) } }),
  ],
  '98,000 malformed names of states': [
    false,
    protocol({ order: { start: 'k0', final: ['k1'], states: named(490, () => named(200, () => '')) } }),
  ],
}

function sending(
  name: string,
  path: string,
  { status, body, ...more }: { status: number; body: object; method?: string },
): Row {
  return {
    name: `a client sends ${name}`,
    setUp: async (play) => {
      const url = await serve(play)
      const sent = JSON.stringify(body)
      return () => play.outside.send({ url: `${url}${path}`, status, method: 'POST', body: sent, ...more })
    },
  }
}

/** Rows of definitions. */
export const definitions: readonly Row[] = [
  sending('a batch of 500 agents', '/api/v1/agents/batch', { status: 200, body: batch(500) }),
  sending('a batch of 50 agents with 190 properties each', '/api/v1/agents/batch', {
    status: 200,
    body: {
      agents: Array.from({ length: 50 }, (_, at) => ({
        ...acting({ parametersSchema: { type: 'object', properties: named(190, typed) } }),
        id: `saved-${at}`,
      })),
    },
  }),
  ...Object.entries(agents).flatMap(([what, [isSaved, body]]) => [
    sending(`an agent with ${what}`, '/api/v1/agents/saved', { status: isSaved ? 201 : 422, method: 'PUT', body }),
    sending(`an agent to be checked with ${what}`, '/api/v1/check', { status: 200, body: { agents: [body] } }),
    sending(`a draft with ${what}`, '/api/v1/agents/saved/preview', { status: 200, body: { draft: body } }),
  ]),
  sending('a new sub-agent with 9,900 properties of four keys', '/api/v1/agents/root/subagents', {
    status: 201,
    body: { agent: agents['9,900 properties of four keys']?.[1] },
  }),
  ...Object.entries(protocols).flatMap(([what, [isSaved, body]]) => [
    sending(`a protocol with ${what}`, '/api/v1/protocols/saved', { status: isSaved ? 201 : 422, method: 'PUT', body }),
    sending(`a protocol to be checked with ${what}`, '/api/v1/check', {
      status: 200,
      body: { agents: [], protocols: [body] },
    }),
  ]),
  ...['SQLite', 'PostgreSQL'].map(
    (kind): Row => ({
      name: `a client names an agent that a database of 400 large ones does not have, on ${kind}`,
      setUp: async (play) => {
        const store = await stores[kind]?.(play)
        const options = store === undefined ? {} : { store }
        const runtime = await open(play, { script: () => ({ text: 'Done.' }), options })
        const parameters = Array.from({ length: 60 }, (_, at) => ({
          name: `p${at}`,
          type: 'string' as const,
          description: 'b',
        }))
        const actions = Array.from({ length: 40 }, (_, at) => ({
          ...{
            name: `act-${at}`,
            description: 'Acts.',
            parametersSchema: { type: 'object', properties: named(9, typed) },
          },
        }))
        const agents = Array.from({ length: 400 }, (_, at) => ({ ...agent, id: `saved-${at}`, parameters, actions }))
        for (let from = 0; from < agents.length; from += 100)
          await runtime.agents.saveAll(agents.slice(from, from + 100))
        return () => runtime.start({ agent: 'no-such-agent', prompt: 'Go.' }).catch(() => undefined)
      },
    }),
  ),
  ...Object.entries({
    '9,000 references': references(9_000)[0],
    '9,900 properties': { type: 'object', properties: properties(9_900, () => ({ type: 'string' })) },
    '30,000 alternatives': {
      type: 'object',
      anyOf: Array.from({ length: 30_000 }, (_, at) => ({ properties: { [`a${at % 9_000}`]: {} } })),
    },
  }).map(([what, parametersSchema = {}]) =>
    sending(`a draft with ${what} beside a hidden name`, '/api/v1/agents/saved/preview', {
      status: 200,
      body: { draft: { ...acting({ parametersSchema }), ...hidden }, parameters: { key: 'k' } },
    }),
  ),
  ...Object.entries({
    '9,990 alternatives': { properties: { key: {} }, anyOf: many(9_990, {}) },
    '4,990 alternatives of one property': {
      properties: { key: {} },
      anyOf: Array.from({ length: 4_990 }, (_, at) => ({ properties: { [`a${at}`]: {} } })),
    },
    '3,330 alternatives that each name it': {
      anyOf: Array.from({ length: 3_330 }, (_, at) => ({ properties: { key: {}, [`a${at}`]: {} } })),
    },
    '4,990 properties with references': {
      properties: { key: {}, ...properties(4_990, (at) => ({ $ref: `#/$defs/k${at}` })) },
      $defs: named(4_990, () => ({ type: 'string' })),
    },
  }).map(([what, schema]) => running(what, { type: 'object', ...schema })),
  previewing('950 patterns, each dear to compile', (number) => patterns(number, 4)),
  previewing('950 patterns that repeat too often', (number) => patterns(number, 50)),
  saving('18,000 references', () => references(18_000)),
  saving('18,000 references beside a hidden name', () => references(18_000), hidden),
  saving(
    'a schema of 40,000 properties beside a hidden name',
    () => [{ type: 'object', properties: properties(40_000, () => ({ type: 'string' })) }],
    hidden,
  ),
  saving(
    '40,000 properties inside an argument beside a hidden name',
    () => [
      {
        type: 'object',
        properties: { one: { type: 'object', properties: properties(40_000, () => ({ type: 'string' })) } },
      },
    ],
    hidden,
  ),
  saving(
    '40,000 required names inside an argument beside a hidden name',
    () => [
      {
        type: 'object',
        properties: { one: { type: 'object', required: Array.from({ length: 40_000 }, (_, at) => `r${at}`) } },
      },
    ],
    hidden,
  ),
  saving(
    '40,000 alternatives beside a hidden name',
    () => [
      {
        type: 'object',
        anyOf: Array.from({ length: 40_000 }, (_, at) => ({ properties: { [`a${at}`]: { type: 'string' } } })),
      },
    ],
    hidden,
  ),
  {
    name: 'a check of an agent with 1,000 siblings',
    setUp: async (play) => {
      const one = (id: string, more: Schema = {}) => ({
        id,
        model: 'play/root',
        instructions: 'You help.',
        description: 'Helps.',
        ...more,
      })
      const edges = (from: number, count: number, id: string) =>
        Array.from({ length: count }, (_, at) => ({ agent: `${id}-${from + at}`, description: 'Helps.' }))
      const agents = [
        one('top', { subAgents: edges(0, 5, 'middle'), transferReach: 'tree', transfers: edges(0, 5, 'middle') }),
        ...Array.from({ length: 5 }, (_, at) => one(`middle-${at}`, { subAgents: edges(200 * at, 200, 'leaf') })),
        ...Array.from({ length: 1_000 }, (_, at) => one(`leaf-${at}`)),
      ]
      const runtime = await open(play, { script: () => ({ text: 'Done.' }), options: { agents } })
      const leaf = one('leaf-7', { transferReach: 'tree', transfers: edges(8, 100, 'leaf') })
      return () => runtime.agents.check([leaf])
    },
  },
  saving('950 patterns, each dear to compile', (number) => patterns(number, 4)),
  saving('950 patterns that repeat too often', (number) => patterns(number, 50)),
]
