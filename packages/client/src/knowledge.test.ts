/** Knowledge over the client: what is sent, and what comes of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Ingest } from '@witan/protocol/knowledge'
import { createClient } from './client.ts'
import { fastTiming } from './testing/fast-timing.ts'

type Reply = readonly [status: number, body: unknown] | 'lost'

/** A client whose requests get these replies in turn, and what it sent. A text is an event stream, null no body. */
function playing(replies: readonly Reply[]) {
  const sent: { line: string; body: unknown; headers: Headers }[] = []
  const left = [...replies]
  const client = createClient({
    url: 'http://witan.test',
    timing: fastTiming(),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input))
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : null
      const line = `${init?.method} ${pathname}${search}`.replace('/api/v1', '')
      sent.push({ line, body, headers: new Headers(init?.headers) })
      const reply = left.shift() ?? [500, {}]
      if (reply === 'lost') throw new TypeError('fetch failed')
      const [status, answer] = reply
      const isStream = typeof answer === 'string'
      const type = isStream ? 'text/event-stream' : status < 400 ? 'application/json' : 'application/problem+json'
      const text = answer === null ? null : isStream ? answer : JSON.stringify(answer)
      return new Response(text, { status, headers: { 'content-type': type } })
    },
  })
  return { client, sent, lines: () => sent.map(({ line, body }) => [line, body]) }
}

const ingest = (more: Partial<Ingest>): Ingest => ({
  id: 'i1',
  status: 'running',
  total: 2,
  done: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
  deleted: 0,
  failed: [],
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  ...more,
})
const frames = (...ingests: Ingest[]) =>
  ingests.map((one) => `event: ingest\ndata: ${JSON.stringify(one)}\n\n`).join('')
const none = { items: [], nextCursor: null }

describe('knowledge bases', () => {
  test('[F02] bases are listed, read, saved over a revision, deleted, and their revisions read', async () => {
    const ok: Reply = [200, {}]
    const { client, sent, lines } = playing([[200, none], ok, ok, ok, [204, null], [204, null], [200, none], ok])
    const { knowledge } = client
    await knowledge.list({ limit: 1 })
    await knowledge.get('a/b')
    await knowledge.save({ id: 'handbook', description: 'How we work.' }, { ifMatch: 3 })
    await knowledge.save({ id: 'handbook' })
    await knowledge.delete('handbook')
    await knowledge.delete('handbook', { force: true, ifMatch: 4 })
    await knowledge.revisions.list('handbook')
    await knowledge.revisions.get('handbook', 2)
    assert.deepEqual(lines(), [
      ['GET /knowledge?limit=1', null],
      ['GET /knowledge/a%2Fb', null],
      ['PUT /knowledge/handbook', { id: 'handbook', description: 'How we work.' }],
      ['PUT /knowledge/handbook', { id: 'handbook' }],
      ['DELETE /knowledge/handbook', null],
      ['DELETE /knowledge/handbook?force=true', null],
      ['GET /knowledge/handbook/revisions', null],
      ['GET /knowledge/handbook/revisions/2', null],
    ])
    const conditions = sent.map(({ headers }) => headers.get('if-match'))
    assert.deepEqual(conditions, [null, null, '"3"', null, null, '"4"', null, null])
  })

  test('all bases and all documents are read page after page, with the same prefix', async () => {
    const { client, lines } = playing([
      [200, { items: ['a'], nextCursor: 'a' }],
      [200, { items: ['b'], nextCursor: null }],
      [200, { items: ['d/1'], nextCursor: 'd/1' }],
      [200, { items: ['d/2'], nextCursor: null }],
    ])
    const read: unknown[] = []
    for await (const base of client.knowledge.all({ limit: 1 })) read.push(base)
    for await (const document of client.knowledge.documents.all('a', { prefix: 'd/' })) read.push(document)
    assert.deepEqual(read, ['a', 'b', 'd/1', 'd/2'])
    assert.deepEqual(
      lines().map(([line]) => line),
      [
        'GET /knowledge?limit=1',
        'GET /knowledge?limit=1&cursor=a',
        'GET /knowledge/a/documents?prefix=d%2F',
        'GET /knowledge/a/documents?prefix=d%2F&cursor=d%2F1',
      ],
    )
  })

  test('a search gives the passages, and is sent again after a lost connection without a key', async () => {
    const { client, sent, lines } = playing(['lost', [200, { passages: [{ id: 'kaaaaaaaa' }], notices: [] }]])
    const found = await client.knowledge.search('a', { query: 'wine', filter: { customer: 'alpha' } })
    assert.deepEqual(found, { passages: [{ id: 'kaaaaaaaa' }], notices: [] })
    const request = ['POST /knowledge/a/search', { query: 'wine', filter: { customer: 'alpha' } }]
    assert.deepEqual(lines(), [request, request])
    assert.equal(sent[0]?.headers.get('idempotency-key'), null)
  })

  test('an agent is given a base and loses it, over a revision of the agent', async () => {
    const { client, sent, lines } = playing([
      [201, {}],
      [204, null],
    ])
    await client.agents.knowledge.assign('desk', 'house', { filter: { customer: 'who' }, limit: 2, ifMatch: 5 })
    await client.agents.knowledge.unassign('desk', 'house')
    assert.deepEqual(lines(), [
      ['PUT /agents/desk/knowledge/house', { filter: { customer: 'who' }, limit: 2 }],
      ['DELETE /agents/desk/knowledge/house', null],
    ])
    assert.deepEqual(
      sent.map(({ headers }) => headers.get('if-match')),
      ['"5"', null],
    )
  })

  test('a batch and a check take bases beside agents', async () => {
    const { client, lines } = playing([
      [200, { agents: [] }],
      [200, {}],
    ])
    await client.agents.batch([], undefined, [{ id: 'house' }])
    await client.agents.check([], undefined, [{ id: 'house' }])
    const body = { agents: [], knowledge: [{ id: 'house' }] }
    assert.deepEqual(lines(), [
      ['POST /agents/batch', body],
      ['POST /check', body],
    ])
  })
})

describe('documents', () => {
  test('documents are ingested under one key, read and deleted; a slash is part of the key', async () => {
    const { client, sent, lines } = playing(['lost', [202, ingest({})], [200, {}], [200, none], [204, null]])
    const given = [{ key: 'a/b.md', text: '# A' }]
    const taken = await client.knowledge.documents.ingest('house', given, { prune: 'a/', wait: false })
    assert.equal(taken.status, 'running')
    await client.knowledge.documents.get('house', 'a/b.md')
    await client.knowledge.documents.passages('house', 'a/b.md', { limit: 2 })
    await client.knowledge.documents.delete('house', 'a/b.md')
    const post = ['POST /knowledge/house/documents', { documents: given, prune: 'a/', wait: false }]
    assert.deepEqual(lines(), [
      post,
      post,
      ['GET /knowledge/house/documents/a%2Fb.md', null],
      ['GET /knowledge/house/documents/a%2Fb.md/passages?limit=2', null],
      ['DELETE /knowledge/house/documents/a%2Fb.md', null],
    ])
    const [first, second] = sent.map(({ headers }) => headers.get('idempotency-key'))
    assert.ok(first)
    assert.equal(first, second)
  })

  test('an ingest is followed to its end over lost connections', async () => {
    const done = ingest({ status: 'completed', done: 2, added: 2 })
    const { client, lines } = playing([
      [200, frames(ingest({}), ingest({ done: 1, added: 1 }))],
      'lost',
      'lost',
      'lost',
      [200, frames(done)],
    ])
    const seen: number[] = []
    for await (const { done: read } of client.knowledge.ingests.follow('house', 'i1')) seen.push(read)
    assert.deepEqual(seen, [0, 1, 2])
    assert.deepEqual(new Set(lines().map(([line]) => line)), new Set(['GET /knowledge/house/ingests/i1']))
    assert.equal(lines().length, 5)
  })

  test('a follow of what does not exist throws, of a server that never answers too; an abort ends it', async () => {
    const missing = playing([[404, { code: 'NOT_FOUND', title: 'x', status: 404, detail: 'No such ingest.' }]])
    await assert.rejects(missing.client.knowledge.ingests.follow('house', 'i1').next(), { code: 'NOT_FOUND' })
    const gone = playing(['lost', 'lost', 'lost', 'lost'])
    await assert.rejects(gone.client.knowledge.ingests.follow('house', 'i1').next(), { code: 'SERVER_UNREACHABLE' })
    assert.equal(gone.sent.length, 3)
    const stop = new AbortController()
    const running = playing([[200, frames(ingest({}))]])
    const seen: number[] = []
    for await (const { done } of running.client.knowledge.ingests.follow('house', 'i1', { signal: stop.signal })) {
      seen.push(done)
      stop.abort()
    }
    assert.deepEqual(seen, [0])
  })
})
