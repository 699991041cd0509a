/** Two servers: an agent of one calls an agent of the other, which is found by its address, and is let in by a token that the first has signed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, AnyEvent, Interruption, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { freePort } from '../support/free-port.ts'

const ports = await Promise.all([0, 1].map(freePort))
const resolve = { 'a.test': `http://127.0.0.1:${ports[0]}`, 'b.test': `http://127.0.0.1:${ports[1]}` }
const systems: string[] = []

const rules: Record<string, Rule> = {
  desk: (request, turn) => {
    const said = lastUserMessage(request)
    if (turn > 0) return `Told: ${String(request.messages.at(-1)?.content)}`
    const name = said === 'closed' || said === 'missing' ? said : 'docs'
    return call(name, { message: said })
  },
  docs: async (request, turn) => {
    systems.push(String(request.messages[0]?.content))
    const said = lastUserMessage(request)
    if (said.endsWith('hang')) return { text: 'so far', hang: true }
    if (!said.endsWith('ask') || turn > 0)
      return {
        deltas: ['In the ', 'cellar.'],
        text: turn > 0 ? `Noted ${String(request.messages.at(-1)?.content)}` : 'In the cellar.',
      }
    return call('ask_question', { questions: [{ id: 'shelf', text: 'Which shelf?', options: [], freeText: true }] })
  },
}

/** Calls the one remote that it is offered, and says what came of it; without one it answers alone. */
const passOn: Rule = (request, turn) => {
  systems.push(String(request.messages[0]?.content))
  if (turn > 0) return `[${String(request.messages.at(-1)?.content)}]`
  const [tool] = request.tools
  return tool === undefined ? 'alone' : call(tool.name, { message: 'go on' })
}
rules['front'] = passOn
rules['relay'] = passOn
rules['second'] = passOn

async function launch(domain: string, port: number, agents: readonly AgentInput[]): Promise<WitanServer> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  return startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port, domain, publicUrl: `https://${domain}` },
    federation: { ...config.federation, resolve },
    agents: [...agents],
    models: Object.fromEntries(
      Object.entries(rules).map(([id, rule]) => [`play/${id}`, scriptedModel(rule, { id: `play/${id}` })]),
    ),
  })
}

const agent = (id: string, more: object) =>
  ({ id, model: `play/${id}`, instructions: `You are ${id}.`, ...more }) as AgentInput

describe('an agent on another server', () => {
  let a: WitanServer
  let b: WitanServer

  before(async () => {
    b = await launch('b.test', ports[1] ?? 0, [
      agent('docs', {
        address: 'docs',
        description: 'Knows the documents.',
        questions: true,
        access: { call: ['@*@a.test'] },
      }),
      agent('relay', {
        address: 'relay',
        access: { call: ['@*@a.test'] },
        remotes: [{ name: 'second', address: '@second@a.test' }],
      }),
      agent('closed', { address: 'closed', model: 'play/docs' }),
    ])
    a = await launch('a.test', ports[0] ?? 0, [
      agent('front', { remotes: [{ name: 'relay', address: '@relay@b.test' }] }),
      agent('second', {
        address: 'second',
        access: { call: ['@*@b.test'] },
        remotes: [{ name: 'relay', address: '@relay@b.test' }],
      }),
      agent('desk', {
        remotes: [
          { name: 'docs', address: 'Docs@b.test' },
          { name: 'closed', address: '@closed@b.test' },
          { name: 'missing', address: '@missing@b.test' },
        ],
      }),
    ])
  })
  after(async () => {
    await a?.close()
    await b?.close()
  })

  const request = async <T>(server: WitanServer, path: string, body?: object): Promise<T> => {
    const reply = await fetch(`${server.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await reply.json()) as T
  }
  const ask = (prompt: string, agent = 'desk') => request<{ run: RunResult }>(a, '/conversations', { agent, prompt })
  const events = async (server: WitanServer, id: string) =>
    (await request<{ events: AnyEvent[] }>(server, `/conversations/${encodeURIComponent(id)}/events?verbose=true`))
      .events

  test('it is found, called with a signed token, and answers in the tree', async () => {
    systems.length = 0
    const { run } = await ask('where')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    assert.match(run.text, /In the cellar\./)
    const own = (await events(a, run.conversationId)).filter(({ author }) => author === '@docs@b.test')
    assert.deepEqual(
      own.map(({ type, kind }) => `${type} ${kind}`).filter((one) => !one.startsWith('checkpoint')),
      ['start agent', 'end agent'],
    )
    assert.match(systems[0] ?? '', /This is hop 1 of at most 4: calls to other servers may go 3 hops further\./)
    const [there] = (await request<{ items: { id: string }[] }>(b, '/conversations')).items
    const [first] = await events(b, there?.id ?? '')
    assert.equal(first?.callId, (await events(b, there?.id ?? ''))[1]?.callId)
  })

  test('what it asks is answered here, on the same task there', async () => {
    const { run } = await ask('ask')
    assert.equal(run.status, 'waiting', JSON.stringify(run))
    const [open] = run.interruptions as readonly Interruption[]
    assert.deepEqual([open?.kind, open?.path, open?.agent], ['question', 'docs', '@docs@b.test'])
    await request(a, `/interruptions/${open?.id}/answer`, { answer: { shelf: { text: 'the second' } } })
    let ended = await request<{ status: string; result: RunResult }>(a, `/runs/${run.runId}`)
    for (let turn = 0; turn < 400 && ended.status !== 'completed'; turn += 1) {
      await delay(50)
      ended = await request(a, `/runs/${run.runId}`)
    }
    assert.match(ended.result?.text ?? JSON.stringify(ended), /the second/)
  })

  test('[D10] a cancel here ends the run there', async () => {
    const { id } = await request<{ id: string }>(a, '/conversations', { agent: 'desk' })
    const path = `/conversations/${encodeURIComponent(id)}/runs`
    const { runId } = await request<{ runId: string }>(a, path, { prompt: 'hang', wait: false })
    let there: { runId: string } | undefined
    for (let turn = 0; turn < 400 && there === undefined; turn += 1) {
      await delay(50)
      const { items } = await request<{ items: { lastRun: { runId: string; status: string } }[] }>(b, '/conversations')
      there = items.find(({ lastRun }) => lastRun?.status === 'running')?.lastRun
    }
    await request(a, `/runs/${runId}/cancel`, {})
    let state = ''
    for (let turn = 0; turn < 200 && state !== 'cancelled'; turn += 1) {
      await delay(50)
      state = (await request<{ status: string }>(b, `/runs/${there?.runId}`)).status
    }
    assert.equal(state, 'cancelled')
  })

  test('[M28] [M32] a chain over both servers ends where it would come through an agent again', async () => {
    systems.length = 0
    const { run } = await ask('go', 'front')
    assert.equal(run.status, 'completed', JSON.stringify(run))
    assert.match(run.text, /@relay@b\.test is among those that this call came through/)
    const hops = systems.flatMap((system) => /This is [^:]*/.exec(system)?.[0] ?? [])
    assert.deepEqual([...new Set(hops)], ['This is hop 1 of at most 4', 'This is hop 2 of at most 4'])
  })

  test('an agent that lets nobody in cannot be told from one that is not there', async () => {
    for (const name of ['closed', 'missing']) {
      const { run } = await ask(name)
      assert.match(run.text, /answered 404|cannot be used|cannot be reached/, name)
    }
  })
})
