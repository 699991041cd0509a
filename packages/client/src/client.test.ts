import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { errorTable, isWitanError, MissingAgentParameterError, problem } from '@witan/protocol'
import { type Client, createClient } from './client.ts'
import { fastTiming } from './testing/fast-timing.ts'

interface Reply {
  readonly status: number
  readonly body: unknown
  readonly type?: string
}

describe('the calls of a client', () => {
  const seen: { line: string; headers: IncomingHttpHeaders; body: string }[] = []
  const replies: Reply[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
    const reply = replies.shift() ?? { status: 200, body: { items: [], nextCursor: null } }
    response.writeHead(reply.status, { 'content-type': reply.type ?? 'application/json' })
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
  })
  let witan: Client
  let url = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    witan = createClient({ url: `${url}/behind/`, timing: fastTiming() })
  })
  beforeEach(() => {
    seen.length = 0
    replies.length = 0
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('refuses a misspelt option where it is given, before anything is sent', () => {
    const loose = createClient as (options: object) => Client
    assert.throws(() => loose({ url, tokn: 'x' }), { code: 'UNKNOWN_KEY', path: 'tokn', hint: /token/ })
    const options = { params: { userId: 'employees/3' } } as object
    assert.throws(() => witan.conversation('desk', options), {
      code: 'UNKNOWN_KEY',
      path: 'params',
      hint: /parameters/,
    })
    assert.deepEqual(seen, [])
  })

  const agent = { id: 'a', model: 'local/m', instructions: 'Help.' }

  it('keeps the path in front of the API, and escapes what stands in a path', async () => {
    await witan.agents.get('a/../b?')
    await witan.conversations.get('chats/7')
    await witan.conversations.fork('chats/7', { seq: 4 })
    await witan.documents.get('chats/7/profile', { limit: 5, detail: 'simple' })
    await witan.runs.cancel('c_1', { tasks: true })
    await witan.conversations.events('chats/7', { from: 3, verbose: true, limit: 2 })
    assert.deepEqual(
      seen.map(({ line }) => line.replace('/behind/api/v1', '')),
      [
        'GET /agents/a%2F..%2Fb%3F',
        'GET /conversations/chats:7',
        'POST /conversations/chats:7/fork',
        'GET /documents/chats/7/profile?limit=5&detail=simple',
        'POST /runs/c_1/cancel',
        'GET /conversations/chats:7/events?from=3&verbose=true&limit=2',
      ],
    )
  })

  it('lists the runs of a conversation, page after page', async () => {
    replies.push(
      { status: 200, body: { items: [3, 2], nextCursor: 'c_2' } },
      { status: 200, body: { items: [1], nextCursor: null } },
    )
    const runs: unknown[] = []
    for await (const run of witan.runs.all('chats/7', { limit: 2 })) runs.push(run)
    await witan.runs.list('chats/7')
    assert.deepEqual(runs, [3, 2, 1])
    assert.deepEqual(
      seen.map(({ line }) => line.replace('/behind/api/v1', '')),
      [
        'GET /conversations/chats:7/runs?limit=2',
        'GET /conversations/chats:7/runs?limit=2&cursor=c_2',
        'GET /conversations/chats:7/runs',
      ],
    )
  })

  it('goes on with the last run that a person began, however many hidden ones came after it', async () => {
    const line = (runId: string, hidden: boolean) => ({ runId, hidden })
    const hidden = Array.from({ length: 50 }, (_, index) => line(`c_${index + 2}`, true))
    const state = { id: 'chats/7', activeRunId: null, lastSeq: 9, runs: hidden, runCount: 51 }
    const page = { items: [...hidden.slice(0, 49).reverse()], nextCursor: 'c_2' }
    const result = { runId: 'c_1', conversationId: 'chats/7', status: 'completed', text: 'done', interruptions: [] }
    replies.push({ status: 200, body: state }, { status: 200, body: page })
    replies.push({ status: 200, body: { items: [line('c_1', false)], nextCursor: null } })
    const run = { status: 200, body: { runId: 'c_1', status: 'completed', result } }
    replies.push(run, { status: 200, body: { events: [], lastSeq: 9, more: false } }, run)
    assert.equal((await witan.conversation('desk', { id: 'chats/7' }).resume()).text, 'done')
    assert.equal(seen.at(2)?.line, 'GET /behind/api/v1/conversations/chats:7/runs?cursor=c_2')
    assert.ok(seen.slice(3).some(({ line }) => line === 'GET /behind/api/v1/runs/c_1'))
  })

  it('walks a document by cursor, the oldest message first, or back from a date', async () => {
    const page = (texts: string[], cursors: object) => ({
      status: 200,
      body: { messages: texts.map((text) => ({ text })), olderCursor: null, newerCursor: null, ...cursors },
    })
    const walked = async (query: Parameters<typeof witan.documents.messages>[1]) => {
      const texts: string[] = []
      for await (const { text } of witan.documents.messages('chats/7', query)) texts.push(text)
      return texts
    }
    replies.push(page(['one', 'two'], { newerCursor: 'n.2' }), page(['three'], { olderCursor: 'o.3' }))
    assert.deepEqual(await walked({ detail: 'full', limit: 2 }), ['one', 'two', 'three'])
    replies.push(page(['one'], { olderCursor: 'o.1' }))
    assert.deepEqual(await walked({ after: '2026-01-01' }), ['one'])
    replies.push(
      page(['two', 'three'], { olderCursor: 'o.2', newerCursor: 'n.3' }),
      page(['one'], { newerCursor: 'n.1' }),
    )
    assert.deepEqual(await walked({ before: '2026-01-01' }), ['three', 'two', 'one'])
    assert.deepEqual(
      seen.map(({ line }) => line.replace('GET /behind/api/v1/documents/chats/7', '')),
      [
        '?detail=full&limit=2&after=0001-01-01',
        '?detail=full&limit=2&cursor=n.2',
        '?after=2026-01-01',
        '?before=2026-01-01',
        '?cursor=o.2',
      ],
    )
  })

  it('saves with If-Match, and gives only posts a key', async () => {
    await witan.agents.save(agent, { ifMatch: 3 })
    await witan.agents.create(agent)
    replies.push({ status: 204, body: '' })
    await witan.agents.delete('a', { force: true })
    replies.push({ status: 200, body: { agents: [agent] } })
    assert.deepEqual(await witan.agents.batch([agent]), [agent])
    assert.deepEqual(
      seen.map(({ line }) => line),
      [
        'PUT /behind/api/v1/agents/a',
        'POST /behind/api/v1/agents',
        'DELETE /behind/api/v1/agents/a?force=true',
        'POST /behind/api/v1/agents/batch',
      ],
    )
    assert.equal(seen[0]?.headers['if-match'], '"3"')
    assert.deepEqual(
      seen.map(({ headers }) => 'idempotency-key' in headers),
      [false, true, false, true],
    )
    assert.equal(seen[0]?.headers.authorization, undefined)
  })

  it('speaks to tasks [F27] [F26] [Fb08]', async () => {
    await witan.tasks.get('c_1')
    await witan.tasks.message('c_1', 'Only whole boxes.')
    await witan.tasks.message('c_1', { text: 'How far?', mode: 'send_and_wait', timeoutSeconds: 5 })
    await witan.tasks.progress('c_1', 'What now?')
    await witan.tasks.cancel('c_1')
    replies.push(
      { status: 200, body: { items: [1], nextCursor: 'x' } },
      { status: 200, body: { items: [2], nextCursor: null } },
    )
    const items: unknown[] = []
    for await (const item of witan.tasks.all({ limit: 1 })) items.push(item)
    assert.deepEqual(items, [1, 2])
    assert.deepEqual(
      seen.map(({ line, body }) => [line.replace('/behind/api/v1', ''), body === '' ? null : JSON.parse(body)]),
      [
        ['GET /tasks/c_1', null],
        ['POST /tasks/c_1/messages', { text: 'Only whole boxes.' }],
        ['POST /tasks/c_1/messages', { text: 'How far?', mode: 'send_and_wait', timeoutSeconds: 5 }],
        ['POST /tasks/c_1/progress', { question: 'What now?' }],
        ['POST /tasks/c_1/cancel', {}],
        ['GET /tasks?limit=1', null],
        ['GET /tasks?limit=1&cursor=x', null],
      ],
    )
  })

  it('walks a list page by page, with its filters on every page', async () => {
    replies.push({ status: 200, body: { items: [1, 2], nextCursor: 'x y' } })
    replies.push({ status: 200, body: { items: [3], nextCursor: null } })
    const items: unknown[] = []
    for await (const item of witan.conversations.all({ agent: 'a', limit: 2 })) items.push(item)
    assert.deepEqual(items, [1, 2, 3])
    assert.deepEqual(
      seen.map(({ line }) => line),
      [
        'GET /behind/api/v1/conversations?agent=a&limit=2',
        'GET /behind/api/v1/conversations?agent=a&limit=2&cursor=x+y',
      ],
    )
  })

  it('gives every problem of the table as its error, with hint and path', async () => {
    for (const [code, { status }] of Object.entries(errorTable)) {
      const body = {
        ...problem(code as keyof typeof errorTable, 'Why.', { path: 'a.b', hint: 'Do.' }),
        requestId: 'r1',
      }
      replies.push({ status, body, type: 'application/problem+json' })
      await assert.rejects(witan.agents.get('a'), (error: unknown) => {
        assert.ok(isWitanError(error))
        assert.deepEqual([error.code, error.message, error.path, error.hint], [code, 'Why.', 'a.b', 'Do.'])
        assert.deepEqual(error.details, { status, requestId: 'r1' })
        assert.equal(error instanceof MissingAgentParameterError, code === 'MISSING_AGENT_PARAMETER')
        return true
      })
    }
    assert.equal(seen.length, Object.keys(errorTable).length, 'a refusal is never repeated')
  })

  it('keeps a code it does not know beside the nearest one it does', async () => {
    replies.push({ status: 404, body: { code: 'PEER_UNKNOWN', detail: 'No such peer.' } })
    await assert.rejects(witan.agents.get('a'), {
      code: 'NOT_FOUND',
      message: 'No such peer.',
      details: { status: 404, code: 'PEER_UNKNOWN' },
    })
  })

  it("says when a reply is not Witan's", async () => {
    replies.push({ status: 200, body: '<html>', type: 'text/html' })
    await assert.rejects(witan.agents.get('a'), { code: 'REPLY_INVALID', name: 'ClientError' })
    replies.push({ status: 404, body: '<html>', type: 'text/html' })
    await assert.rejects(witan.agents.get('a'), { code: 'REPLY_INVALID', message: /status 404, text\/html/ })
    replies.push({ status: 200, body: { events: [] } })
    await assert.rejects(witan.events('chats/7').next(), { code: 'REPLY_INVALID' })
  })

  it('ends a stream whose events went back with the seq to go on from', async () => {
    const body = 'id: 40\nevent: went_back\ndata: {"from":40}\n\n'
    replies.push({ status: 200, body, type: 'text/event-stream' })
    await assert.rejects(witan.events('chats/7', { from: 43 }).next(), {
      code: 'EVENT_ID_AHEAD',
      details: { from: 40 },
    })
  })

  it('goes on elsewhere when a newer version has taken the server over', async () => {
    const of = (seq: number) => ({ id: seq, event: 'notice', data: { seq, type: 'notice' } })
    const frame = ({ id, event, data }: { id: number; event: string; data: object }) =>
      `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    const first = `${frame(of(41))}${frame({ id: 41, event: 'taken_over', data: { from: 41 } })}`
    replies.push({ status: 200, body: first, type: 'text/event-stream' })
    replies.push({ status: 200, body: frame(of(42)), type: 'text/event-stream' })
    const seqs = []
    for await (const { seq } of witan.events('chats/7', { from: 40 })) if (seqs.push(seq) === 2) break
    assert.deepEqual(seqs, [41, 42])
    assert.equal(seen.at(-1)?.headers['last-event-id'], '41')
  })

  it('repeats a get behind a proxy that has no server, and never a put', async () => {
    replies.push({ status: 502, body: '<html>', type: 'text/html' })
    await witan.agents.get('a')
    assert.equal(seen.length, 2)
    replies.push({ status: 502, body: '<html>', type: 'text/html' })
    await assert.rejects(witan.agents.save(agent), { code: 'SERVER_UNREACHABLE', message: /a proxy said 502/ })
    assert.equal(seen.length, 3)
  })

  it('refuses an address that is none, without repeating it', () => {
    for (const bad of ['', 'localhost:4747', 'ftp://x', 'http://user:secret@x']) {
      assert.throws(
        () => createClient({ url: bad }),
        (error: Error) => !error.message.includes('secret') && 'code' in error && error.code === 'URL_INVALID',
      )
    }
  })
})
