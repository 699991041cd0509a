/** The roster, the tools and direct runs: what is sent, and what comes of the reply. */
import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { problem } from '@witan/protocol'
import { type Client, createClient } from './client.ts'
import { fastTiming } from './testing/fast-timing.ts'

interface Reply {
  readonly status: number
  readonly body: unknown
}

const seen: { line: string; headers: IncomingHttpHeaders; body: unknown }[] = []
const replies: Reply[] = []
const server = createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const line = `${request.method} ${request.url?.replace('/api/v1/agents', '')}`
  seen.push({ line, headers: request.headers, body: text === '' ? null : JSON.parse(text) })
  const { status, body } = replies.shift() ?? { status: 200, body: {} }
  response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' })
  response.end(status === 204 ? '' : JSON.stringify(body))
})
describe('the roster and the tools of an agent', () => {
  let witan: Client
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    witan = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timing: fastTiming() })
  })
  beforeEach(() => {
    seen.length = 0
    replies.length = 0
  })
  after(() => {
    witan.close()
    server.closeAllConnections()
    server.close()
  })

  const agent = { id: 'b', model: 'local/m', instructions: 'Help.' }

  test('[F12] [F44] a roster is listed and changed one by one, over a revision where asked', async () => {
    await witan.agents.subagents.list('a', { limit: 1 })
    await witan.agents.subagents.create('a', { agent, edge: { description: 'Helps.' }, ifMatch: 2 })
    await witan.agents.subagents.assign('a', 'b/c', { description: 'Other.', ifMatch: 3 })
    await witan.agents.subagents.assign('a', 'b')
    replies.push({ status: 204, body: null }, { status: 204, body: null })
    await witan.agents.subagents.unassign('a', 'b', { ifMatch: 4 })
    await witan.agents.subagents.unassign('a', 'b')
    assert.deepEqual(
      seen.map(({ line, headers, body }) => [line, headers['if-match'] ?? null, body]),
      [
        ['GET /a/subagents?limit=1', null, null],
        ['POST /a/subagents', '"2"', { agent, edge: { description: 'Helps.' } }],
        ['PUT /a/subagents/b%2Fc', '"3"', { description: 'Other.' }],
        ['PUT /a/subagents/b', null, {}],
        ['DELETE /a/subagents/b', '"4"', null],
        ['DELETE /a/subagents/b', null, null],
      ],
    )
  })

  test('all of a roster is read page by page', async () => {
    replies.push(
      { status: 200, body: { items: [1], nextCursor: 'b' } },
      { status: 200, body: { items: [2], nextCursor: null } },
    )
    const items: unknown[] = []
    for await (const item of witan.agents.subagents.all('a', { limit: 1 })) items.push(item)
    assert.deepEqual(items, [1, 2])
    assert.deepEqual(
      seen.map(({ line }) => line),
      ['GET /a/subagents?limit=1', 'GET /a/subagents?limit=1&cursor=b'],
    )
  })

  test('[F13] tools are assigned and taken by name', async () => {
    await witan.agents.tools.assign('a', 'lookup', { ifMatch: 5 })
    replies.push({ status: 204, body: null })
    await witan.agents.tools.unassign('a', 'lookup')
    assert.deepEqual(
      seen.map(({ line, headers, body }) => [line, headers['if-match'] ?? null, body]),
      [
        ['PUT /a/tools/lookup', '"5"', null],
        ['DELETE /a/tools/lookup', null, null],
      ],
    )
  })

  test('[F40] a direct run is one keyed post, and its result', async () => {
    replies.push({ status: 200, body: { runId: 'c_1', status: 'completed', text: 'hi' } })
    const parameters = { userId: { value: 'u/1', sendToModel: false } }
    const result = await witan.agents.subagents.run('a', 'b', { prompt: 'x', conversationId: 'chats/7', parameters })
    assert.equal(result.text, 'hi')
    const [{ line, headers, body } = seen[0]!] = seen
    assert.deepEqual([line, body], ['POST /a/subagents/b/run', { prompt: 'x', conversationId: 'chats/7', parameters }])
    assert.equal(typeof headers['idempotency-key'], 'string')
    replies.push({ status: 422, body: problem('PARAM_MISSING', 'Give it.', { path: 'parameters.userId' }) })
    await assert.rejects(witan.agents.subagents.run('a', 'b', { prompt: 'x' }), {
      code: 'PARAM_MISSING',
      path: 'parameters.userId',
    })
  })

  test('a direct run of a server that stops is followed to its result', async () => {
    const result = { runId: 'c_1', conversationId: 'chats/7', status: 'completed', text: 'later' }
    replies.push({ status: 202, body: { runId: 'c_1', conversationId: 'chats/7' } })
    replies.push({ status: 200, body: { runId: 'c_1', status: 'completed', result } })
    replies.push({ status: 200, body: { events: [], lastSeq: 0, more: false } })
    assert.deepEqual(await witan.agents.subagents.run('a', 'b', { prompt: 'x' }), result)
    assert.match(seen[1]?.line ?? '', /GET .*\/runs\/c_1$/)
  })
})
