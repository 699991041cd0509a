/** Approvals with a condition: a person is asked for the calls whose arguments meet it, and the others go on by themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentDefinition, createRuntime, defineAgent, defineTool, type QuerySource } from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'
import type { RunResult } from '@witan/protocol'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { actionsIn, type AgentDraft, createStage, type Play, settle } from '../support/stage.ts'

const approve = { decision: 'approved' }

/** A tool that notes what it was called with. */
function payment(parameters = z.object({ amount: z.number(), note: z.string().optional() }) as z.ZodType) {
  const paid: unknown[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters,
    execute: (args) => {
      paid.push(args)
      return 'paid'
    },
  })
  return { paid, pay }
}

const askedFor = ({ interruptions }: RunResult) =>
  interruptions.map((one) => (one.kind === 'approval' ? [one.tool, one.arguments] : one.kind))

const atLeast = (amount: number) => ({ properties: { amount: { minimum: amount } }, required: ['amount'] })

test('[Fb06] a condition in data asks for the calls that fit it, of every kind of tool', async () => {
  const { paid, pay } = payment()
  const read: unknown[] = []
  const shop: QuerySource = {
    kind: 'fake',
    check: async () => ({ ok: true, placeholders: ['amount'] }),
    run: async ({ bindings }) => {
      read.push(bindings)
      return { rows: [], truncated: false, textBytes: 2 } as never
    },
    close: async () => {},
  }
  const query = {
    name: 'read',
    source: 'shop',
    query: 'select $amount',
    parametersSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  }
  const loud = { properties: { message: { pattern: 'refund' } } }
  const root: AgentDraft = {
    id: 'root',
    tools: ['pay'],
    queries: [query],
    actions: [{ name: 'Sign', parametersSample: { amount: 1 } }],
    subAgents: [{ agent: 'clerk' }, { agent: 'worker', blocking: 'never' }, { agent: 'wrapped', style: 'agentTool' }],
    approvals: [
      ...['pay', 'read', 'Sign'].map((tool) => ({ tool, when: atLeast(100) })),
      { tool: 'clerk', when: loud },
      { tool: 'worker', when: loud },
      { tool: 'wrapped', when: { properties: { request: { pattern: 'refund' } } } },
    ],
  }
  const calls = (amount: number, words: string) => ({
    toolCalls: [
      ...['pay', 'read', 'Sign'].map((name) => ({ name, arguments: { amount } })),
      ...['clerk', 'worker'].map((name) => ({ name, arguments: { message: words } })),
      { name: 'wrapped', arguments: { request: words } },
    ],
  })
  const stage = createStage({
    agents: [root, { id: 'clerk' }, { id: 'worker' }, { id: 'wrapped' }],
    plays: {
      root: [calls(99, 'look it up'), calls(100, 'a refund'), 'done'],
      ...Object.fromEntries(['clerk', 'worker', 'wrapped'].map((id): [string, Play] => [id, () => 'well'])),
    },
    options: { tools: [pay], sources: { shop } },
  })
  const first = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual(
    first.interruptions.map(({ kind }) => kind),
    ['action'],
    'the small ones go on; the action itself waits for its client',
  )
  assert.deepEqual([paid.length, read.length], [1, 1])
  const [action] = actionsIn(first.interruptions)
  const second = await stage.run('chats/1', { actionResponses: [{ id: action?.id, response: 'ok' }] })
  assert.deepEqual(askedFor(second), [
    ['pay', { amount: 100 }],
    ['read', { amount: 100 }],
    ['Sign', { amount: 100 }],
    ['clerk', { message: 'a refund' }],
    ['worker', { message: 'a refund' }],
    ['wrapped', { request: 'a refund' }],
  ])
  assert.deepEqual([paid.length, read.length], [1, 1], 'nothing of them has happened')
  const answers = second.interruptions.map(({ id }) => ({ id, answer: approve }))
  const third = await stage.run('chats/1', { answers })
  assert.deepEqual(
    third.interruptions.map(({ kind }) => kind),
    ['action'],
  )
  assert.deepEqual([paid.length, read.length], [2, 2])
  assert.deepEqual(stage.reports, [])
})

test('[Fb06] what its tool takes for a number is one, however the model writes it, and a default counts too', async () => {
  const table = [
    [z.object({ amount: z.coerce.number() }), { amount: '500' }],
    [z.object({ amount: z.number().default(500) }), {}],
    [z.object({ amount: z.number() }), { amount: 500, note: 'dropped' }],
    [z.object({ amount: z.string().transform(Number) }), { amount: '5e2' }],
  ] as const
  for (const [parameters, args] of table) {
    const { paid, pay } = payment(parameters)
    const stage = createStage({
      agents: [{ id: 'root', tools: ['pay'], approvals: [{ tool: 'pay', when: typedAtLeast(100) }] }],
      plays: { root: [call('pay', args), 'done'] },
      options: { tools: [pay] },
    })
    assert.equal((await stage.ask('root', 'go')).status, 'waiting', JSON.stringify(args))
    assert.deepEqual(paid, [])
  }
})

const typedAtLeast = (amount: number) => ({
  type: 'object',
  properties: { amount: { type: 'number', minimum: amount } },
  required: ['amount'],
})

/** An agent of code whose predicate is this one. */
function decidedBy(when: (args: Readonly<Record<string, unknown>>) => boolean) {
  const { paid, pay } = payment()
  const reports: unknown[] = []
  const model = scriptedModel(turns(call('pay', { amount: 5 }), call('pay', { amount: 500 }), 'done'))
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'Pay.',
    model,
    tools: [pay],
    approvals: [{ tool: 'pay', when }],
  })
  const runtime = createRuntime({ clock: fakeClock(), agents: [clerk], report: (error) => reports.push(error) })
  return { runtime, paid, reports }
}

test('[Fb06] a predicate in code decides by the arguments alone, and changes none of them', async () => {
  const seen: unknown[] = []
  const { runtime, paid, reports } = decidedBy((args) => {
    seen.push({ ...args })
    const isBig = Number(args['amount']) > 100
    Object.assign(args, { amount: 0 })
    return isBig
  })
  const chat = runtime.conversation('clerk')
  const waiting = await chat.run('go')
  assert.deepEqual(askedFor(waiting), [['pay', { amount: 500 }]])
  assert.deepEqual(paid, [{ amount: 5 }])
  const answers = waiting.interruptions.map(({ id }) => ({ id, answer: { ...approve, arguments: { amount: 900 } } }))
  const done = await (await runtime.run(waiting.conversationId, { answers })).result
  assert.equal(done.status, 'completed')
  assert.deepEqual(paid, [{ amount: 5 }, { amount: 900 }], 'what a person changes is not asked for again')
  assert.deepEqual(seen, [{ amount: 5 }, { amount: 500 }])
  assert.deepEqual(reports, [])
  const stored = await runtime.agents.get('clerk')
  assert.deepEqual(stored.approvals, [{ tool: 'pay', when: 'code' }])
})

test('[Fb06] a predicate that throws, gives no answer or gives it later asks', async () => {
  const odd = [
    () => {
      throw new Error('the predicate broke')
    },
    () => undefined,
    () => Promise.resolve(false),
    () => Promise.reject(new Error('the predicate broke later')),
  ]
  for (const when of odd) {
    const { runtime, paid, reports } = decidedBy(when as unknown as () => boolean)
    assert.deepEqual(askedFor(await runtime.conversation('clerk').run('go')), [['pay', { amount: 5 }]])
    assert.deepEqual(paid, [])
    await settle(2)
    const broke = String(when).includes('broke')
    assert.deepEqual(reports.map(String).join(), broke ? String(reports[0]) : '')
  }
})

test('[Fb06] an agent as data that says `code` asks for every call where no program decides', async () => {
  const { paid, pay } = payment()
  const stage = createStage({
    agents: [{ id: 'root', tools: ['pay'], approvals: [{ tool: 'pay', when: 'code' }] }],
    plays: { root: [call('pay', { amount: 1 }), 'done'] },
    options: { tools: [pay] },
  })
  assert.equal((await stage.ask('root', 'go')).status, 'waiting')
  assert.deepEqual(paid, [])
})

test('[Fb06] several conditions of one tool: each of them asks', async () => {
  const { paid, pay } = payment()
  const noted = { required: ['note'] }
  const stage = createStage({
    agents: [
      {
        id: 'root',
        tools: ['pay'],
        approvals: [
          { tool: 'pay', when: atLeast(100) },
          { tool: 'pay', when: noted },
        ],
      },
    ],
    plays: { root: [call('pay', { amount: 1 }), call('pay', { amount: 1, note: 'x' }), 'done'] },
    options: { tools: [pay] },
  })
  assert.deepEqual(askedFor(await stage.ask('root', 'go')), [['pay', { amount: 1, note: 'x' }]])
  assert.equal(paid.length, 1)
})

test('[Fb06] a condition that cannot be right refuses the save, and one about an unknown name is told', async () => {
  const { pay } = payment()
  const stage = createStage({ agents: [], plays: {}, options: { tools: [pay] } })
  const base = {
    id: 'root',
    model: 'play/model',
    instructions: '',
    tools: ['pay'],
    parameters: [{ name: 'account' }],
    actions: [
      { name: 'Sign', parametersSchema: { properties: { page: {}, account: {} } } },
      { name: 'Note', parametersSchema: { properties: { page: {} }, additionalProperties: true } },
    ],
    subAgents: [{ agent: 'clerk' }],
  }
  const clerk = { id: 'clerk', model: 'play/model', instructions: '', parameters: [{ name: 'topic' }] }
  const wrong = [
    [{ tool: 'pai', when: {} }, 'TOOL_UNKNOWN approvals.0.tool'],
    [{ tool: 'pay', when: { type: 'objekt' } }, 'AGENT_INVALID approvals.0.when'],
    [{ tool: 'pay', when: { type: 'string' } }, 'AGENT_INVALID approvals.0.when'],
    [{ tool: 'pay', when: { unevaluatedProperties: false } }, 'AGENT_INVALID approvals.0.when'],
    [{ tool: 'pay', wen: {} }, 'AGENT_INVALID approvals.0'],
    [{ tool: 'pay', when: {}, wen: {} }, 'UNKNOWN_KEY approvals.0.wen'],
    [{ tool: 'pay', when: 'always' }, 'AGENT_INVALID approvals.0'],
    [7, 'AGENT_INVALID approvals.0'],
  ] as const
  for (const [approval, expected] of wrong) {
    const { errors } = await stage.runtime.agents.check([{ ...base, approvals: [approval as never] }, clerk])
    assert.deepEqual(
      errors.map(({ code, path }) => `${code} ${path}`),
      [expected],
      JSON.stringify(approval),
    )
    await assert.rejects(stage.runtime.agents.saveAll([{ ...base, approvals: [approval as never] }, clerk]))
  }
  const about = (tool: string, name: string) => ({ tool, when: { required: [name] } })
  const { errors, warnings } = await stage.runtime.agents.check([
    {
      ...base,
      approvals: [
        about('pay', 'amount'),
        about('pay', 'amout'),
        about('Sign', 'page'),
        about('Sign', 'account'),
        about('clerk', 'message'),
        about('clerk', 'topic'),
        about('clerk', 'tropic'),
        about('Note', 'whatever'),
      ],
    },
    clerk,
  ])
  assert.deepEqual(errors, [])
  assert.deepEqual(
    warnings.filter(({ code }) => code === 'APPROVAL_NAME_UNKNOWN').map(({ path, hint }) => `${path} ${hint}`),
    [
      'approvals.1.when Did you mean `amount`?',
      'approvals.3.when Its arguments: page.',
      'approvals.6.when Did you mean `topic`?',
    ],
  )
})

test('an agent as code says at once what is wrong with its predicates', () => {
  const make = (approvals: AgentDefinition['approvals']) => () =>
    defineAgent({
      id: 'clerk',
      instructions: '',
      model: 'play/model',
      ...(approvals === undefined ? {} : { approvals }),
    })
  const never = () => false
  assert.throws(make([{ tool: 'pay', when: (async () => false) as unknown as () => boolean }]), {
    code: 'AGENT_INVALID',
  })
  assert.throws(
    make([
      { tool: 'pay', when: never },
      { tool: 'pay', when: never },
    ]),
    { code: 'AGENT_INVALID', path: 'approvals.1' },
  )
  assert.throws(make([{ tool: 'a b', when: never }]), { code: 'AGENT_INVALID', path: 'approvals.0.tool' })
  assert.equal(make([{ tool: 'pay', when: never }, 'read'])().predicates.get('pay'), never)
})
