/** The application over a real runtime in memory: every route does what the contract says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { base, boss, clerk, createStage, readFrames, type Stage } from './testing/stage.ts'

const country = { parameters: { country: 'France' } }
const sse = { accept: 'text/event-stream' }
const asJson = { accept: 'application/json' }

let stage: Stage
const start = async (more: object = {}) =>
  (await stage.call('POST', '/api/v1/conversations', { body: { agent: 'clerk', ...country, ...more } })).body
const runs = (id: unknown) => `/api/v1/conversations/${encodeURIComponent(String(id))}/runs`
const events = (id: unknown, query = '') => `/api/v1/conversations/${encodeURIComponent(String(id))}/events${query}`

describe('the application', () => {
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  test('agents are saved, read, guarded by their revision, and deleted', async () => {
    const agent = { id: 'temp', model: 'play/model', instructions: 'x' }
    for (const early of ['*', '"1"']) {
      const refused = await stage.call('PUT', '/api/v1/agents/temp', { body: agent, headers: { 'if-match': early } })
      assert.deepEqual(
        [refused.status, refused.body.code],
        [412, 'REVISION_MISMATCH'],
        `${early}: nothing is there yet`,
      )
    }
    const created = await stage.call('PUT', '/api/v1/agents/temp', { body: agent })
    assert.equal(created.status, 201, created.text)
    const etag = created.headers.get('etag') ?? ''
    assert.equal(etag, `"${created.body.revision}"`)
    const read = await stage.call('GET', '/api/v1/agents/temp')
    assert.equal(read.headers.get('etag'), etag)
    const put = (body: object, match: string) =>
      stage.call('PUT', '/api/v1/agents/temp', { body, headers: { 'if-match': match } })
    const changed = await put({ ...read.body, description: 'one' }, etag)
    assert.equal(changed.status, 200, changed.text)
    for (const stale of [etag, '"999"', 'W/"1"', 'x']) {
      const refused = await put({ ...agent, description: 'two' }, stale)
      assert.deepEqual([refused.status, refused.body.code], [412, 'REVISION_MISMATCH'], stale)
    }
    assert.equal((await put({ ...agent, description: 'three' }, '*')).status, 200)
    const { id: _id, ...nameless } = agent
    assert.equal((await stage.call('PUT', '/api/v1/agents/temp', { body: nameless })).status, 200)
    assert.equal((await stage.call('POST', '/api/v1/agents', { body: agent })).body.code, 'AGENT_EXISTS')
    assert.equal((await stage.call('DELETE', '/api/v1/agents/temp', { headers: { 'if-match': etag } })).status, 412)
    assert.equal((await stage.call('DELETE', '/api/v1/agents/temp')).status, 204)
    assert.equal((await stage.call('GET', '/api/v1/agents/temp')).body.code, 'NOT_FOUND')
  })

  test('agents come in pages, in batches, with a graph and a check; the referenced ones stay', async () => {
    const first = await stage.call('GET', '/api/v1/agents?limit=1')
    const second = await stage.call(
      'GET',
      `/api/v1/agents?limit=1&cursor=${encodeURIComponent(String(first.body.nextCursor))}`,
    )
    const ids = [first, second].flatMap(({ body }) => (body.items as { id: string }[]).map((item) => item.id))
    assert.deepEqual(ids, ['boss', 'clerk'])
    const twin = (id: string, other: string) => ({
      id,
      model: 'play/model',
      instructions: 'x',
      subAgents: [{ agent: other }],
    })
    const batch = await stage.call('POST', '/api/v1/agents/batch', {
      body: { agents: [twin('ping', 'pong'), twin('pong', 'ping')] },
    })
    assert.equal(batch.status, 200, batch.text)
    assert.deepEqual(
      (batch.body.agents as { id: string }[]).map((one) => one.id),
      ['ping', 'pong'],
    )
    const graph = await stage.call('GET', '/api/v1/agents/boss/graph')
    assert.deepEqual(
      (graph.body.edges as { from: string; to: string }[]).map(({ from, to }) => `${from}>${to}`),
      ['boss>clerk'],
    )
    const report = await stage.call('POST', '/api/v1/check')
    const parts = ['acquaintances', 'callers', 'errors', 'handlers', 'hotSpots', 'matrix', 'protocols', 'warnings']
    assert.deepEqual(Object.keys(report.body).sort(), parts)
    const bad = await stage.call('POST', '/api/v1/check', {
      body: { agents: [{ ...boss, subAgents: [{ agent: 'nobody' }] }] },
    })
    assert.equal((bad.body.errors as { code: string }[])[0]?.code, 'AGENT_REF_UNKNOWN', bad.text)
    assert.equal((await stage.call('DELETE', '/api/v1/agents/clerk')).body.code, 'AGENT_REFERENCED')
    for (const id of ['ping', 'pong'])
      assert.equal((await stage.call('DELETE', `/api/v1/agents/${id}?force=true`)).status, 204)
  })

  test('a conversation starts with a run, goes on, is read under both forms of its id, listed and deleted', async () => {
    const body = { agent: 'clerk', id: 'chats/one.1', prompt: 'hello', ...country }
    const started = await stage.call('POST', '/api/v1/conversations', { body })
    assert.equal(started.status, 201, started.text)
    assert.equal((started.body.run as { text: string }).text, 'echo: hello')
    const again = await stage.call('POST', '/api/v1/conversations', { body: { ...body, prompt: undefined } })
    assert.deepEqual([again.status, again.body], [200, { id: 'chats/one.1', agent: 'clerk', run: null }])
    const other = await stage.call('POST', '/api/v1/conversations', { body: { agent: 'boss', id: 'chats/one.1' } })
    assert.equal(other.body.code, 'CONVERSATION_AGENT_MISMATCH')
    const [encoded, colon] = [
      await stage.call('GET', '/api/v1/conversations/chats%2Fone.1'),
      await stage.call('GET', '/api/v1/conversations/chats:one.1'),
    ]
    assert.deepEqual(encoded.body, colon.body)
    assert.equal(encoded.body.status, 'idle')
    const list = await stage.call('GET', '/api/v1/conversations?agent=clerk')
    assert.ok((list.body.items as { id: string }[]).some((item) => item.id === 'chats/one.1'))
    const document = await stage.call('GET', '/api/v1/documents/chats/one.1')
    for (const other of ['chats:one.1', 'chats%2Fone.1']) {
      assert.deepEqual((await stage.call('GET', `/api/v1/documents/${other}`)).body, document.body, other)
    }
    assert.deepEqual(
      (document.body.messages as { text: string }[]).map((one) => one.text),
      ['hello', 'echo: hello'],
    )
    assert.equal((await stage.call('DELETE', '/api/v1/conversations/chats:one.1')).status, 204)
    assert.equal((await stage.call('GET', '/api/v1/conversations/chats:one.1')).body.code, 'NOT_FOUND')
  })

  test('a run is waited for, left alone, and streamed: its events, then its result', async () => {
    const { id } = await start()
    const waited = await stage.call('POST', runs(id), { body: { prompt: 'one' } })
    assert.deepEqual([waited.status, waited.body.text, waited.body.status], [200, 'echo: one', 'completed'])
    const left = await stage.call('POST', runs(id), { body: { prompt: 'two', wait: false } })
    assert.equal(left.status, 202)
    assert.deepEqual(Object.keys(left.body), ['runId'])
    const streamed = await stage.fetch('POST', runs(id), {
      body: { prompt: 'take your time', verbose: true },
      headers: sse,
    })
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream')
    assert.equal(streamed.headers.get('cache-control'), 'no-store')
    assert.equal(streamed.headers.get('x-accel-buffering'), 'no')
    const frames = await readFrames(streamed)
    const result = JSON.parse(frames.at(-1)?.data ?? '')
    assert.deepEqual(
      [frames.at(-1)?.event, frames.at(-1)?.id, result.text],
      ['result', undefined, 'echo: take your time'],
    )
    const stored = frames.filter((frame) => frame.event !== 'delta' && frame.event !== 'result')
    assert.deepEqual(
      stored.map((frame) => Number(frame.id)),
      stored.map((frame) => JSON.parse(frame.data).seq),
    )
    assert.ok(stored.every((frame) => JSON.parse(frame.data).rootCallId === result.runId))
    const terminal = stored.at(-1)
    assert.deepEqual([terminal?.event, JSON.parse(terminal?.data ?? '').callId], ['end', result.runId])
    const deltas = frames.filter((frame) => frame.event === 'delta')
    assert.ok(deltas.every((frame) => frame.id === undefined))
    assert.equal(
      deltas.map((frame) => JSON.parse(frame.data).content.text).join(''),
      'echo: take your time',
      'a stream has the deltas of its first call too',
    )
    const state = await stage.call('GET', `/api/v1/runs/${result.runId}`)
    assert.deepEqual([state.body.status, (state.body.tree as { name: string }).name], ['completed', 'clerk'])
  })

  test('a stream ends with the result also where the run waits, and the answer resumes the same run', async () => {
    const { id } = await start()
    const frames = await readFrames(await stage.fetch('POST', runs(id), { body: { prompt: 'rename' }, headers: sse }))
    const waiting = JSON.parse(frames.at(-1)?.data ?? '')
    assert.deepEqual([frames.at(-1)?.event, waiting.status], ['result', 'waiting'])
    assert.ok(frames.some((frame) => frame.event === 'action_required'))
    const listed = await stage.call('GET', '/api/v1/interruptions')
    assert.ok(
      (listed.body.items as { id: string }[]).some((item) => item.id === waiting.interruptions[0].id),
      listed.text,
    )
    const [open] = waiting.interruptions
    const resumed = await readFrames(
      await stage.fetch('POST', runs(id), {
        body: { actionResponses: [{ id: open.id, response: 'done' }] },
        headers: sse,
      }),
    )
    const result = JSON.parse(resumed.at(-1)?.data ?? '')
    assert.deepEqual([result.runId, result.status], [waiting.runId, 'completed'])
    assert.ok(resumed.some((frame) => frame.event === 'resolved'))
    const late = await stage.call('POST', `/api/v1/interruptions/${encodeURIComponent(open.id)}/answer`, {
      body: { answer: 'other' },
    })
    assert.ok([409, 410].includes(late.status), late.text)
  })

  test('an interruption is answered on its own, and the run goes on by itself', async () => {
    const { id } = await start({ prompt: 'rename me' })
    const conversation = await stage.call('GET', `/api/v1/conversations/${encodeURIComponent(String(id))}`)
    const [open] = conversation.body.interruptions as { id: string }[]
    const path = `/api/v1/interruptions/${encodeURIComponent(open?.id ?? '')}/answer`
    const answered = await stage.call('POST', path, { body: { answer: { ok: true } } })
    assert.deepEqual([answered.status, answered.body.state], [200, 'answered'], answered.text)
    assert.equal(
      (await stage.call('POST', path, { body: { answer: { ok: true } } })).status,
      200,
      'an identical repeat',
    )
  })

  test('events are paged as JSON and followed as a stream, resumed by id, until the conversation is gone', async () => {
    const { id } = await start({ prompt: 'hello' })
    const page = await stage.call('GET', events(id, '?verbose=true'), { headers: asJson })
    const seqs = (page.body.events as { seq: number }[]).map((event) => event.seq)
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    )
    assert.equal(page.body.lastSeq, seqs.length)
    const part = await stage.call('GET', events(id, '?verbose=true&from=1&limit=2'), { headers: asJson })
    assert.deepEqual(
      [(part.body.events as { seq: number }[]).map((event) => event.seq), part.body.more],
      [[2, 3], true],
    )
    const resumed = await stage.fetch('GET', events(id, '?verbose=true&from=0'), { headers: { 'last-event-id': '2' } })
    const rest = await readFrames(resumed, (frame) => Number(frame.id) === seqs.length)
    assert.deepEqual(
      rest.map((frame) => Number(frame.id)),
      seqs.slice(2),
    )
    const live = stage.fetch('GET', events(id, `?from=${seqs.length}`)).then((response) => readFrames(response))
    await stage.call('POST', runs(id), { body: { prompt: 'more' } })
    await stage.call('DELETE', `/api/v1/conversations/${encodeURIComponent(String(id))}`)
    assert.ok((await live).some((frame) => frame.event === 'end'))
  })

  test('a run is cancelled by command, by a reader that leaves, and by nothing else', async () => {
    const { id } = await start()
    const hang = async () =>
      String((await stage.call('POST', runs(id), { body: { prompt: 'hang', wait: false } })).body.runId)
    const status = async (runId: string) => (await stage.call('GET', `/api/v1/runs/${runId}`)).body.status
    const first = await hang()
    const cancelled = await stage.call('POST', `/api/v1/runs/${first}/cancel`, { body: { tasks: false } })
    assert.deepEqual([cancelled.status, cancelled.body], [202, { runId: first }])
    await settled(async () => (await status(first)) === 'cancelled')
    assert.equal((await stage.call('POST', `/api/v1/runs/${first}/cancel`)).body.code, 'RUN_FINISHED')
    for (const onDisconnect of ['cancel', 'continue']) {
      const response = await stage.fetch('POST', runs(id), { body: { prompt: 'hang', onDisconnect }, headers: sse })
      const [frame] = await readFrames(response, () => true)
      const runId = JSON.parse(frame?.data ?? '').rootCallId
      if (onDisconnect === 'cancel') await settled(async () => (await status(runId)) === 'cancelled')
      else {
        assert.equal(await status(runId), 'running')
        await stage.call('POST', `/api/v1/runs/${runId}/cancel`)
      }
    }
    const gone = new AbortController()
    const waiting = stage.call('POST', runs(id), {
      body: { prompt: 'hang', onDisconnect: 'cancel' },
      signal: gone.signal,
    })
    await settled(
      async () =>
        (await stage.call('GET', `/api/v1/conversations/${encodeURIComponent(String(id))}`)).body.activeRunId !== null,
    )
    gone.abort()
    assert.equal((await waiting).body.status, 'cancelled')
  })

  test('one effect for one idempotency key, as JSON or as a stream', async () => {
    const { id } = await start()
    const headers = { 'idempotency-key': 'k-1' }
    const first = await stage.call('POST', runs(id), { body: { prompt: 'once' }, headers })
    const again = await stage.call('POST', runs(String(id).replace('/', ':')), { body: { prompt: 'once' }, headers })
    assert.deepEqual([again.status, again.text], [first.status, first.text])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    const frames = await readFrames(
      await stage.fetch('POST', runs(id), { body: { prompt: 'once' }, headers: { ...headers, ...sse } }),
    )
    assert.deepEqual(
      frames.map(({ event, data }) => [event, data]),
      [['result', first.text]],
    )
    assert.equal(
      (await stage.call('POST', runs(id), { body: { prompt: 'twice' }, headers })).body.code,
      'IDEMPOTENCY_KEY_REUSED',
    )
    const streamed = { 'idempotency-key': 'k-2', ...sse }
    const live = await readFrames(await stage.fetch('POST', runs(id), { body: { prompt: 'live' }, headers: streamed }))
    const replayed = await readFrames(
      await stage.fetch('POST', runs(id), { body: { prompt: 'live' }, headers: streamed }),
    )
    assert.deepEqual(
      replayed.map((frame) => frame.data),
      [live.at(-1)?.data],
    )
    const refused = { 'idempotency-key': 'k-3' }
    assert.equal(
      (await stage.call('POST', '/api/v1/conversations', { body: { agent: 'later' }, headers: refused })).status,
      404,
    )
    await stage.call('POST', '/api/v1/agents', { body: { ...clerk, id: 'later', parameters: [] } })
    assert.equal(
      (await stage.call('POST', '/api/v1/conversations', { body: { agent: 'later' }, headers: refused })).status,
      201,
      'a refusal is forgotten',
    )
    const slow = stage.call('POST', runs(id), {
      body: { prompt: 'hang', wait: true },
      headers: { 'idempotency-key': 'k-4' },
    })
    await settled(
      async () =>
        (await stage.call('GET', `/api/v1/conversations/${encodeURIComponent(String(id))}`)).body.activeRunId !== null,
    )
    const busy = await stage.call('POST', runs(id), {
      body: { prompt: 'hang', wait: true },
      headers: { 'idempotency-key': 'k-4' },
    })
    assert.deepEqual([busy.body.code, busy.headers.get('retry-after')], ['IN_PROGRESS', '1'])
    const { activeRunId } = (await stage.call('GET', `/api/v1/conversations/${encodeURIComponent(String(id))}`)).body
    await stage.call('POST', `/api/v1/runs/${activeRunId}/cancel`)
    assert.equal((await slow).body.status, 'cancelled')
  })
})

test('a server that stops ends its streams, then answers what still waits', async () => {
  stage = await createStage()
  const { id } = await start()
  const stream = readFrames(await stage.fetch('GET', events(id)))
  const waiting = stage.call('POST', runs(id), { body: { prompt: 'hang', onDisconnect: 'cancel' } })
  await settled(
    async () =>
      (await stage.call('GET', `/api/v1/conversations/${encodeURIComponent(String(id))}`)).body.activeRunId !== null,
  )
  assert.equal((await stage.call('GET', '/readyz')).status, 200)
  stage.streams.abort()
  await stream
  assert.equal((await stage.call('GET', '/readyz')).status, 503)
  stage.waits.abort()
  const { status, body } = await waiting
  assert.deepEqual([status, Object.keys(body)], [202, ['runId']])
  assert.equal(
    (await stage.call('GET', `/api/v1/runs/${body.runId}`)).body.status,
    'running',
    'a stopping server cancels nothing',
  )
  await stage.close()
})

test('with a token: nothing without it, everything with it, a page exchanges it', async () => {
  const own = await createStage('local')
  const authorization = `Bearer ${own.token}`
  for (const path of ['/api/v1/agents', '/api/v1/openapi.json', '/api/v1/nothing']) {
    const refused = await own.call('GET', path)
    assert.deepEqual(
      [refused.status, refused.body.code, refused.headers.get('www-authenticate')],
      [401, 'UNAUTHENTICATED', 'Bearer'],
    )
    assert.equal(
      (await own.call('GET', path, { headers: { authorization } })).status,
      path.endsWith('nothing') ? 404 : 200,
    )
  }
  for (const path of ['/healthz', '/readyz', '/']) assert.equal((await own.call('GET', path)).status, 200, path)
  const page = await own.fetch('GET', `/agents?token=${own.token}`)
  assert.deepEqual([page.status, page.headers.get('location')], [303, '/agents'])
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  assert.equal((await own.call('GET', '/api/v1/agents', { headers: { cookie, origin: base } })).status, 200)
  assert.equal(
    (await own.call('GET', '/api/v1/agents', { headers: { cookie, origin: 'http://evil.test' } })).status,
    403,
  )
  assert.equal((await own.call('GET', '/?token=wrong')).status, 401)
  const asking = await own.fetch('GET', '/agents?token=wrong', { headers: { accept: 'text/html,*/*;q=0.8' } })
  assert.deepEqual([asking.status, asking.headers.get('content-type')], [401, 'text/html; charset=utf-8'])
  assert.equal(asking.headers.get('set-cookie'), null)
  assert.match(asking.headers.get('content-security-policy') ?? '', /default-src 'self'/)
  await own.close()
})

/** Comes about within a few turns of the event loop, or fails. */
async function settled(holds: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    if (await holds()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.fail('it did not come about')
}
