/** The connections of MCP servers over time: which are kept, for how long, and when a server that is away is tried again. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import type { McpSettings } from '../tool/mcp/mcp.ts'
import { callOf, isAlive, textOf, until, withServers } from './testing/opened.ts'
import { httpServer, nodeServer, sessionOf, settingsOf } from './testing/settings.ts'

const signal = new AbortController().signal
const file = 'test/support/mcp/hostile-server.ts'
const echo = (others: Partial<McpSettings> = {}) => settingsOf('s', nodeServer(file, ['echo']), others)
const pids = (others: Partial<McpSettings> = {}) => settingsOf('s', nodeServer(file, ['pid']), others)
const tools = [{ name: 'go', inputSchema: { type: 'object' } }]

/** A plain server of 2025 that counts what it is asked. */
interface Plain {
  readonly url: string
  readonly asked: string[]
  /** Answers nothing but this status. */
  status: number
  list: Readonly<Record<string, unknown>>
}

async function withPlain(test: (plain: Plain) => Promise<void>): Promise<void> {
  const asked: string[] = []
  const http: Server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: unknown; method?: string }
    if (method !== undefined) asked.push(method)
    if (plain.status !== 200) response.writeHead(plain.status).end()
    else if (request.method !== 'POST') response.writeHead(405).end()
    else if (id === undefined) response.writeHead(202).end()
    else {
      response.setHeader('content-type', 'application/json')
      const serverInfo = { name: 'plain', version: '0' }
      const results: Record<string, unknown> = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        'tools/list': plain.list,
        'tools/call': { content: [{ type: 'text', text: 'yes' }] },
      }
      const result = results[method ?? '']
      const error = { code: -32601, message: 'no' }
      response.end(
        JSON.stringify(result === undefined ? { jsonrpc: '2.0', id, error } : { jsonrpc: '2.0', id, result }),
      )
    }
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const plain: Plain = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    asked,
    status: 200,
    list: { tools },
  }
  try {
    await test(plain)
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

describe('connections', { concurrency: 4 }, () => {
  it('are made at the first list or call, and shared', async () => {
    await withPlain(async ({ url, asked }) => {
      await withServers([settingsOf('s', httpServer(url))], async ({ servers, call }) => {
        assert.deepEqual(servers.standing('s'), { state: 'idle', list: null, error: null })
        assert.equal(servers.known(sessionOf('s')), null)
        const all = await Promise.all([1, 2, 3].map(() => servers.list(sessionOf('s'), signal)))
        assert.equal(new Set(all).size, 1)
        assert.equal(servers.standing('s').state, 'ready')
        assert.equal(servers.standing('s').list, all[0])
        assert.equal(textOf(await call('s', 'go')), 'yes')
        assert.equal(await servers.list(sessionOf('s'), signal), all[0])
        const count = (method: string) => asked.filter((each) => each === method).length
        assert.deepEqual([count('initialize'), count('tools/list')], [1, 1])
      })
    })
  })
  it('are tried again after 1, 2, 4 … 60 s, and at once by a refresh', async () => {
    const clock = fakeClock()
    await withPlain(async (plain) => {
      const settings = [settingsOf('s', httpServer(plain.url))]
      const test = async ({ servers }: Parameters<Parameters<typeof withServers>[1]>[0]) => {
        plain.status = 500
        const list = () => servers.list(sessionOf('s'), signal)
        for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
          const before = plain.asked.length
          const first = await list()
          assert.equal('kind' in first && first.detail, '`s` answered with HTTP 500.')
          assert.ok(plain.asked.length > before)
          const tried = plain.asked.length
          clock.advance(pause * 1000 - 1)
          const second = await list()
          assert.equal('kind' in second && second.reason, 'unavailable')
          assert.equal((await servers.call(callOf('s', 'go'))).kind, 'failed')
          assert.equal(plain.asked.length, tried)
          clock.advance(1)
        }
        await list()
        plain.status = 200
        assert.ok('kind' in (await list()))
        const fresh = await servers.refresh('s', signal)
        assert.ok(!('kind' in fresh))
        assert.notEqual(await servers.refresh('s', signal), fresh)
      }
      await withServers(settings, test, { clock })
    })
  })
  it('keep a list for as long as it says', async () => {
    const clock = fakeClock()
    await withPlain(async (plain) => {
      plain.list = { tools, ttlMs: 5_000 }
      const test = async ({ servers }: Parameters<Parameters<typeof withServers>[1]>[0]) => {
        const list = await servers.list(sessionOf('s'), signal)
        clock.advance(4_999)
        assert.equal(servers.known(sessionOf('s')), list)
        clock.advance(1)
        assert.equal(servers.known(sessionOf('s')), null)
        assert.notEqual(await servers.list(sessionOf('s'), signal), list)
      }
      await withServers([settingsOf('s', httpServer(plain.url))], test, { clock })
    })
  })
  it('of one conversation end after 300 s of rest; that of all stays', async () => {
    const clock = fakeClock()
    const test = async ({ call }: Parameters<Parameters<typeof withServers>[1]>[0]) => {
      const of = async (conversation: string | null) =>
        Number(textOf(await call('s', 'go', { session: sessionOf('s', { conversation }) })))
      const [all, one, two] = [await of(null), await of('one'), await of('two')]
      assert.equal(new Set([all, one, two]).size, 3)
      clock.advance(200_000)
      assert.equal(await of('one'), one)
      clock.advance(100_000)
      assert.ok(await until(() => !isAlive(two)))
      assert.ok(isAlive(one) && isAlive(all))
      clock.advance(200_000)
      assert.ok(await until(() => !isAlive(one)))
      assert.equal(await of(null), all)
      assert.notEqual(await of('one'), one)
    }
    await withServers([pids()], test, { clock })
  })
  it('are at most 256 for a server: that which rested longest ends', async () => {
    await withPlain(async (plain) => {
      await withServers([settingsOf('s', httpServer(plain.url))], async ({ servers }) => {
        const session = (at: number) => sessionOf('s', { headers: { 'X-User': `user-${at}` } })
        for (let at = 0; at < 256; at++) await servers.list(session(at), signal)
        assert.notEqual(servers.known(session(0)), null)
        await servers.list(session(256), signal)
        assert.equal(servers.known(session(0)), null)
        assert.notEqual(servers.known(session(1)), null)
      })
    })
  })
  it('are made anew when a process has ended', async () => {
    await withServers([pids()], async ({ servers, call }) => {
      await servers.list(sessionOf('s'), signal)
      const first = Number(textOf(await call('s', 'go')))
      process.kill(first, 'SIGKILL')
      assert.ok(await until(() => servers.known(sessionOf('s')) === null))
      assert.notEqual(Number(textOf(await call('s', 'go'))), first)
    })
  })
  it('let somebody go who waits no longer', async () => {
    await withServers([settingsOf('s', nodeServer(file, ['never']))], async ({ servers, call }) => {
      const abort = new AbortController()
      const list = servers.list(sessionOf('s'), abort.signal)
      const called = call('s', 'go', { signal: abort.signal })
      setTimeout(() => abort.abort(new Error('enough')), 100)
      await assert.rejects(list, /enough/)
      assert.equal((await called).kind, 'failed')
    })
  })
  it('of a server that is not configured, or closed, fail', async () => {
    await withServers([echo()], async ({ servers, call }) => {
      assert.equal(textOf(await call('none', 'go')).includes('`none` is not configured.'), true)
      await call('s', 'go')
      await servers.close()
      assert.equal(textOf(await call('s', 'go')).includes('`s` is closed.'), true)
    })
  })
})
