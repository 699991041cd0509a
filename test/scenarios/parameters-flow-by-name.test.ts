/** Parameters: where a value comes from on the way down, who may see it, and who may make it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type RuntimeOptions } from '@witan/core'
import { call, systemText } from '@witan/core/testing'
import { z } from 'zod'
import { createStage, type Stage } from '../support/stage.ts'

/** A tool that tells the test which bound values an executor got. */
function recorder(): { readonly got: Record<string, unknown>[]; readonly options: RuntimeOptions } {
  const got: Record<string, unknown>[] = []
  const tool = defineTool({
    name: 'record',
    description: 'Records.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { parameters }) => {
      got.push({ ...parameters })
      return 'ok'
    },
  })
  return { got, options: { tools: [tool] } }
}

const promptOf = (stage: Stage, agent: string) => systemText(stage.seenBy(agent)[0] as Stage['requests'][number])
const schemaOf = (stage: Stage, agent: string, tool: string) =>
  stage.seenBy(agent)[0]?.tools.find(({ name }) => name === tool)?.parameters

test('[R30] [R31] [Rb02] the parent’s value comes before the conversation’s, and that before the model', async () => {
  const { got, options } = recorder()
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'country' }], subAgents: [{ agent: 'mid', map: { region: 'country' } }] },
      {
        id: 'mid',
        parameters: [{ name: 'region' }, { name: 'city' }, { name: 'topic' }],
        subAgents: [{ agent: 'leaf' }],
      },
      { id: 'leaf', parameters: [{ name: 'region' }, { name: 'city' }, { name: 'topic' }], tools: ['record'] },
    ],
    plays: {
      root: [call('mid', { message: 'go', topic: 'taxes' }), 'done'],
      mid: [call('leaf', { message: 'go on' }), 'done'],
      leaf: [call('record'), 'done'],
    },
    options,
  })
  await stage.ask('root', 'hello', { parameters: { country: 'NO', city: 'Oslo' } })
  assert.deepEqual(got, [{ region: 'NO', city: 'Oslo', topic: 'taxes' }])
  const mid = schemaOf(stage, 'root', 'mid') as { properties: object; required: string[] }
  assert.deepEqual(Object.keys(mid.properties), ['message', 'topic'])
  assert.deepEqual(mid.required, ['message', 'topic'])
  assert.deepEqual(Object.keys((schemaOf(stage, 'mid', 'leaf') as { properties: object }).properties), ['message'])
})

test('[E17] a name mapped to null is bound by neither parent nor conversation: the model is asked', async () => {
  const { got, options } = recorder()
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'id' }], subAgents: [{ agent: 'leaf', map: { id: null } }] },
      { id: 'leaf', parameters: [{ name: 'id' }], tools: ['record'] },
    ],
    plays: { root: [call('leaf', { message: 'go', id: 'from the model' }), 'done'], leaf: [call('record'), 'done'] },
    options,
  })
  await stage.ask('root', 'hello', { parameters: { id: 'from the caller' } })
  assert.deepEqual(got, [{ id: 'from the model' }])
})

test('[R32] [R33] [Rb11] [C17] a value for a descendant reaches it, and the root’s model never sees it', async () => {
  const { got, options } = recorder()
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'userId' }], tools: ['record'] },
    ],
    plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: [call('record'), 'done'] },
    options,
  })
  await stage.ask('root', 'hello', { parameters: { userId: 'Users/1' } })
  assert.deepEqual(got, [{ userId: 'Users/1' }])
  assert.doesNotMatch(JSON.stringify(stage.seenBy('root')), /Users\/1/)
  assert.equal(promptOf(stage, 'leaf'), 'You are leaf.\nuserId = "Users/1"')
})

test('[R35] [R36] [R37] [R38] [R39] [R52] shown only where the declaration and the conversation both allow it', async () => {
  for (const author of [true, false]) {
    for (const caller of [true, false]) {
      const { got, options } = recorder()
      const stage = createStage({
        agents: [
          { id: 'root', parameters: [{ name: 'key' }], subAgents: [{ agent: 'leaf' }] },
          { id: 'leaf', parameters: [{ name: 'key', sendToModel: author }], tools: ['record'] },
        ],
        plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: [call('record'), 'done'] },
        options,
      })
      await stage.ask('root', 'hello', { parameters: { key: { value: 'cny-3', sendToModel: caller } } })
      assert.deepEqual(got, [{ key: 'cny-3' }])
      const told = (shown: boolean) => (shown ? 'key = "cny-3"' : 'key: supplied by the system')
      assert.equal(promptOf(stage, 'root'), `You are root.\n${told(caller)}`)
      assert.equal(promptOf(stage, 'leaf'), `You are leaf.\n${told(author && caller)}`)
    }
  }
})

test('[R41] [R42] [Rb05] [C16] a trusted value nobody gave: the delegate is left out, and calling it fails the run', async () => {
  const agents = [
    { id: 'root', subAgents: [{ agent: 'leaf' }] },
    { id: 'leaf', parameters: [{ name: 'userId', policy: 'forbidModelGeneration' as const }] },
  ]
  const quiet = createStage({ agents, plays: { root: ['I cannot.'] } })
  const answered = await quiet.ask('root', 'hello', { id: 'chats/1' })
  assert.equal(answered.status, 'completed')
  assert.deepEqual(quiet.seenBy('root')[0]?.tools, [])
  const notices = (await quiet.events('chats/1')).filter(({ type }) => type === 'notice')
  assert.deepEqual(
    notices.map(({ content }) => content['code']),
    ['DELEGATE_UNAVAILABLE'],
  )

  const stubborn = createStage({ agents, plays: { root: [call('leaf', { message: 'go', userId: 'Users/9' })] } })
  const failed = await stubborn.ask('root', 'hello')
  assert.equal(failed.status, 'failed')
  assert.equal(failed.error?.code, 'MISSING_AGENT_PARAMETER')
  assert.match(failed.error?.detail ?? '', /root\/leaf.*userId/)
  assert.equal(stubborn.seenBy('leaf').length, 0)
})

test('[E15] [R41] [R44] a value that a model made above is not accepted as a trusted one below', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }] },
      { id: 'mid', parameters: [{ name: 'userId' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'userId', policy: 'forbidModelGeneration' }] },
    ],
    plays: {
      root: [call('mid', { message: 'go', userId: 'Users/9' }), 'done'],
      mid: [call('leaf', { message: 'go' }), 'done'],
    },
  })
  const result = await stage.ask('root', 'hello')
  assert.equal(result.error?.code, 'MISSING_AGENT_PARAMETER')
  assert.equal(stage.seenBy('leaf').length, 0)
  assert.equal(promptOf(stage, 'mid'), 'You are mid.\nuserId = "Users/9"')
})

test('[E13] [E14] an empty string is a value, and null is one only where the type says so', async () => {
  const tried = async (type: 'string' | 'number' | 'boolean' | 'string[]' | 'null' | 'any', value: unknown) => {
    const { got, options } = recorder()
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', parameters: [{ name: 'p', type, policy: 'forbidModelGeneration' }], tools: ['record'] },
      ],
      plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: [call('record'), 'done'] },
      options,
    })
    await stage.ask('root', 'hello', { parameters: { p: value } })
    return got
  }
  assert.deepEqual(await tried('string', ''), [{ p: '' }])
  assert.deepEqual(await tried('null', null), [{ p: null }])
  assert.deepEqual(await tried('any', null), [{ p: null }])
  for (const type of ['string', 'number', 'boolean', 'string[]'] as const)
    await assert.rejects(tried(type, null), { code: 'PARAM_TYPE' }, type)
})

test('[E13] [E14] [R30] a parent’s value of any type is inherited only where it fits; else it is as if there were none', async () => {
  const tried = async (made: unknown, policy: 'forbidModelGeneration' | null) => {
    const { got, options } = recorder()
    const stage = createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'mid' }] },
        { id: 'mid', parameters: [{ name: 'what', type: 'any' }], subAgents: [{ agent: 'leaf', map: { n: 'what' } }] },
        { id: 'leaf', parameters: [{ name: 'n', type: 'number', policy }], tools: ['record'] },
      ],
      plays: {
        root: [call('mid', { message: 'go', what: made }), 'done'],
        mid: [call('leaf', { message: 'go', n: 7 }), 'done'],
        leaf: [call('record'), 'done'],
      },
      options,
    })
    const { error } = await stage.ask('root', 'hello')
    return error?.code ?? got
  }
  assert.deepEqual(await tried(5, null), [{ n: 5 }])
  for (const made of [null, 'five', '', [5]]) {
    assert.deepEqual(await tried(made, null), [{ n: 7 }], JSON.stringify(made))
    assert.equal(await tried(made, 'forbidModelGeneration'), 'MISSING_AGENT_PARAMETER', JSON.stringify(made))
  }
})

test('[E14] [E17] a null that an edge maps to a name which takes none is refused under the name that was given', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'any', type: 'any' }], subAgents: [{ agent: 'leaf', map: { p: 'any' } }] },
      { id: 'leaf', parameters: [{ name: 'p', type: 'string' }] },
    ],
    plays: {},
  })
  await assert.rejects(stage.ask('root', 'hello', { parameters: { any: null } }), {
    code: 'PARAM_TYPE',
    path: 'parameters.any',
    message: '`any` must be a string, got null.',
    hint: 'Agent `leaf` takes it by an edge, and declares `p` with type `string`.',
  })
})

test('[E21] a parameter that nobody declares is refused with the known ones', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'userId' }] },
    ],
    plays: {},
  })
  await assert.rejects(stage.ask('root', 'hello', { parameters: { usrId: 'x' } }), {
    code: 'PARAM_UNKNOWN',
    message: /userId/,
  })
})

test('[E21] [R32] the whole hierarchy is asked, also where its agents call each other', async () => {
  const { got, options } = recorder()
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'ping' }] },
      { id: 'ping', subAgents: [{ agent: 'pong' }] },
      { id: 'pong', subAgents: [{ agent: 'ping' }, { agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'userId' }], tools: ['record'], subAgents: [{ agent: 'root' }] },
      { id: 'elsewhere', parameters: [{ name: 'secretName' }] },
    ],
    plays: {
      root: [call('ping', { message: 'a' }), 'done'],
      ping: [call('pong', { message: 'b' }), 'done'],
      pong: [call('leaf', { message: 'c' }), 'done'],
      leaf: [call('record'), 'done'],
    },
    options,
  })
  await stage.ask('root', 'hello', { parameters: { userId: 'Users/1' } })
  assert.deepEqual(got, [{ userId: 'Users/1' }])
  // What an agent outside of it declares is as unknown as any other name.
  for (const name of ['usrId', 'secretName'])
    await assert.rejects(stage.ask('root', 'hello', { parameters: { [name]: 'x' } }), (error: Error) => {
      assert.match(error.message, /userId/)
      return (error as { code?: string }).code === 'PARAM_UNKNOWN' && !/secretName.*secretName/.test(error.message)
    })
})

test('[C19] [Rb09] [P4] what a model writes for a bound name is dropped and recorded', async () => {
  for (const spelling of ['userId', 'USERID', 'user\u200bId', 'ｕserId']) {
    const { got, options } = recorder()
    const stage = createStage({
      agents: [
        { id: 'root', parameters: [{ name: 'userId' }], subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', parameters: [{ name: 'userId' }], tools: ['record'] },
      ],
      plays: {
        root: [call('leaf', { message: 'go', [spelling]: 'Users/9' }), 'done'],
        leaf: [call('record', { [spelling]: 'Users/8' }), 'done'],
      },
      options,
    })
    await stage.ask('root', 'hello', { id: 'chats/1', parameters: { userId: 'Users/1' } })
    assert.deepEqual(got, [{ userId: 'Users/1' }], spelling)
    const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.deepEqual(
      notices.map(({ content }) => content['code']),
      ['ARGUMENT_OVERRIDE_IGNORED', 'ARGUMENT_OVERRIDE_IGNORED'],
      spelling,
    )
  }
})

test('[C19] a tool whose arguments are bound in part still has the others checked', async () => {
  const ran: unknown[] = []
  const tool = defineTool({
    name: 'orders',
    description: 'Lists orders.',
    parameters: z.object({ userId: z.string(), limit: z.number().int().max(100) }),
    effect: 'none',
    execute: (args) => {
      ran.push(args)
      return 'ok'
    },
  })
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'userId', sendToModel: false }], tools: ['orders'] }],
    plays: { root: [call('orders', { limit: 'many' }), call('orders', { limit: 3, userId: 'Users/9' }), 'done'] },
    options: { tools: [tool] },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { userId: 'Users/1' } })
  assert.deepEqual(ran, [{ userId: 'Users/1', limit: 3 }])
  const errors = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'error' && kind === 'tool')
  assert.equal(errors.length, 1)
  assert.equal(errors[0]?.content['code'], 'TOOL_ARGS_INVALID')
  assert.match(String(errors[0]?.content['detail']), /limit/)
  assert.doesNotMatch(String(errors[0]?.content['detail']), /userId|Users/)
})

test('[Rb15] what a model may supply for any type is told in its schema, and in words where it is wrong', async () => {
  const tries = [{ a: 1 }, [1, 'x'], [['x']], ['x', 'y']]
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'what', type: 'any' }] },
    ],
    plays: { root: [...tries.map((what) => call('leaf', { message: 'go', what })), 'done'], leaf: ['fine'] },
  })
  assert.equal((await stage.ask('root', 'go')).status, 'completed')
  const properties = schemaOf(stage, 'root', 'leaf')?.['properties'] as Record<string, unknown> | undefined
  assert.deepEqual(properties?.['what'], {
    type: ['string', 'number', 'boolean', 'null', 'array'],
    items: { type: ['string', 'number', 'boolean'] },
  })
  const read = stage.seenBy('root').flatMap(({ messages }) => messages.at(-1)?.content)
  const wrong = {
    error: '`what`: expected a string, number, boolean, null, or an array of one of the first three',
  }
  assert.deepEqual(read.slice(1), [...Array(3).fill(JSON.stringify(wrong)), 'fine'])
  assert.match(promptOf(stage, 'leaf'), /what = \["x","y"\]/)
})
