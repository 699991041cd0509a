/**
 * Three servers in a row. An agent of the first asks three agents of the second at once: one calls an agent of the third, which has two demands
 * one after the other, one demands something itself, one is free. What is demanded goes up to who asked, and how it is met goes down.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { defineTool } from '@witan/core'
import { call, type Rule, scriptedModel, toolResults } from '@witan/core/testing'
import type { AgentInput, Interruption, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { z } from 'zod'
import { createForwarder } from '../support/forwarder.ts'
import { a2aClient, type A2aMessage, message } from './support/a2a.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { until } from './support/stage.ts'
import { openStream, request as callServer } from './support/witan.ts'

const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]

const consent = { kind: 'consent_required', message: 'cny-may-i' }
const price = { kind: 'payment_required', message: 'cny-fee', url: 'https://c.test/pay', data: { 'test.c.price': 1 } }

const find = defineTool({
  name: 'find',
  description: 'Finds a book.',
  parameters: z.object({}),
  async execute(_, { demand }) {
    const { receipt } = await demand(price)
    return `a book for ${receipt === 'cny-r1' ? 'a receipt' : 'nothing'}`
  },
})

const siblings = ['paid', 'strict', 'free']
const remote = (name: string, address: string) => ({ name, address, description: 'Knows.' })
/** All agents, by server. An agent with remotes calls each of them once. */
const agents: Readonly<Record<Name, readonly object[]>> = {
  a: [{ id: 'desk', remotes: siblings.map((name) => remote(name, `@${name}@b.test`)) }],
  b: [
    { id: 'paid', remotes: [remote('shop', '@shop@c.test')] },
    { id: 'strict', demands: [{ ...consent, per: 'conversation' }] },
    { id: 'free' },
  ],
  c: [{ id: 'shop', tools: ['find'], demands: [consent] }],
}

const requests: unknown[] = []
const rule: Rule = (request) => {
  requests.push(request)
  const results = toolResults(request)
  if (results.length > 0) return results.join(' + ')
  const toolCalls = request.tools.flatMap(
    ({ name }) => call(name, name === 'find' ? {} : { message: 'go' }).toolCalls ?? [],
  )
  return toolCalls.length > 0 ? { toolCalls } : 'some words'
}

describe('demands over three servers', () => {
  const servers = new Map<Name, WitanServer>()
  let doors: Awaited<ReturnType<typeof createForwarder>>[] = []
  let stranger: RemoteServer
  let folder = ''

  async function open(name: Name): Promise<void> {
    const resolve = Object.fromEntries(names.map((one, at) => [`${one}.test`, doors[at]?.url ?? '']))
    const store = name === 'b' ? `file:${join(folder, 'b.db')}` : 'memory:'
    const env = { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: store }
    const config = await loadConfig({ cwd: '/', env })
    const domain = `${name}.test`
    const server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
      federation: {
        ...config.federation,
        resolve: { ...resolve, 'd.test': stranger.url },
        maxHops: 2,
        trust: [{ issuer: 'https://b.test', methods: ['*'], subjects: ['@*@b.test'] }],
      },
      agents: (agents[name] ?? []).map(
        (one) =>
          ({
            ...{ model: 'play/model', instructions: 'x', access: { call: ['@*', 'user:local'] } },
            ...{ address: (one as { id: string }).id, ...one },
          }) as unknown as AgentInput,
      ),
      tools: [find],
      models: { 'play/model': scriptedModel(rule, { id: 'play/model' }) },
    })
    servers.set(name, server)
    doors[names.indexOf(name)]?.lead(server.url)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-demands-'))
    doors = await Promise.all(names.map(() => createForwarder()))
    stranger = await createRemoteServer('d.test')
    for (const name of names) await open(name)
  })
  after(async () => {
    for (const door of doors) await door.close()
    for (const server of servers.values()) await server.close()
    await stranger?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function request<T>(name: Name, path: string, body?: object): Promise<T> {
    const reply = await fetch(`${servers.get(name)?.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    assert.ok(reply.ok, `${path}: ${text}`)
    return JSON.parse(text) as T
  }
  const meet = (id: string | undefined, resolution: object) =>
    request('a', `/interruptions/${id}/answer`, { answer: { resolution } })
  const settled = (run: string, is: (now: RunResult) => boolean) =>
    until(
      () => request<{ status: string; result: RunResult | null }>('a', `/runs/${run}`),
      ({ status, result }) => result !== null && status !== 'running' && is(result),
    )
  const shown = (open: readonly Interruption[]) =>
    open.map((one) => one.kind === 'policy' && [one.path, one.agent, one.issuer, one.policy['message']]).toSorted()

  test('[M21] [E63] [E34] two of three siblings demand; each demand is met alone, by way of a server that starts again', async () => {
    const { run } = await request<{ run: RunResult }>('a', '/conversations', { agent: 'desk', prompt: 'go' })
    assert.equal(run.status, 'waiting', JSON.stringify(run))
    assert.deepEqual(shown(run.interruptions), [
      ['paid', '@paid@b.test', '@shop@c.test', consent.message],
      ['strict', '@strict@b.test', '@strict@b.test', consent.message],
    ])
    assert.equal(requests.length, 3, 'a, the agent between, and the free one: nobody else was asked')
    const exported = await fetch(
      `${servers.get('a')?.url}/api/v1/conversations/${encodeURIComponent(run.conversationId)}/export`,
    )
    const lines = await exported.text()
    assert.match(lines, /"kind":"policy","id":null/)
    assert.equal(/"kind":"policy","id":"/.test(lines), false, 'no export has a state')
    const of = (path: string) => run.interruptions.find((one) => one.path === path)?.id
    doors[1]?.lead(null)
    await servers.get('b')?.close()
    await open('b')
    await meet(of('strict'), { by: 'cny-anna' })
    await meet(of('paid'), { by: 'cny-anna' })
    const { result: next } = await settled(
      run.runId,
      ({ interruptions: [one] }) => one?.kind === 'policy' && one.policy['kind'] === price.kind,
    )
    const [fee, ...more] = next?.interruptions ?? []
    assert.ok(fee?.kind === 'policy')
    assert.deepEqual(shown([fee]), [['paid', '@paid@b.test', '@shop@c.test', price.message]])
    const { url, data } = fee.policy as { url?: string; data?: object }
    assert.deepEqual([url, data, more.length], [price.url, { ...price.data, 'dev.witan.issuer': '@shop@c.test' }, 0])
    await meet(fee.id, { receipt: 'cny-r1' })
    const done = await settled(run.runId, ({ status }) => status === 'completed')
    assert.equal(done.result?.text, 'a book for a receipt + some words + some words')
    const counts = names.map(async (name) => (await request<{ items: unknown[] }>(name, '/conversations')).items.length)
    assert.deepEqual(await Promise.all(counts), [1, 3, 1], 'each was called once')
    const read = requests.map((one) => JSON.stringify((one as { messages: unknown }).messages)).join('\n')
    assert.equal(read.includes('cny-'), false, 'no model has read a word of it')
  })

  test('[E65] the state of one caller is of no use to another, nor twice', async () => {
    const calling = (who: string) =>
      a2aClient(
        () => {
          const at = servers.get('b')?.url ?? ''
          return {
            call: (method, path, options) => callServer(at, path, { ...options, method }),
            stream: (method, path, options) => openStream(at + path, { ...options, method }),
          }
        },
        '/a2a/strict',
        (params) => {
          const { message: sent } = params as { message?: A2aMessage }
          const jti = sent === undefined ? {} : { jti: sent.messageId }
          return stranger.token({ aud: '@strict@b.test', sub: who, ...jti })
        },
      )
    const [one, two] = [calling('@one@d.test'), calling('@two@d.test')]
    const task = await one.send(message('go'))
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const { state } = (task.status.message?.parts[0]?.data ?? {}) as { state?: string }
    const resolving = (more: object) =>
      message([{ data: { type: 'policy_resolution' } }], {
        metadata: { mentionable: { policy_resolution: { in_reply_to_state: state } } },
        ...more,
      })
    const own = await two.send(message('go'))
    for (const more of [{}, { taskId: own.id }]) {
      const { text } = await two.rpc('SendMessage', { message: resolving(more) })
      assert.match(text, /"kind":"forbidden","message":"This state is not valid here\."/)
    }
    const foreign = await two.rpc('SendMessage', { message: resolving({ taskId: task.id }) })
    assert.equal(foreign.body.error?.code, -32001)
    assert.equal((await one.task(task.id)).status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal((await one.send(resolving({ taskId: task.id }))).status.state, 'TASK_STATE_COMPLETED')
    assert.match((await one.rpc('SendMessage', { message: resolving({}) })).text, /"kind":"forbidden"/)
  })
})
