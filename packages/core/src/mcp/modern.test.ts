/** MCP servers of 2026-07-28, on stdio and over HTTP. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Peer, startPeer, textOf, until, withServers } from './testing/opened.ts'
import { httpServer, nodeServer, sessionOf, settingsOf } from './testing/settings.ts'
import type { McpSettings, McpTransport } from '../tool/mcp/mcp.ts'

const file = 'test/support/mcp/modern-server.ts'
const signal = new AbortController().signal

for (const kind of ['stdio', 'http'] as const)
  describe(`a server of 2026 over ${kind}`, () => {
    let peer: Peer | null = null
    before(async () => {
      if (kind === 'http') peer = await startPeer(file, { args: ['http'] })
    })
    after(() => peer?.close())
    const transport = (): McpTransport => (peer === null ? nodeServer(file, ['stdio']) : httpServer(`${peer.url}/mcp`))
    const at = (others: Partial<McpSettings> = {}) => [settingsOf('m', transport(), others)]

    it('lists and answers', async () => {
      await withServers(at(), async ({ servers, call }) => {
        const list = await servers.list(sessionOf('m'), signal)
        assert.ok(!('kind' in list), JSON.stringify(list))
        assert.deepEqual([list.protocolVersion, list.serverInfo?.name], ['2026-07-28', 'modern'])
        assert.equal(servers.known(sessionOf('m')), list)
        const sum = await call('m', 'add', { arguments: { a: 2, b: 3 } })
        assert.deepEqual(sum, {
          kind: 'result',
          content: [{ type: 'text', text: '5' }],
          structuredContent: { sum: 5 },
          isError: false,
        })
        const meta = JSON.parse(textOf(await call('m', 'meta', { meta: { 'io.witan/callId': 'call-1' } })))
        assert.equal(meta['io.witan/callId'], 'call-1')
        assert.equal(typeof meta.progressToken, 'number')
      })
    })
    it('asks people, and gets what they say with its own state', async () => {
      await withServers(at(), async ({ call }) => {
        const asked = await call('m', 'ask')
        assert.equal(asked.kind, 'inputRequired', JSON.stringify(asked))
        assert.deepEqual([asked.state, Object.keys(asked.requests)], ['state-7', ['name']])
        assert.equal(asked.requests['name']?.method, 'elicitation/create')
        const responses = { name: { action: 'accept', content: { name: 'Ann' } } }
        const answer = await call('m', 'ask', { given: { responses, state: asked.state } })
        assert.match(textOf(answer), /"Ann".*state-7/)
      })
    })
    it('may not ask people if it is not allowed, nor for a model', async () => {
      await withServers(at({ ask: false }), async ({ call }) => {
        assert.equal((await call('m', 'ask')).kind, 'failed')
      })
      await withServers(at(), async ({ call }) => {
        const sampled = await call('m', 'sample')
        assert.equal(sampled.kind, 'failed')
      })
    })
    it('gets folders', async () => {
      await withServers(at({ roots: ['/tmp/a b'] }), async ({ call }) => {
        assert.match(textOf(await call('m', 'folders')), /file:\/\/\/tmp\/a%20b/)
      })
    })
    it('tells of progress and of changes, and is told of a call that is cancelled', async () => {
      await withServers(at(), async ({ servers, call, lines }) => {
        await servers.list(sessionOf('m'), signal)
        const abort = new AbortController()
        let seen = 0
        const waiting = call('m', 'slow', { signal: abort.signal, onProgress: () => (seen += 1) })
        assert.ok(await until(() => seen > 2))
        const begun = performance.now()
        abort.abort()
        assert.equal((await waiting).kind, 'failed')
        assert.ok(performance.now() - begun < 100)
        assert.ok(await until(() => [...lines, ...(peer?.errors ?? [])].some((line) => line.includes('slow: stopped'))))
        assert.ok(performance.now() - begun < 1_000)
        await call('m', 'change')
        assert.ok(await until(() => servers.known(sessionOf('m')) === null))
        const list = await servers.list(sessionOf('m'), signal)
        assert.ok(!('kind' in list) && list.tools.some(({ name }) => name === 'new-1'))
      })
    })
  })
