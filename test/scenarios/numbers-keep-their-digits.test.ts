/** A number that JavaScript would change reaches what takes a text digit for digit, and is refused by name by what takes a number. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type QuerySource } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { play } from '../support/compatible-call.ts'
import { eventStream, chunk, jsonAnswer } from '../support/fake-provider.ts'
import { type AgentDraft, createStage } from '../support/stage.ts'

const numbers = ['2512292042121000001', '-9007199254740993', '18446744073709551615', '1e400', '1e-400']
const refusal = 'a number whose digits only a string keeps'

const object = (id: object) => ({ type: 'object', properties: { id }, required: ['id'] })
const string = { type: 'string' }
const whole = { type: 'integer' }

/** What a tool took, or what its model was told. */
type Taken = { readonly took: unknown } | { readonly told: string }

/** Lets the model of `root` call `name` with a number as `id`; `took` collects what the call was given. */
async function called(
  root: AgentDraft,
  {
    name,
    number,
    took,
    agents = [],
    options = {},
  }: {
    readonly name: string
    readonly number: string
    readonly took: unknown[]
    readonly agents?: readonly AgentDraft[]
    readonly options?: NonNullable<Parameters<typeof createStage>[0]['options']>
  },
): Promise<Taken> {
  const stage = createStage({
    agents: [root, ...agents],
    plays: {
      root: (request) => toolResults(request)[0] ?? call(name, `{"id":${number}}`),
      child: () => 'done',
    },
    options,
  })
  try {
    const result = await stage.ask('root', 'Go.')
    const [waiting] = result.interruptions
    if (waiting?.kind === 'action') took.push((waiting.arguments as { id: unknown }).id)
    return took.length > 0 ? { took: took[0] } : { told: result.text }
  } finally {
    await stage.runtime.close()
  }
}

function viaTool(parameters: z.ZodType) {
  return (number: string) => {
    const took: unknown[] = []
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters,
      execute: (args) => void took.push((args as { id: unknown }).id),
    })
    return called({ id: 'root', tools: ['look'] }, { name: 'look', number, took, options: { tools: [tool] } })
  }
}

function viaAction(schema: object) {
  const actions = [{ name: 'Look', description: 'Looks.', parametersSchema: object(schema) }]
  return (number: string) => called({ id: 'root', actions } as AgentDraft, { name: 'Look', number, took: [] })
}

function viaQuery(schema: object) {
  return (number: string) => {
    const took: unknown[] = []
    const shop: QuerySource = {
      kind: 'fake',
      check: async () => ({ ok: true, placeholders: ['id'] }),
      run: async ({ bindings }) => {
        took.push(bindings.get('id'))
        return { ok: true, rows: [], truncated: false }
      },
      close: async () => {},
    }
    const queries = [{ name: 'look', source: 'shop', query: 'select $id', parametersSchema: object(schema) }]
    const options = { sources: { shop } }
    return called({ id: 'root', queries } as AgentDraft, { name: 'look', number, took, options })
  }
}

function viaSubAgent(type: 'string' | 'number' | 'any' | 'number[]') {
  return async (number: string): Promise<Taken> => {
    const took: unknown[] = []
    const tool = defineTool({
      name: 'tell',
      description: 'Tells.',
      parameters: z.object({}),
      execute: (_, { parameters }) => void took.push(parameters['id']),
    })
    const child: AgentDraft = { id: 'child', tools: ['tell'], parameters: [{ name: 'id', type }] }
    const root: AgentDraft = { id: 'root', subAgents: [{ agent: 'child' }] }
    const stage = createStage({
      agents: [root, child],
      plays: {
        root: (request) =>
          toolResults(request)[0] ??
          call('child', `{"message":"x","id":${type === 'number[]' ? `[1,${number}]` : number}}`),
        child: (request) => toolResults(request)[0] ?? call('tell'),
      },
      options: { tools: [tool] },
    })
    const { text } = await stage.ask('root', 'Go.')
    await stage.runtime.close()
    return took.length > 0 ? { took: [took[0]].flat().at(-1) } : { told: text }
  }
}

function viaOutput(schema: object, outputMode: 'native' | 'tool') {
  return async (number: string): Promise<Taken> => {
    const root = {
      id: 'root',
      outputSchema: object(schema),
      ...(outputMode === 'tool' ? { outputMode } : {}),
    } as AgentDraft
    const told: string[] = []
    const stage = createStage({
      agents: [root],
      plays: {
        root: (request) => {
          told.push(JSON.stringify(request.messages))
          const json = `{"id":${number}}`
          return request.tools.some(({ name }) => name === 'set_output') ? call('set_output', json) : json
        },
      },
    })
    const { output, error } = await stage.ask('root', 'Go.')
    await stage.runtime.close()
    if (output !== null && output !== undefined) return { took: (output as { id: unknown }).id }
    return { told: `${JSON.stringify(error)} ${told.join(' ')}` }
  }
}

type Door = readonly [name: string, takes: boolean, enter: (number: string) => Promise<Taken>]

const doors: readonly Door[] = [
  ['a function tool that takes a string', true, viaTool(z.object({ id: z.string() }))],
  ['a function tool that takes anything', true, viaTool(z.object({ id: z.unknown() }))],
  ['a function tool that takes either', true, viaTool(z.object({ id: z.union([z.number(), z.string()]) }))],
  ['a function tool that takes any name', true, viaTool(z.looseObject({}))],
  [
    'a function tool that takes any other name, a string',
    true,
    viaTool(z.object({ on: z.string().optional() }).catchall(z.string())),
  ],
  ['a function tool that takes any name, a number', false, viaTool(z.object({}).catchall(z.number()))],
  ['a function tool that takes a number', false, viaTool(z.object({ id: z.number() }))],
  ['a function tool that takes an integer', false, viaTool(z.object({ id: z.int() }))],
  ['an action that takes a string', true, viaAction(string)],
  ['an action that takes anything', true, viaAction({})],
  ['an action that takes an integer', false, viaAction(whole)],
  ['an action that takes an integer or null', false, viaAction({ anyOf: [whole, { type: 'null' }] })],
  ['a query that takes a string', true, viaQuery(string)],
  ['a query that takes either', true, viaQuery({ type: ['integer', 'string'] })],
  ['a query that takes an integer', false, viaQuery(whole)],
  ['a parameter of a sub-agent, a string', true, viaSubAgent('string')],
  ['a parameter of a sub-agent, any', true, viaSubAgent('any')],
  ['a parameter of a sub-agent, a number', false, viaSubAgent('number')],
  ['a parameter of a sub-agent, a list of numbers', false, viaSubAgent('number[]')],
  ['a structured answer with a string', true, viaOutput(string, 'native')],
  ['a structured answer with an integer', false, viaOutput(whole, 'native')],
  ['a structured answer in a call, a string', true, viaOutput(string, 'tool')],
  ['a structured answer in a call, an integer', false, viaOutput(whole, 'tool')],
]

for (const [name, takes, enter] of doors)
  test(`${name} ${takes ? 'gets every digit' : 'is refused by name'}`, async () => {
    for (const number of numbers) {
      const taken = await enter(number)
      if (takes) assert.deepEqual(taken, { took: number })
      else
        assert.ok('told' in taken && taken.told.includes(refusal) && /\bid\b/.test(taken.told), JSON.stringify(taken))
    }
    if (!takes) assert.deepEqual(await enter('9007199254740991'), { took: 9007199254740991 })
  })

test('arguments that a server sends as an object keep their digits', async () => {
  for (const number of numbers) {
    const toolCall = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: { id: '@number' } } }
    const streamed = eventStream([chunk({ tool_calls: [toolCall] }), chunk({}, 'tool_calls')])
    const plain = jsonAnswer({
      choices: [{ index: 0, message: { role: 'assistant', tool_calls: [toolCall] }, finish_reason: 'tool_calls' }],
    })
    for (const answer of [streamed, plain]) {
      const chunks = answer.chunks.map((one) => (typeof one === 'string' ? one.replace('"@number"', number) : one))
      const { reply } = await play({ ...answer, chunks })
      assert.deepEqual(JSON.parse(reply?.toolCalls[0]?.arguments ?? ''), { id: number })
    }
  }
})

test('a result that is a text reaches the model as it is', async () => {
  const json = `{"id":${numbers[0]},"rows":[${numbers.join(',')}]}`
  const read = defineTool({ name: 'read', description: 'Reads.', parameters: z.object({}), execute: () => json })
  const stage = createStage({
    agents: [{ id: 'root', tools: ['read'] }],
    plays: { root: (request) => toolResults(request)[0] ?? call('read') },
    options: { tools: [read] },
  })
  assert.equal((await stage.ask('root', 'Go.')).text, json)
  await stage.runtime.close()
})

test('[Fb06] a condition about a number asks where the number was read as text', async () => {
  for (const [number, asks] of [
    ['9007199254740993', true],
    ['1e400', true],
    ['-9007199254740993', false],
    ['"9007199254740993"', true],
    ['7', false],
  ] as const) {
    const when = { properties: { id: { type: 'number', minimum: 500 } }, required: ['id'] }
    const actions = [{ name: 'Pay', description: 'Pays.', parametersSchema: object({}) }]
    const stage = createStage({
      agents: [{ id: 'root', actions, approvals: [{ tool: 'Pay', when }] }],
      plays: { root: () => call('Pay', `{"id":${number}}`) },
    })
    const { interruptions } = await stage.ask('root', 'Go.')
    assert.equal(interruptions[0]?.kind, asks ? 'approval' : 'action', number)
    await stage.runtime.close()
  }
})
