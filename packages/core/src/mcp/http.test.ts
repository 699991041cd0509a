/** MCP servers over HTTP: sessions of 2025, tokens, headers, and servers that send one elsewhere. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Peer, startPeer, textOf, until, withServers } from './testing/opened.ts'
import { httpServer, sessionOf, settingsOf } from './testing/settings.ts'

const signal = new AbortController().signal

describe('a server with sessions', () => {
  let peer: Peer
  before(async () => {
    peer = await startPeer('test/support/mcp/session-server.ts')
  })
  after(() => peer.close())
  const at = (others = {}, path = '/mcp') => settingsOf('s', httpServer(`${peer.url}${path}`), others)

  it('lists and answers, and a forgotten session is never shown', async () => {
    await withServers([at()], async ({ servers, call }) => {
      const list = await servers.list(sessionOf('s'), signal)
      assert.ok(!('kind' in list), JSON.stringify(list))
      assert.deepEqual([list.protocolVersion, list.tools.length], ['2025-11-25', 6])
      assert.equal(servers.known(sessionOf('s')), list)
      const first = Number(textOf(await call('s', 'count')))
      await fetch(`${peer.url}/forget`)
      assert.equal(Number(textOf(await call('s', 'count'))), first + 1)
      assert.equal(servers.known(sessionOf('s')), null)
    })
  })
  it('is not told that people can be asked', async () => {
    await withServers([at()], async ({ call }) => {
      assert.match(textOf(await call('s', 'ask')), /does not support/)
    })
  })
  it('tells of changes', async () => {
    await withServers([at()], async ({ servers, call }) => {
      await servers.list(sessionOf('s'), signal)
      await call('s', 'change')
      assert.ok(await until(() => servers.known(sessionOf('s')) === null))
      const list = await servers.list(sessionOf('s'), signal)
      assert.equal('kind' in list ? 0 : list.tools.length, 7)
    })
  })
  it('is told of a call that is cancelled', async () => {
    await withServers([at()], async ({ call }) => {
      const abort = new AbortController()
      const waiting = call('s', 'slow', { signal: abort.signal })
      setTimeout(() => abort.abort(), 200)
      assert.equal((await waiting).kind, 'failed')
      assert.ok(await until(() => peer.errors.includes('slow: stopped')))
    })
  })
  it('has a session for each set of headers, and one for each conversation', async () => {
    await withServers([at()], async ({ call }) => {
      const who = async (session: Parameters<typeof sessionOf>[1]) => {
        const { headers, sessionId } = JSON.parse(textOf(await call('s', 'who', { session: sessionOf('s', session) })))
        return [headers['x-user'] ?? null, sessionId]
      }
      const all = [
        await who({}),
        await who({ headers: { 'X-User': 'ann' } }),
        await who({ headers: { 'X-User': 'bob' } }),
        await who({ conversation: 'c1' }),
        await who({ headers: { 'x-user': 'ann' }, conversation: 'c1' }),
      ]
      assert.deepEqual(
        all.map(([user]) => user),
        [null, 'ann', 'bob', null, 'ann'],
      )
      assert.equal(new Set(all.map(([, id]) => id)).size, 5)
      assert.deepEqual(await who({ headers: { 'X-User': 'ann' } }), all[1])
    })
  })
  it('has a token, which is renewed once when it is refused', async () => {
    const auth = {
      kind: 'clientCredentials' as const,
      tokenUrl: `${peer.url}/token`,
      clientId: 'me',
      clientSecret: 'quiet-word',
      scope: 'tools',
    }
    const guarded = settingsOf('s', httpServer(`${peer.url}/guarded`, { auth }))
    await withServers([guarded], async ({ call, servers }) => {
      const both = await Promise.all([call('s', 'who'), servers.list(sessionOf('s'), signal)])
      assert.match(textOf(both[0]), /Bearer token-2-abcdef/)
      assert.ok(!('kind' in both[1]))
    })
    await withServers([settingsOf('s', httpServer(`${peer.url}/guarded`))], async ({ call }) => {
      const answer = await call('s', 'who')
      assert.deepEqual(answer, {
        kind: 'failed',
        reason: 'unavailable',
        detail: '`s` answered with HTTP 401: Not this token',
      })
    })
  })
  it('that dies in a call is lost, and then away', async () => {
    const own = await startPeer('test/support/mcp/session-server.ts')
    await withServers([settingsOf('s', httpServer(`${own.url}/mcp`))], async ({ call, servers }) => {
      await servers.list(sessionOf('s'), signal)
      const lost = await call('s', 'die')
      assert.equal(lost.kind === 'failed' && lost.reason, 'lost', JSON.stringify(lost))
      // A connection that was kept may be found broken once.
      await call('s', 'count')
      const away = await call('s', 'count')
      assert.deepEqual(away, { kind: 'failed', reason: 'unavailable', detail: '`s` cannot be reached (ECONNREFUSED).' })
      assert.equal(servers.standing('s').state, 'failed')
    })
    await own.close()
  })
})

/** A server of one function, after the greeting. */
type Serve = (response: ServerResponse, message: Record<string, unknown>, request: IncomingMessage) => void

const json = (response: ServerResponse, value: unknown) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(typeof value === 'string' ? value : JSON.stringify(value))

async function withHttp(serve: Serve, test: (url: string) => Promise<void>): Promise<void> {
  const http = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const message = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>)
    const { id, method } = message
    if (request.method !== 'POST') response.writeHead(405).end()
    else if (method === 'server/discover')
      json(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })
    else if (method === 'initialize') {
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'h', version: '0' },
      }
      json(response, { jsonrpc: '2.0', id, result })
    } else if (id === undefined) response.writeHead(202).end()
    else serve(response, message, request)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  try {
    await test(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp?key=sesame-9`)
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

describe('a hostile server over HTTP', () => {
  const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
  const kinds: Readonly<Record<string, readonly [Serve, RegExp]>> = {
    redirects: [
      (response) => response.writeHead(307, { location: 'http://localhost:1/mcp' }).end(),
      /protocol.*redirects to another place/,
    ],
    'long JSON': [
      (response) =>
        json(response, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"${'x'.repeat(17 << 20)}"}]}}`),
      /protocol.*more than 16 MiB/,
    ],
    'a long event': [
      (response) => events(response).end(`data: ${'x'.repeat(17 << 20)}\n\n`),
      /protocol.*more than 16 MiB/,
    ],
    'deep JSON': [
      (response, { id }) =>
        json(
          response,
          `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"x":${'['.repeat(9_999)}${']'.repeat(9_999)}}}`,
        ),
      /protocol.*deeper than 512/,
    ],
    'another id': [
      (response) => json(response, { jsonrpc: '2.0', id: 99, result: { content: [] } }),
      /protocol.*something else/,
    ],
    'no JSON': [(response) => json(response, '<html>'), /protocol.*no JSON/],
    'a page': [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), /protocol/],
    'no answer in its events': [(response) => events(response).end(), /lost.*broke the connection/],
    'a cut': [
      (response) => {
        events(response).write(': hello\n\n')
        setTimeout(() => response.destroy(), 50)
      },
      /lost.*broke the connection/,
    ],
    'a cut before the head': [(response) => response.destroy(), /lost.*broke the connection \(ECONNRESET\)/],
    silence: [() => {}, /timeout.*did not answer within 700 ms/],
    'a status': [
      (response) => response.writeHead(500).end('trouble sesame-9 key-of-ours'),
      /failed.*HTTP 500: trouble \[hidden\] \[hidden\]/,
    ],
    'busy status': [(response) => response.writeHead(503).end(), /unavailable.*HTTP 503/],
    'progress for ever': [
      (response, { id }) => {
        events(response)
        const one = frame({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: id, progress: 1 },
        })
        const more = () => response.writable && response.write(one.repeat(200), () => setImmediate(more))
        more()
      },
      /timeout.*did not finish a call within 1500 ms/,
    ],
  }
  for (const [kind, [serve, words]] of Object.entries(kinds))
    it(`that answers with ${kind} fails`, async () => {
      await withHttp(serve, async (url) => {
        const headers = { 'X-Key': 'key-of-ours' }
        const limits = { timeoutMs: 700, maxTotalMs: 1_500 }
        await withServers([settingsOf('h', httpServer(url, { headers }), limits)], async ({ call, reported }) => {
          const answer = await call('h', 'go')
          assert.equal(answer.kind, 'failed')
          assert.match(`${answer.reason} ${answer.detail}`, words)
          assert.deepEqual(reported, [])
        })
      })
    })
  it('answers twice, and the first counts', async () => {
    const serve: Serve = (response, { id }) => {
      const answer = (text: string) => frame({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
      events(response).end(`${answer('first')}${answer('second')}`)
    }
    await withHttp(serve, async (url) => {
      await withServers([settingsOf('h', httpServer(url))], async ({ call }) => {
        assert.equal(textOf(await call('h', 'go')), 'first')
      })
    })
  })
  it('keeps the headers of the protocol, and gets those of the configuration', async () => {
    let seen: IncomingMessage['headers'] = {}
    const serve: Serve = (response, { id }, request) => {
      seen = request.headers
      json(response, { jsonrpc: '2.0', id, result: { content: [] } })
    }
    await withHttp(serve, async (url) => {
      const headers = { 'X-Key': 'key-of-ours', 'Content-Type': 'text/plain', Host: 'evil', 'X-User': 'all' }
      await withServers([settingsOf('h', httpServer(url, { headers }))], async ({ call }) => {
        await call('h', 'go', { session: sessionOf('h', { headers: { 'x-user': 'ann' } }) })
      })
    })
    assert.deepEqual(
      [seen['x-key'], seen['content-type'], seen['x-user'], seen.host?.startsWith('127.0.0.1')],
      ['key-of-ours', 'application/json', 'ann', true],
    )
  })
})
