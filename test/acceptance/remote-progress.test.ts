/** A task of an agent on another server, asked how far it is: its caller's model reads what is stored here, and the other server hears nothing of it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { call, lastUserMessage, type Rule, scriptedModel, systemText } from '@witan/core/testing'
import type { ModelRequest } from '@witan/core'
import type { AgentInput, AnyEvent, RunResult, Task } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { until } from './support/stage.ts'

const price = { kind: 'payment_required', message: 'It costs the moon.' }
const doors = { 'a.test': await createForwarder(), 'b.test': await createForwarder() }
const resolve = Object.fromEntries(Object.entries(doors).map(([domain, { url }]) => [domain, url]))
/** What models were asked about progress, and how often those of the other server. */
const asked: ModelRequest[] = []
let thoughtThere = 0
let gate = Promise.withResolvers<string>()

const rules: Readonly<Record<string, Rule>> = {
  desk: (request, turn) => {
    if (systemText(request).startsWith('You report on')) {
      asked.push(request)
      return 'It looks for owls still.'
    }
    const last = String(request.messages.at(-1)?.content)
    const name = lastUserMessage(request)
    if (turn === 0 && name in agents) return call(name, { message: 'Look for owls.' })
    const id = /"task_id":"([^"]+)"/.exec(last)?.[1]
    if (turn === 1 && id !== undefined)
      return call('fetch_sub_agent_progress', { task_id: id, question: 'How many owls so far?' })
    return `Told: ${last}`
  },
  docs: async () => {
    thoughtThere += 1
    return gate.promise
  },
}
const agents: Readonly<Record<string, object>> = { docs: {}, dear: { demands: [price] } }

async function launch(domain: keyof typeof doors, more: readonly AgentInput[]): Promise<WitanServer> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
    federation: { ...config.federation, resolve },
    agents: [...more],
    models: Object.fromEntries(
      Object.entries(rules).map(([id, rule]) => [`play/${id}`, scriptedModel(rule, { id: `play/${id}` })]),
    ),
  })
  doors[domain].lead(server.url)
  return server
}

describe('a question about a task elsewhere', () => {
  let a: WitanServer
  let b: WitanServer
  before(async () => {
    const there = Object.entries(agents).map(([id, more]) => ({
      ...{ id, model: 'play/docs', instructions: 'Look.', address: id, access: { call: ['@*'] } },
      ...more,
    }))
    b = await launch('b.test', there)
    const remotes = Object.keys(agents).map((name) => ({
      name,
      address: `@${name}@b.test`,
      blocking: 'never' as const,
    }))
    a = await launch('a.test', [{ id: 'desk', model: 'play/desk', instructions: 'Ask.', remotes }])
  })
  after(async () => {
    await a?.close()
    await b?.close()
    for (const door of Object.values(doors)) await door.close()
  })

  async function request<T>(server: WitanServer, path: string, body?: object): Promise<T> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const more = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const reply = await fetch(`${server.url}/api/v1${path}`, { headers, ...more })
    const text = await reply.text()
    assert.ok(reply.ok, text)
    return JSON.parse(text) as T
  }
  const begin = async (prompt: string) =>
    (await request<{ run: RunResult }>(a, '/conversations', { agent: 'desk', prompt })).run
  /** What the other server has logged, without what its own runs add while nobody asks. */
  const loggedThere = async () => {
    const { items } = await request<{ items: { lastSeq: number }[] }>(b, '/conversations')
    return items.map(({ lastSeq }) => lastSeq)
  }

  test('[F26] is answered by the model of its caller, and disturbs nothing there', async () => {
    asked.length = 0
    const run = await begin('docs')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    assert.match(run.text, /^Told: \{"text":"It looks for owls still\.","as_of_seq":\d+\}$/)
    const id = run.tasks[0]?.taskId ?? ''
    await until(
      async () => thoughtThere,
      (times) => times === 1,
    )
    const before = await loggedThere()
    const events = () =>
      request<{ events: AnyEvent[] }>(a, `/conversations/${encodeURIComponent(run.conversationId)}/events?verbose=true`)
    const logged = (await events()).events.length
    const told = await request<{ text: string }>(a, `/tasks/${id}/progress`, { question: 'And now?' })
    assert.equal(told.text, 'It looks for owls still.')
    assert.equal((await events()).events.length, logged, 'a question of a person leaves nothing in the log')
    assert.deepEqual(await loggedThere(), before)
    assert.equal(thoughtThere, 1)
    const [first = { messages: [], tools: [] }] = asked
    assert.equal(first.tools.length, 0)
    assert.match(JSON.stringify(first.messages), /Look for owls\..*How many owls so far\?/)
    gate.resolve('Three owls.')
    const ended = await until(
      () => request<Task>(a, `/tasks/${id}`),
      ({ status }) => status !== 'running' && status !== 'queued',
    )
    assert.deepEqual([ended.status, ended.text], ['completed', 'Three owls.'])
  })

  test('[C21] [F26] says nothing of a condition that it waits for', async () => {
    gate = Promise.withResolvers()
    const run = await begin('dear')
    const id = run.tasks[0]?.taskId ?? ''
    await until(
      () => request<Task>(a, `/tasks/${id}`),
      ({ status }) => status === 'waiting',
    )
    asked.length = 0
    const told = await request<{ text: string }>(a, `/tasks/${id}/progress`, { question: 'What does it wait for?' })
    assert.equal(told.text, 'It looks for owls still.')
    assert.equal(asked.length, 1)
    assert.ok(!/moon|payment/.test(JSON.stringify(asked)), JSON.stringify(asked))
    await request(a, `/tasks/${id}/cancel`, {})
  })
})
