/** Two servers that share budgets, one that shares none, and a played agent: what goes out with a call, what it lowers, and what comes back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, AnyEvent, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { playedRemote } from '../support/played-remote.ts'
import { type PlayedServer, servePlayed } from '../support/played-server.ts'
import { type A2aTask, message } from './support/a2a.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { freePort } from '../support/free-port.ts'

/** Asks the tool that its message names, as often as it says, and then tells what it has read. */
const desk: Rule = (request, turn) => {
  const [name = '', times = '1'] = lastUserMessage(request).split(' ')
  if (turn > 0)
    return `Told: ${request.messages.map(({ role, content }) => (role === 'tool' ? content : '')).join(' ')}`
  return { toolCalls: Array.from({ length: Number(times) }, () => ({ name, arguments: { message: name } })) }
}
/** Thinks three times before it answers. */
const docs: Rule = (_, turn) => (turn < 2 ? call('helper', { message: 'help' }) : 'In the cellar.')
const rules: Record<string, Rule> = { desk, docs, helper: () => 'Look below.' }

const usage = (modelCalls: number) => ({
  ...{ modelCalls, toolCalls: 0, inputTokens: 7, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ totalTokens: 10, costUsd: 0.25, complete: true },
})
const played = playedRemote(({ parts }) =>
  parts[0]?.text === 'silent'
    ? { state: 'COMPLETED', parts: [{ text: 'Here.' }] }
    : { state: 'COMPLETED', parts: [{ text: 'Here.' }], usage: usage(4) },
)

async function launch(domain: string, port: number, of: { agents: AgentInput[]; federation: object }) {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  return startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port, domain, publicUrl: `https://${domain}` },
    federation: { ...config.federation, ...of.federation },
    agents: of.agents,
    models: Object.fromEntries(
      Object.entries(rules).map(([id, rule]) => [`play/${id}`, scriptedModel(rule, { id: `play/${id}` })]),
    ),
  })
}

const agent = (id: string, more: object) =>
  ({ id, model: `play/${id}`, instructions: `You are ${id}.`, ...more }) as AgentInput

describe('a budget over several servers', () => {
  let a: WitanServer
  let b: WitanServer
  let listed: PlayedServer
  let unlisted: PlayedServer
  let friend: RemoteServer
  let stranger: RemoteServer

  before(async () => {
    const [portA = 0, portB = 0] = await Promise.all([freePort(), freePort()])
    listed = await servePlayed(played, 'p.test')
    unlisted = await servePlayed(played, 'q.test')
    friend = await createRemoteServer('f.test')
    stranger = await createRemoteServer('s.test')
    const resolve = {
      ...{ 'a.test': `http://127.0.0.1:${portA}`, 'b.test': `http://127.0.0.1:${portB}` },
      ...{ 'p.test': listed.url, 'q.test': unlisted.url, 'f.test': friend.url, 's.test': stranger.url },
    }
    b = await launch('b.test', portB, {
      agents: [
        agent('docs', {
          address: 'docs',
          access: { call: ['@*'] },
          subAgents: [{ agent: 'helper' }],
        }),
        agent('helper', {}),
      ],
      federation: { resolve, budgets: ['a.test', 'f.test'] },
    })
    a = await launch('a.test', portA, {
      agents: [
        agent('desk', {
          limits: { maxModelCalls: 40, maxCostUsd: 8, maxSeconds: 600, maxDepth: 6 },
          remotes: [
            { name: 'docs', address: '@docs@b.test' },
            { name: 'played', address: '@docs@p.test', history: 'isolated' },
            { name: 'silent', address: '@silent@p.test' },
            { name: 'other', address: '@docs@q.test' },
          ],
        }),
        agent('poor', {
          model: 'play/desk',
          limits: { maxModelCalls: 3 },
          remotes: [{ name: 'docs', address: '@docs@b.test' }],
        }),
      ],
      federation: { resolve, budgets: ['b.test', 'p.test'] },
    })
  })
  after(async () => {
    for (const one of [a, b, listed, unlisted, friend, stranger]) await one?.close()
  })

  const request = async <T>(server: WitanServer, path: string, body?: object): Promise<T> => {
    const reply = await fetch(`${server.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await reply.json()) as T
  }
  const ask = async (prompt: string, agent = 'desk') =>
    (await request<{ run: RunResult }>(a, '/conversations', { agent, prompt })).run
  const events = async (server: WitanServer, id: string) =>
    (await request<{ events: AnyEvent[] }>(server, `/conversations/${encodeURIComponent(id)}/events?verbose=true`))
      .events
  const budgets = (from: number) => played.tasks.slice(from).map(({ messages }) => messages[0]?.metadata?.witan?.budget)

  test('[D13] what another Witan spends counts under the path of the call, and its usage is complete', async () => {
    const run = await ask('docs')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    const { modelCalls, complete } = run.usage.byAgent['desk/docs'] ?? assert.fail(JSON.stringify(run.usage))
    assert.deepEqual([modelCalls, complete], [5, true])
    assert.equal(run.usage.modelCalls, 7)
    assert.equal(run.usage.complete, true)
    const lines = await request<{ items: unknown[] }>(b, '/conversations')
    assert.ok(!JSON.stringify(lines).includes('budget'))
  })

  test('[D13] each of several calls at once sends half of what those before it have left', async () => {
    const from = played.tasks.length
    const run = await ask('played 3')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    const sent = budgets(from).toSorted((one, other) => (other?.['modelCalls'] ?? 0) - (one?.['modelCalls'] ?? 0))
    assert.deepEqual(
      sent.map((budget) => [budget?.['modelCalls'], budget?.['costUsd'], budget?.['depth']]),
      [
        [19, 4, 5],
        [10, 2, 5],
        [5, 1, 5],
      ],
    )
    assert.ok((sent[0]?.['seconds'] ?? 0) >= 299 && (sent[0]?.['seconds'] ?? 0) <= 300)
    assert.deepEqual(Object.keys(sent[0] ?? {}).sort(), ['costUsd', 'depth', 'modelCalls', 'seconds', 'tokens'])
    const { modelCalls, costUsd } = run.usage.byAgent['desk/played'] ?? assert.fail('no usage')
    assert.deepEqual([modelCalls, costUsd], [12, 0.75])
  })

  test('[D13] a budget that is sent is held to by the other server', async () => {
    const run = await ask('docs', 'poor')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    assert.match(run.text, /@docs@b\.test failed: .*budget/i)
    assert.equal(run.usage.byAgent['poor/docs']?.modelCalls, 1)
  })

  test('where no usage comes back the sum is incomplete', async () => {
    const run = await ask('silent')
    assert.deepEqual([run.status, run.usage.modelCalls, run.usage.complete], ['completed', 2, false])
  })

  test('[D20] a domain that is not listed gets no budget, and its usage is left out and named', async () => {
    const from = played.tasks.length
    const run = await ask('other')
    assert.deepEqual(budgets(from), [undefined])
    assert.deepEqual([run.usage.modelCalls, run.usage.complete], [2, false])
    const notices = (await events(a, run.conversationId)).filter(
      ({ type, content }) => type === 'notice' && content['code'] === 'REMOTE_FIELD_DROPPED',
    )
    assert.equal(notices.length, 1)
    assert.match(String(notices[0]?.content['detail']), /metadata\.witan\.usage/)
  })

  const rpc = async <T>(from: RemoteServer, method: string, params: { message?: { messageId: string } }) => {
    const jti = params.message?.messageId
    const token = await from.token({ aud: '@docs@b.test', ...(jti === undefined ? {} : { jti }) })
    const reply = await fetch(`${b.url}/a2a/docs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return ((await reply.json()) as { result: T }).result
  }
  const send = async (from: RemoteServer, budget: unknown) =>
    (await rpc<{ task: A2aTask }>(from, 'SendMessage', { message: withBudget(budget) })).task
  const withBudget = (budget: unknown) => message('where', { metadata: { witan: { budget } } })
  const metadataOf = (task: object) => (task as { metadata?: { witan?: { usage?: { modelCalls: number } } } }).metadata

  const given: readonly (readonly [string, unknown, string, number | undefined])[] = [
    ['one that is lower', { modelCalls: 2 }, 'TASK_STATE_FAILED', 2],
    ['none at all', undefined, 'TASK_STATE_COMPLETED', 5],
    [
      'one that is higher',
      { modelCalls: 1e6, tokens: 1e12, costUsd: 1e6, seconds: 1e9, depth: 900 },
      'TASK_STATE_COMPLETED',
      5,
    ],
    ['one of nothing', { modelCalls: 0 }, 'TASK_STATE_FAILED', 0],
    ['no tokens', { tokens: 0 }, 'TASK_STATE_FAILED', 0],
    ['no depth: nobody below is called', { depth: 0 }, 'TASK_STATE_COMPLETED', 3],
    [
      'amounts that are none',
      { modelCalls: -1, tokens: 'x', costUsd: null, seconds: [], depth: {} },
      'TASK_STATE_COMPLETED',
      5,
    ],
    ['a list', [1], 'TASK_STATE_COMPLETED', 5],
    [
      'names that objects inherit',
      JSON.parse('{"__proto__":{"modelCalls":0},"constructor":0}'),
      'TASK_STATE_COMPLETED',
      5,
    ],
  ]
  for (const [what, budget, state, modelCalls] of given)
    test(`[D13] a listed caller sends ${what}`, async () => {
      const task = await send(friend, budget)
      assert.equal(task.status.state, state)
      assert.equal(metadataOf(task)?.witan?.usage?.modelCalls, modelCalls)
      assert.ok(!('byAgent' in (metadataOf(task)?.witan?.usage ?? {})))
      const read = await rpc<A2aTask>(friend, 'GetTask', { id: task.id } as never)
      assert.deepEqual(metadataOf(read), metadataOf(task))
    })

  test('[D20] a caller of another domain lowers nothing, and is told no usage', async () => {
    const task = await send(stranger, { modelCalls: 1 })
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(metadataOf(task), undefined)
    const list = await rpc(stranger, 'ListTasks', {})
    assert.ok(!JSON.stringify(list).includes('usage'))
  })
})
