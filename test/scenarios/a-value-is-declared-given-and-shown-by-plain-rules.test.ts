/** Parameters and values: what a declaration says, how a value is given, and how a model reads of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect, isDeepStrictEqual } from 'node:util'
import { defineTool } from '@witan/core'
import { call, systemText } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, createStage, type Stage } from '../support/stage.ts'

type Parameters = NonNullable<AgentDraft['parameters']>
type Types = NonNullable<Parameters[number]['type']>

/** A root above a leaf whose tool tells what was bound; the leaf's arguments are the root's to write. */
function staged(root: Parameters, leaf: Parameters, args: Readonly<Record<string, unknown>> = {}) {
  const got: unknown[] = []
  const record = defineTool({
    name: 'record',
    description: 'Records.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { parameters }) => {
      got.push({ ...parameters })
      return 'ok'
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', parameters: root, subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: leaf, tools: ['record'] },
    ],
    plays: {
      root: (_, turn) => (turn === 0 ? call('leaf', { message: 'go', ...args }) : 'done'),
      leaf: (_, turn) => (turn === 0 ? call('record') : 'done'),
    },
    options: { tools: [record] },
  })
  return { stage, got }
}

const systemOf = (stage: Stage, id: string, nth = -1) => {
  const request = stage.seenBy(id).at(nth)
  return request === undefined ? '' : systemText(request)
}

test('[R43] a parameter has a name, a type, a description, whether it is shown, and a policy', async () => {
  const described = { name: 'city', type: 'string[]', description: 'Where to look.' } as const
  const asked = staged([], [described], { city: ['Oslo'] })
  await asked.stage.ask('root', 'hello')
  const schema = asked.stage.seenBy('root')[0]?.tools[0]?.parameters as { properties: Record<string, unknown> }
  assert.deepEqual(schema.properties['city'], {
    type: 'array',
    items: { type: 'string' },
    description: 'Where to look.',
  })
  assert.deepEqual(asked.got, [{ city: ['Oslo'] }])

  const typed = staged([], [described])
  await assert.rejects(typed.stage.ask('root', 'hello', { parameters: { city: 'Oslo' } }), { code: 'PARAM_TYPE' })

  const trusted = staged([], [{ ...described, policy: 'forbidModelGeneration' }], { city: ['Oslo'] })
  assert.equal((await trusted.stage.ask('root', 'hello')).error?.code, 'MISSING_AGENT_PARAMETER')

  for (const sendToModel of [true, false]) {
    const { stage } = staged([], [{ ...described, sendToModel }])
    await stage.ask('root', 'hello', { parameters: { city: ['Bergen'] } })
    assert.equal(systemOf(stage, 'leaf').includes('Bergen'), sendToModel)
  }
  const { runtime } = asked.stage
  assert.deepEqual((await runtime.agents.get('leaf')).parameters, [
    { ...described, sendToModel: true, policy: null, secret: false },
  ])
  for (const odd of [{ type: 'object' }, { policy: 'guess' }, { visible: true }, { name: 'a b' }, { name: undefined }])
    await assert.rejects(
      runtime.agents.save({ ...(await runtime.agents.get('leaf')), parameters: [{ ...described, ...odd } as never] }),
      ({ code }: { code: string }) => code === 'AGENT_INVALID' || code === 'UNKNOWN_KEY' || code === 'ID_INVALID',
      JSON.stringify(odd),
    )
})

test('[R40] [Rb16] a value is given bare or with its visibility, and hiding it is said there', async () => {
  const declared = [{ name: 'key' }]
  const forms = [
    ['cny-3', true],
    [{ value: 'cny-3' }, true],
    [{ value: 'cny-3', sendToModel: true }, true],
    [{ value: 'cny-3', sendToModel: false }, false],
  ] as const
  for (const [form, shown] of forms) {
    const { stage, got } = staged(declared, declared)
    await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: form } })
    await stage.runtime.conversation('root', { parameters: { key: form } }).run('hello')
    assert.deepEqual(got, [{ key: 'cny-3' }, { key: 'cny-3' }], 'whoever executes has the value in either form')
    for (const id of ['root', 'leaf']) {
      for (const nth of [0, -1]) {
        const line = shown ? 'key = "cny-3"' : 'key: supplied by the system'
        assert.equal(systemOf(stage, id, nth), `You are ${id}.\n${line}`, JSON.stringify(form))
      }
    }
    assert.equal(JSON.stringify(stage.requests).includes('cny-3'), shown)
    const { parameters } = await stage.document('chats/1')
    assert.deepEqual(parameters['key'], shown ? { value: 'cny-3', sendToModel: true } : { sendToModel: false })
  }
  // Hiding belongs to the value: there is no other place that says so, and nothing else in its place is one.
  const { stage } = staged(declared, declared)
  for (const parameters of [
    { key: { value: 'cny-3', sendToModel: false, more: 1 } },
    { key: { value: 'cny-3', sendToModel: 'no' } },
    { key: { sendToModel: false } },
    { key: { value: { deep: 1 } } },
  ])
    await assert.rejects(stage.ask('root', 'hello', { parameters }), { code: 'PARAM_TYPE' }, JSON.stringify(parameters))
  await assert.rejects(stage.ask('root', 'hello', { parameters: { key: 'x' }, sendToModel: false }), {
    code: 'UNKNOWN_KEY',
  })
})

/** By type: what fits it, and what does not. What is not in JSON can only come from code. */
const values: Readonly<Record<Types, readonly [fits: readonly unknown[], others: readonly unknown[]]>> = {
  string: [
    ['', 'x'],
    [1, true, null, ['x'], {}, undefined],
  ],
  number: [
    [0, -1.5, 1e21],
    ['1', true, null, [1], Number.NaN, Number.POSITIVE_INFINITY],
  ],
  boolean: [
    [true, false],
    ['true', 0, null, [true]],
  ],
  null: [[null], ['null', '', 0, false, [], undefined]],
  'string[]': [
    [[], ['a', '']],
    ['a', [1], ['a', 1], [['a']], [null], { 0: 'a' }],
  ],
  'number[]': [
    [[], [1, 2.5]],
    [1, ['1'], [1, '1'], [[1]], [Number.NaN], [{}]],
  ],
  'boolean[]': [
    [[], [true, false]],
    [true, ['true'], [true, 0], [[true]]],
  ],
  any: [
    ['x', 1, false, null, [], ['a'], [1], [true]],
    [{}, { a: 1 }, [1, 'a'], [['a']], [null], [{}], Number.NaN, undefined],
  ],
}

test('[Rb15] a value has the declared type, whoever gives it: a caller is refused, a model reads why', async () => {
  for (const [type, [fits, others]] of Object.entries(values)) {
    const declared = [{ name: 'what', type: type as Types }]
    for (const value of fits) {
      const { stage, got } = staged(declared, declared)
      await stage.ask('root', 'hello', { parameters: { what: value } })
      assert.deepEqual(got, [{ what: value }], `${type} ${JSON.stringify(value)}`)
      const made = staged([], declared, { what: value })
      await made.stage.ask('root', 'hello')
      assert.deepEqual(made.got, [{ what: value }], `${type} ${JSON.stringify(value)} of a model`)
    }
    for (const value of others) {
      const of = `${type} ${inspect(value)}`
      for (const parameters of [{ what: value }, { what: { value, sendToModel: false } }])
        await assert.rejects(
          staged(declared, []).stage.ask('root', 'hello', { parameters }),
          { code: 'PARAM_TYPE' },
          of,
        )
      // The type counts where it is declared, also if that is below the root.
      await assert.rejects(staged([], declared).stage.ask('root', 'hello', { parameters: { what: value } }), {
        code: 'PARAM_TYPE',
      })
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify({ value })), { value })) continue
      const { stage, got } = staged([], declared, { what: value })
      assert.equal((await stage.ask('root', 'hello')).status, 'completed', of)
      assert.deepEqual([got, stage.seenBy('leaf').length], [[], 0], of)
      assert.match(stage.seenBy('root').at(-1)?.messages.at(-1)?.content ?? '', /^\{"error":".*`what(\.0|\.1)?`/, of)
    }
  }
})

test('[Rb10] a child is handed what it declares, and nothing else that its caller has', async () => {
  const names = ['a', 'b', 'c', 'd']
  const { stage, got } = staged(
    names.slice(0, 3).map((name) => ({ name })),
    [{ name: 'b' }, { name: 'd' }],
    { a: 'from the model' },
  )
  const parameters = Object.fromEntries(names.map((name) => [name, `value ${name}`]))
  await assert.rejects(stage.ask('root', 'hello', { parameters: { ...parameters, e: 'x' } }), { code: 'PARAM_UNKNOWN' })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters })
  assert.deepEqual(got, [{ b: 'value b', d: 'value d' }])
  assert.equal(systemOf(stage, 'leaf'), 'You are leaf.\nb = "value b"\nd = "value d"')
  assert.deepEqual(Object.keys((await stage.document('chats/1/leaf')).parameters), ['b', 'd'])
  const start = (await stage.events('chats/1')).find(({ type, author }) => type === 'start' && author === 'leaf')
  assert.deepEqual(start?.content['parameters'], { b: 'value b', d: 'value d' })
  assert.doesNotMatch(JSON.stringify(stage.seenBy('leaf')), /value [ac]|from the model/)
})

test('[Rb12] of a hidden parameter the model reads its name, and neither type, description nor value', async () => {
  const hidden = {
    name: 'secretKey',
    type: 'number',
    description: 'The badge of the caller.',
    sendToModel: false,
  } as const
  const { stage, got } = staged([hidden], [hidden])
  await stage.ask('root', 'hello', { parameters: { secretKey: 424242 } })
  assert.deepEqual(got, [{ secretKey: 424242 }])
  for (const id of ['root', 'leaf']) {
    assert.equal(systemOf(stage, id), `You are ${id}.\nsecretKey: supplied by the system`)
    const [first] = stage.seenBy(id)
    assert.deepEqual(JSON.stringify(first).match(/secretKey/g)?.length, 1)
    assert.doesNotMatch(JSON.stringify(first), /badge|number|424242/)
  }
})

test('[Rb13] visible values stand once, below the instructions, in every request', async () => {
  const declared = [{ name: 'country' }, { name: 'count', type: 'number' }] as const
  const { stage } = staged([...declared], [...declared])
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { country: 'Norway', count: 31415 } })
  await stage.run('chats/1', { prompt: 'again' })
  assert.equal(stage.requests.length, 8)
  for (const request of stage.requests) {
    const system = systemText(request)
    assert.match(system, /^You are (root|leaf)\.\ncountry = "Norway"\ncount = 31415$/)
    const rest = JSON.stringify(request.messages.slice(1))
    assert.doesNotMatch(rest, /Norway|31415/)
    assert.equal(request.messages.filter(({ role }) => role === 'system').length, 1)
  }
})

test('[Rb14] a visible parameter of the root that is missing refuses the start; a hidden one does not', async () => {
  const visible = [{ name: 'country' }, { name: 'key', sendToModel: false }]
  const { stage, got } = staged(visible, [{ name: 'key', sendToModel: false }, { name: 'topic' }], {
    key: 'k',
    topic: 't',
  })
  for (const parameters of [{}, { key: 'x' }, { topic: 'x' }]) {
    for (const more of [{ prompt: 'hello' }, {}]) {
      await assert.rejects(stage.runtime.start({ agent: 'root', id: 'chats/1', parameters, ...more }), {
        code: 'PARAM_MISSING',
        path: 'parameters.country',
      })
    }
  }
  await assert.rejects(stage.runtime.getConversation('chats/1'), { code: 'NOT_FOUND' })
  assert.equal(stage.requests.length, 0)
  // Neither the hidden one nor the visible one of the child is asked for.
  const result = await stage.ask('root', 'hello', { id: 'chats/1', parameters: { country: 'NO' } })
  assert.equal(result.status, 'completed')
  assert.deepEqual(got, [{ key: 'k', topic: 't' }])
})

test('[Rb15] [E17] a value has the type of whoever takes it, under whatever name, and of nobody whom an edge cuts off', async () => {
  const agents: AgentDraft[] = [
    {
      id: 'root',
      parameters: [
        { name: 'count', type: 'number' },
        { name: 'id', type: 'any' },
      ],
      subAgents: [
        { agent: 'mid', map: { key: 'id' } },
        { agent: 'apart', map: { count: null } },
      ],
    },
    { id: 'mid', parameters: [{ name: 'key', type: 'any' }], subAgents: [{ agent: 'leaf' }] },
    { id: 'leaf', parameters: [{ name: 'key', type: 'string[]' }] },
    { id: 'apart', parameters: [{ name: 'count', type: 'boolean' }] },
  ]
  const { runtime } = createStage({ agents, plays: {} })
  const start = (parameters: Record<string, unknown>) => runtime.start({ agent: 'root', id: 'chats/', parameters })
  await assert.rejects(start({ count: 7, id: 'Users/1' }), {
    code: 'PARAM_TYPE',
    message: '`id` must be an array of string, got a string.',
    path: 'parameters.id',
    hint: 'Agent `leaf` takes it by an edge, and declares `key` with type `string[]`.',
  })
  await start({ count: 7, id: ['Users/1'] })
  await assert.rejects(start({ count: true, id: [] }), {
    message: '`count` must be a number, got a boolean.',
    hint: 'Agent `root` declares `count` with type `number`.',
  })
})
