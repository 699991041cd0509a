/** The final hop of a chain: no model anywhere in the run is offered an agent elsewhere, and no connection is made, not even to find one. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { call, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, AnyEvent, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { freePort } from '../support/free-port.ts'
import { until } from './support/stage.ts'

const ports = await Promise.all([0, 1].map(freePort))
/** Where agents elsewhere are: it takes connections, counts them, and knows nobody. */
let connections = 0
const elsewhere = createServer((socket) => {
  connections += 1
  socket.on('error', () => {})
  socket.once('data', () => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'))
})
const remotes = [
  { name: 'found', address: '@docs@c.test' },
  { name: 'known', card: 'https://c.test/card.json' },
  { name: 'behind', address: '@docs@c.test', blocking: 'never' },
]
const names = remotes.map(({ name }) => name)
const everybody = ['digger', 'front', 'helper', 'target']

/** Which agents have thought, and what each was offered of those elsewhere. */
const offered = new Map<string, { readonly tools: Set<string>; turns: number }>()
const nextSteps: Readonly<Record<string, readonly Parameters<typeof call>[]>> = {
  front: [
    ['helper', { message: 'help' }],
    ['transfer_to_agent', { agent_name: 'target' }],
  ],
  helper: [['digger', { message: 'dig' }]],
}

/** Calls all agents elsewhere, whether they are offered or not; then one more of here, or hands over. Runs that report a task only end. */
const rule: Rule = (request) => {
  const who = /^You are (\w+)\./.exec(String(request.messages[0]?.content))?.[1] ?? ''
  const seen = offered.get(who) ?? { tools: new Set<string>(), turns: 0 }
  offered.set(who, seen)
  for (const { name } of request.tools) if (names.includes(name)) seen.tools.add(name)
  seen.turns += 1
  if (seen.turns === 1) return { toolCalls: names.map((name) => ({ name, arguments: { message: 'go on' } })) }
  const next = nextSteps[who]?.[seen.turns - 2]
  return next === undefined ? `${who} is done` : call(...next)
}

const agent = (id: string, more: object) =>
  ({ id, model: `play/${id}`, instructions: `You are ${id}.`, remotes, ...more }) as AgentInput
const below = [
  agent('front', {
    address: 'front',
    access: { call: ['@*'] },
    subAgents: [{ agent: 'helper' }],
    transfers: [{ agent: 'target' }],
  }),
  agent('helper', { subAgents: [{ agent: 'digger', blocking: 'never' }] }),
  agent('digger', {}),
  agent('target', {}),
]
const caller: Rule = (_, turn) => (turn === 0 ? call('front', { message: 'go' }) : 'called')

describe('the final hop', () => {
  let b: WitanServer
  let resolve: Record<string, string>

  async function launch(domain: string, port: number, more: object): Promise<WitanServer> {
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const models = everybody.map((id) => [id, scriptedModel(rule, { id: `play/${id}` })])
    return startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port, domain, publicUrl: `https://${domain}` },
      federation: { ...config.federation, resolve },
      models: {
        ...Object.fromEntries(models.map(([id, model]) => [`play/${id}`, model])),
        'play/caller': scriptedModel(caller, { id: 'play/caller' }),
      },
      ...more,
    })
  }

  before(async () => {
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done))
    const { port } = elsewhere.address() as AddressInfo
    resolve = { 'c.test': `http://127.0.0.1:${port}` }
    for (const [at, name] of ['a.test', 'b.test'].entries()) resolve[name] = `http://127.0.0.1:${ports[at]}`
    b = await launch('b.test', ports[1] ?? 0, { agents: below })
  })
  after(async () => {
    await b?.close()
    elsewhere.close()
  })

  async function get<T>(server: WitanServer, path: string, body?: object): Promise<T> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const more = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await (await fetch(`${server.url}/api/v1${path}`, { headers, ...more })).json()) as T
  }

  /** Calls the front of the other server as the first of `maxHops` hops, and waits until all there is done. Returns what each call elsewhere came to. */
  async function calledAtHop(maxHops: number): Promise<readonly string[]> {
    offered.clear()
    connections = 0
    const known = new Set((await get<{ items: { id: string }[] }>(b, '/conversations')).items.map(({ id }) => id))
    const agents = [agent('caller', { remotes: [{ name: 'front', address: '@front@b.test' }] })]
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const a = await launch('a.test', ports[0] ?? 0, { agents, federation: { ...config.federation, resolve, maxHops } })
    const { run } = await get<{ run: RunResult }>(a, '/conversations', { agent: 'caller', prompt: 'go' })
    assert.equal(run.status, 'completed', JSON.stringify(run))
    await a.close()
    const { items } = await get<{ items: { id: string }[] }>(b, '/conversations')
    const id = encodeURIComponent(items.find((one) => !known.has(one.id))?.id ?? '')
    const state = await until(
      () => get<{ activeRunId: string | null; runs: unknown[] }>(b, `/conversations/${id}`),
      // The task in the background is reported to its caller by a run of its own.
      ({ activeRunId, runs }) => activeRunId === null && runs.length > 1 && offered.size === 4,
    )
    assert.ok(state.runs.length > 1)
    const { events } = await get<{ events: AnyEvent[] }>(b, `/conversations/${id}/events?verbose=true&limit=1000`)
    const asked = new Set(
      events.flatMap(({ type, kind, callId, content }) =>
        type === 'start' && kind === 'tool' && names.includes(String(content['name'])) ? [callId] : [],
      ),
    )
    return events.flatMap(({ type, callId, content }) =>
      type === 'error' && asked.has(callId) ? [String(content['code'])] : [],
    )
  }

  test('[M06] [M08] [E29] of the chain: nobody elsewhere is offered, and nothing is sent', async () => {
    const codes = await calledAtHop(1)
    assert.deepEqual(
      [...offered].map(([who, { tools }]) => [who, tools.size]).sort(),
      everybody.map((who) => [who, 0]),
    )
    assert.deepEqual([...new Set(codes)], ['CHAIN_EXHAUSTED'])
    assert.ok(codes.length >= 4 * names.length, `${codes.length} calls were refused`)
    assert.equal(connections, 0)
  })

  test('[M06] before it: all are offered, and looked for', async () => {
    await calledAtHop(2)
    assert.deepEqual(
      [...offered].map(([who, { tools }]) => [who, tools.size]).sort(),
      everybody.map((who) => [who, names.length]),
    )
    assert.ok(connections > 0)
  })
})
