/** A function or a query of an agent runs alone: bound as in a new conversation, with the limits of ordinary calls, and nothing of it stays. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime, defineTool, type FunctionContext, type RuntimeOptions } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { AgentInput, DatabaseId } from '@witan/protocol'
import type { TrialInput } from '@witan/protocol/tools'
import { z } from 'zod'

const secret = 'S3CR3T-VALUE-42'

/** What the tools were called with. */
const calls: unknown[] = []

const text = (name: string, execute: (args: { text: string }, context: FunctionContext) => unknown, more = {}) =>
  defineTool({
    name,
    description: `The tool ${name}.`,
    parameters: z.object({ text: z.string(), tenant: z.string().optional() }),
    effect: 'none',
    execute,
    ...more,
  })

const tools = [
  text('look', (args, { parameters, principal, conversationId }) => {
    calls.push({ args, parameters: { ...parameters }, principal: principal.id, conversationId })
    return { found: args.text, tenant: parameters['tenant'] }
  }),
  text('leak', (_, { parameters }) => [{ [`key ${parameters['tenant']}`]: `of ${parameters['tenant']}` }]),
  text('fail', (_, { parameters }) => {
    throw new Error(`no ${parameters['tenant']}`)
  }),
  text('hang', () => new Promise(() => {}), { timeoutMs: 50 }),
  text('flood', () => 'x'.repeat(20_000_000)),
  text('send', () => 'sent', { effect: 'once' }),
  text('asking', async (_, { ask }) => ask([{ id: 'q', text: 'Really?' }])),
  text('keep', async (_, { artifacts, checkpoint }) => {
    await checkpoint.save({ at: 1 })
    const { id } = await artifacts.save({ name: 'a.txt', mediaType: 'text/plain', text: 'words' })
    return (await artifacts.read(id)).text
  }),
]

const clerk: AgentInput = {
  id: 'clerk',
  model: 'play/model',
  instructions: 'You help.',
  parameters: [{ name: 'tenant', sendToModel: false, policy: 'forbidModelGeneration' }],
  tools: tools.map(({ name }) => name),
  actions: [{ name: 'Confirm' }],
  subAgents: [{ agent: 'helper' }],
  approvals: ['asking', { tool: 'look', when: { properties: { text: { const: 'dear' } }, required: ['text'] } }],
  demands: [{ kind: 'consent', message: 'May I?' }],
}

const bob = { id: 'user:bob', address: null }

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ index }))

async function opened<Result>(
  then: (runtime: ReturnType<typeof createRuntime>) => Promise<Result>,
  options: RuntimeOptions = {},
): Promise<Result> {
  const model = scriptedModel(() => assert.fail('a model was asked'))
  const runtime = createRuntime({
    models: { 'play/model': model },
    tools,
    sources: {
      shop: {
        kind: 'fake',
        check: async (sql) => ({ ok: true, placeholders: sql.includes('limit') ? ['tenant', 'limit'] : ['tenant'] }),
        async run({ bindings }) {
          calls.push(Object.fromEntries(bindings))
          return { ok: true, rows: rows(2), truncated: false }
        },
        close: async () => {},
      },
    },
    agents: [clerk, { id: 'helper', model: 'play/model', instructions: 'You help.' }, buyer],
    ...options,
  })
  try {
    await runtime.ready
    return await then(runtime)
  } finally {
    await runtime.close()
  }
}

const limit = { type: 'object', properties: { limit: { type: 'number' } }, required: ['limit'] }
const query = { source: 'shop', description: '', query: 'select $tenant, $limit', parametersSchema: limit }
const buyer: AgentInput = {
  id: 'buyer',
  model: 'play/model',
  instructions: 'You buy.',
  parameters: [{ name: 'tenant', sendToModel: false, policy: 'forbidModelGeneration' }],
  queries: [
    { ...query, name: 'orders' },
    {
      ...query,
      name: 'first',
      query: 'select $tenant',
      parametersSchema: null,
      addToInitialContext: true,
      allowModelQueries: false,
    },
  ],
  access: { tools: { orders: ['user:anna'] } },
}

const tried = (tool: string, body: TrialInput = {}, agent = 'clerk') =>
  opened((runtime) => runtime.agents.tools.try(agent, tool, { request: body }))

const given = { arguments: { text: 'a' }, parameters: { tenant: secret } }

describe('a tool tried alone', () => {
  test('runs as the caller with its bound values, which no argument replaces', async () => {
    calls.length = 0
    const trial = await tried('look', { ...given, arguments: { text: 'a', tenant: 'other', Tenant: 'third' } })
    assert.equal(trial.status, 'completed')
    assert.deepEqual(trial.result, { found: 'a', tenant: '[hidden]' })
    assert.deepEqual(trial.bound, ['tenant'])
    assert.deepEqual([...new Set(trial.notices.map(({ code }) => code))], ['ARGUMENT_OVERRIDE_IGNORED'])
    const [call] = calls as { args: unknown; parameters: unknown; principal: string }[]
    assert.deepEqual(call?.args, { text: 'a', tenant: secret })
    assert.deepEqual(call?.parameters, { tenant: secret })
    assert.equal(call?.principal, 'user:local')
  })

  test('shows no hidden value, in results, keys and errors', async () => {
    for (const tool of ['leak', 'fail', 'look']) {
      const trial = await tried(tool, given)
      assert.doesNotMatch(JSON.stringify(trial), /S3CR3T/, tool)
    }
    assert.deepEqual((await tried('fail', given)).error, { code: 'TOOL_FAILED', detail: '`fail` failed: no [hidden]' })
  })

  test('ends at the limits of ordinary calls', async () => {
    const hung = await tried('hang', given)
    assert.equal(hung.status, 'failed')
    assert.equal(hung.error?.code, 'TOOL_TIMEOUT')
    const flooded = await tried('flood', given)
    assert.ok(JSON.stringify(flooded).length < 300_000)
    const unfit = await tried('look', { ...given, arguments: { text: 1 } })
    assert.equal(unfit.error?.code, 'TOOL_ARGS_INVALID')
    assert.doesNotMatch(JSON.stringify(unfit), /S3CR3T|tenant/)
  })

  test('waits for a confirmation of its effect, and for an approval', async () => {
    await assert.rejects(tried('send', given), { code: 'CONFIRM_REQUIRED' })
    assert.equal((await tried('send', { ...given, confirm: true })).result, 'sent')
    await assert.rejects(tried('look', { ...given, arguments: { text: 'dear' } }), { code: 'APPROVAL_REQUIRED' })
    const approved = await tried('look', { ...given, arguments: { text: 'dear' }, approve: true })
    assert.deepEqual(approved.result, { found: 'dear', tenant: '[hidden]' })
  })

  test('stops where it would wait for somebody', async () => {
    const trial = await tried('asking', { ...given, approve: true })
    assert.deepEqual([trial.status, trial.result, trial.error], ['waiting', null, null])
  })

  test('keeps what it saves for itself alone', async () => {
    await opened(async (runtime) => {
      assert.equal((await runtime.agents.tools.try('clerk', 'keep', { request: given })).result, 'words')
      assert.deepEqual((await runtime.listConversations()).items, [])
    })
  })

  test('reads a query with its bound values, also one that only begins documents', async () => {
    calls.length = 0
    const parameters = { tenant: secret }
    const local = { access: {} }
    const trial = await opened(
      (runtime) =>
        runtime.agents.tools.try('free', 'orders', { request: { arguments: { limit: 3, tenant: 'x' }, parameters } }),
      { agents: [{ ...buyer, ...local, id: 'free' }] },
    )
    assert.deepEqual(trial.result, rows(2))
    assert.deepEqual(calls, [{ limit: 3, tenant: secret }])
    assert.equal((await tried('first', { parameters }, 'buyer')).status, 'completed')
  })

  test('is refused where `access.tools` denies it, and where it does not run alone', async () => {
    const denied = await tried('orders', { arguments: { limit: 3 }, parameters: { tenant: secret } }, 'buyer')
    assert.equal(denied.error?.code, 'NOT_ALLOWED')
    for (const tool of ['Confirm', 'helper']) await assert.rejects(tried(tool, given), { code: 'TOOL_NOT_TRIABLE' })
    await assert.rejects(tried('nothing', given), { code: 'NOT_FOUND' })
    await assert.rejects(tried('witan_demands', given), { code: 'NOT_FOUND' })
    await assert.rejects(tried('look', { ...given, parameters: { nobody: 1 } }), { code: 'PARAM_UNKNOWN' })
    await assert.rejects(tried('look', { ...given, surprise: 1 } as TrialInput), { code: 'UNKNOWN_KEY' })
  })

  test('is reported before it runs, and not where it is refused', async () => {
    const started: string[] = []
    await opened(async (runtime) => {
      const onStart = (agent: string) => started.push(agent)
      const tried = (tool: string, request: TrialInput) => runtime.agents.tools.try('clerk', tool, { request, onStart })
      await assert.rejects(tried('send', given), { code: 'CONFIRM_REQUIRED' })
      assert.equal((await tried('look', { ...given, arguments: {} })).error?.code, 'TOOL_ARGS_INVALID')
      assert.deepEqual(started, [])
      await tried('look', given)
    })
    assert.deepEqual(started, ['clerk'])
  })

  test('belongs to admins of its database alone', async () => {
    await opened(async (runtime) => {
      for (const roles of [['read'], ['run'], []] as const) {
        const other = runtime.as({ ...bob, database: 'default' as DatabaseId, roles })
        await assert.rejects(other.agents.tools.try('clerk', 'look', { request: given }), { code: 'NOT_FOUND' })
        await assert.rejects(other.agents.preview('clerk'), { code: 'NOT_FOUND' })
      }
      const elsewhere = runtime.as({ ...bob, database: 'other' as DatabaseId, roles: ['admin'] })
      await runtime.agents.save({ id: 'own', model: 'play/model', instructions: 'Own.' })
      await assert.rejects(elsewhere.agents.tools.try('own', 'look', { request: given }), { code: 'NOT_FOUND' })
      await assert.rejects(elsewhere.agents.tools.list('own'), { code: 'NOT_FOUND' })
      await assert.rejects(elsewhere.agents.revisions.list('own'), { code: 'NOT_FOUND' })
    })
  })
})
