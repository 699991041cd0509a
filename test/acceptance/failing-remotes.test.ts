/** Row 42 of the bad inputs: each way in which the call of an agent elsewhere fails is an error that the model reads, which names the agent, and the run goes on. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, AnyEvent, RunResult } from '@witan/protocol'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { freePort } from '../support/free-port.ts'

const canary = 'cny_inside'
const doors = { 'a.test': await createForwarder(), 'b.test': await createForwarder() }

/** An agent of other software at each path: what it answers with, and where its card leads. */
const strange: Readonly<Record<string, { readonly card?: unknown; readonly url?: string; readonly reply?: object }>> = {
  refuses: { reply: { error: { code: -32603, message: 'Out of paper.' } } },
  fails: { reply: { result: { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_FAILED' } } } } },
  rejects: { reply: { result: { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_REJECTED' } } } } },
  babbles: { reply: { result: 7 } },
  none: { card: { name: 'x' } },
  list: { card: [] },
  old: { card: { name: 'x', protocolVersion: '0.3.0', url: 'https://c.test/old' } },
  inside: { url: `https://127.0.0.1/${canary}` },
  plain: { url: 'http://d.test/a2a' },
  unsigned: { card: null },
}
const other = createServer((request, response) => {
  const name = (request.url ?? '').split('/')[1] ?? ''
  const { card, url = `https://c.test/${name}`, reply } = strange[name] ?? {}
  const offered = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
  const whole = { name, supportedInterfaces: offered, capabilities: {} }
  response.setHeader('content-type', 'application/json')
  if (request.method === 'GET') response.end(JSON.stringify(card === undefined ? whole : card))
  else response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...reply }))
})

const cardOf = (name: string) => ({ card: `https://c.test/${name}` })
/** By the name of the remote: where it leads, the code, and what the words say beside the agent. */
const rows: Readonly<Record<string, readonly [at: object, code: string, words: RegExp]>> = {
  away: [{ card: 'https://away.test/card' }, 'REMOTE_UNREACHABLE', /ECONNREFUSED/],
  nowhere: [{ address: '@docs@nowhere.invalid' }, 'REMOTE_UNREACHABLE', /ENOTFOUND|EAI_AGAIN|address/],
  missing: [{ address: '@missing@b.test' }, 'REMOTE_CARD_INVALID', /404/],
  none: [cardOf('none'), 'REMOTE_CARD_INVALID', /no interface of protocol version 1\.0/],
  list: [cardOf('list'), 'REMOTE_CARD_INVALID', /no card/],
  old: [cardOf('old'), 'REMOTE_CARD_INVALID', /it speaks A2A 0\.3\.0/],
  inside: [cardOf('inside'), 'URL_NOT_PUBLIC', /leads to 127\.0\.0\.1 \(loopback\)/],
  plain: [cardOf('plain'), 'URL_NOT_PUBLIC', /not HTTPS/],
  private: [{ card: 'https://10.0.0.5/card' }, 'URL_NOT_PUBLIC', /leads to 10\.0\.0\.5 \(private\)/],
  refuses: [cardOf('refuses'), 'REMOTE_FAILED', /failed: Out of paper\./],
  fails: [cardOf('fails'), 'REMOTE_FAILED', /failed: it does not say why/],
  rejects: [cardOf('rejects'), 'REMOTE_FAILED', /failed/],
  babbles: [cardOf('babbles'), 'REMOTE_FAILED', /without a result/],
  pinned: [{ ...cardOf('fails'), pin: 'A'.repeat(43) }, 'REMOTE_KEY_CHANGED', /no key.*`pin` names.*--trust/],
  closed: [{ address: '@closed@b.test' }, 'REMOTE_FAILED', /404/],
  broken: [{ address: '@broken@b.test' }, 'REMOTE_FAILED', /failed: The model could not be called/],
  itself: [{ address: '@desk@a.test' }, 'CHAIN_LOOP', /among those that this call came through/],
}

const rules: Readonly<Record<string, Rule>> = {
  desk: (request, turn) =>
    turn === 0
      ? call(lastUserMessage(request), { message: 'go' })
      : `Told: ${String(request.messages.at(-1)?.content)}`,
  docs: () => 'Here.',
  broken: () => {
    throw new Error(`${canary} at /srv/secret.ts:1:1`)
  },
}

describe('a call elsewhere that fails', () => {
  const servers = new Map<string, WitanServer>()
  let folder = ''
  let resolve: Readonly<Record<string, string>>

  async function launch(domain: keyof typeof doors, agents: readonly object[]): Promise<WitanServer> {
    // The caller keeps the keys that have signed; the other server has another one after each start.
    const store = domain === 'a.test' ? `file:${join(folder, 'a.db')}` : 'memory:'
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: store } })
    const models = Object.entries(rules).map(([id, rule]) => [`play/${id}`, scriptedModel(rule, { id: `play/${id}` })])
    const server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
      federation: { ...config.federation, resolve },
      agents: agents as AgentInput[],
      models: Object.fromEntries(models),
    })
    servers.set(domain, server)
    doors[domain].lead(server.url)
    return server
  }
  const published = (id: string, more: object) => ({
    ...{ id, model: `play/${id}`, instructions: 'Work.', address: id, access: { call: ['@*', 'user:local'] } },
    ...more,
  })
  const there = [
    published('docs', {}),
    published('broken', {}),
    published('closed', { model: 'play/docs', access: { call: null } }),
  ]

  const remotes = Object.entries(rows).map(([name, [at]]) => ({ name, ...at }))
  const here = [published('desk', { remotes: [...remotes, { name: 'docs', address: '@docs@b.test' }] })]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-failing-'))
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const own = Object.entries(doors).map(([domain, { url }]) => [domain, url])
    const c = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    resolve = Object.fromEntries([...own, ['c.test', c], ['away.test', `http://127.0.0.1:${await freePort()}`]])
    await launch('b.test', there)
    await launch('a.test', here)
  })
  after(async () => {
    for (const server of servers.values()) await server.close()
    for (const door of Object.values(doors)) await door.close()
    other.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function request<T>(path: string, body?: object): Promise<T> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const more = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await (await fetch(`${servers.get('a.test')?.url}/api/v1${path}`, { headers, ...more })).json()) as T
  }
  /** What the call came to, in the log and for its model. */
  async function called(name: string) {
    const { run } = await request<{ run: RunResult }>('/conversations', { agent: 'desk', prompt: name })
    assert.equal(run.status, 'completed', JSON.stringify(run))
    const { events } = await request<{ events: AnyEvent[] }>(
      `/conversations/${encodeURIComponent(run.conversationId)}/events?verbose=true`,
    )
    const error = events.find(({ type, kind }) => type === 'error' && kind !== 'model')
    return { run, error: error?.content as { readonly code: string; readonly detail: string } | undefined, events }
  }

  for (const [name, [at, code, words]] of Object.entries(rows))
    test(`${name}: ${code}`, async () => {
      const { run, error, events } = await called(name)
      assert.equal(error?.code, code, JSON.stringify(error))
      assert.match(error?.detail ?? '', words)
      const { address, card } = at as { readonly address?: string; readonly card?: string }
      const where = address?.split('@').at(-1) ?? new URL(card ?? '').host
      assert.ok(
        (error?.detail ?? '').includes(where) || code === 'URL_NOT_PUBLIC',
        `it names ${where}: ${error?.detail}`,
      )
      assert.match(run.text, /^Told: \{"error":"/)
      const all = JSON.stringify(events)
      assert.ok(!/\.ts:\d|node:internal|\/srv\//.test(all), 'no stack shows')
      assert.ok(code === 'URL_NOT_PUBLIC' || !all.includes(canary))
    })

  test('[Mb14] a server whose store is another one has another key, and is not called', async () => {
    assert.equal((await called('docs')).error, undefined)
    for (const [domain, agents] of [
      ['b.test', there],
      ['a.test', here],
    ] as const) {
      await servers.get(domain)?.close()
      await launch(domain, agents)
    }
    const { run, error } = await called('docs')
    assert.equal(error?.code, 'REMOTE_KEY_CHANGED')
    assert.match(
      error?.detail ?? '',
      /^The card of @docs@b\.test is signed by another key, .*`witan resolve --trust` keeps another one/,
    )
    assert.match(run.text, /^Told: \{"error":"/)
  })
})
