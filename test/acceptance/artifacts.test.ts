/** Artifacts over HTTP: what models get of both tools, what readers get, and how far an id reaches. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertEvents, assertProblem } from './support/claims.ts'
import type { CallOut } from './support/exchange.ts'
import { hand, transfer } from './support/handing.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import { offered, toolContents } from './support/transcript.ts'
import type { RunResult } from './support/wire.ts'

interface Artifact {
  id: string
  name: string
  mediaType: string
  bytes: number
  digest: string
  conversationId: string
  runId: string
  callId: string
  agent: string
  agentPath: string
  inputs: string[]
  traceId: string
  createdAt: string
}

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const save = (name: string, text: string, mediaType = 'text/markdown'): CallOut => ({
  name: 'save_artifact',
  args: { name, media_type: mediaType, text },
})
const read = (id: string): CallOut => ({ name: 'read_artifact', args: { artifact_id: id } })
const unknown = '{"error":"unknown artifact"}'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

const maker = (id: string, more: Record<string, unknown> = {}) => agent(id, { artifacts: true, ...more })
const listed = async (conversation: string, query = '') => {
  const path = `/api/v1/conversations/${segment(conversation)}/artifacts${query}`
  const answer = await stage.witan.call<{ items: Artifact[]; nextCursor: string | null }>('GET', path)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const contentAt = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${stage.witan.url}/api/v1/artifacts/${id}/content`, { headers })
/** The id that a model read as the result of its last `save_artifact`. */
const savedBy = (model: string) => {
  const saved = stage.model
    .of(model)
    .flatMap((seen) => toolContents(seen))
    .findLast((one) => one.includes('artifact_id'))
  assert.ok(saved, `${model} has saved an artifact`)
  return (JSON.parse(saved) as { artifact_id: string }).artifact_id
}
const said = (run: RunResult) => [run.status, run.text]

describe('an artifact', () => {
  test('[T31] [Tb30] is saved by a model, and read back by it, by a reader and as an event', async () => {
    await stage.save(maker('writer'))
    const text = '# Stock\n\nTwelve ☔.'
    stage.model.script('writer', { calls: [save('report.md', text)] }, { text: 'Done.' })
    const run = await stage.ask('writer', 'Write.', { id: 'chats/one' })
    assert.deepEqual(said(run), ['completed', 'Done.'])
    const [first, second] = stage.model.of('writer')
    assert.deepEqual(
      offered(first).map(({ name, properties, required }) => [name, properties, required]),
      [
        ['read_artifact', ['artifact_id'], ['artifact_id']],
        ['save_artifact', ['media_type', 'name', 'text'], ['media_type', 'name', 'text']],
      ],
    )
    const id = savedBy('writer')
    assert.match(id, /^art_/)
    assert.deepEqual(toolContents(second), [JSON.stringify({ artifact_id: id, digest: digestOf(text) })], 'exactly')
    const events = await stage.events('chats/one')
    assertEvents(events)
    const [event] = events.filter(({ type }) => type === 'artifact')
    const start = events.find(({ type, content }) => type === 'start' && content['name'] === 'save_artifact')
    assert.ok(event && start)
    const { body } = await stage.witan.call<Artifact>('GET', `/api/v1/artifacts/${id}`)
    const expected = {
      ...{ id, name: 'report.md', mediaType: 'text/markdown', bytes: Buffer.byteLength(text), digest: digestOf(text) },
      ...{ conversationId: 'chats/one', runId: run.runId, callId: start.callId, agent: 'writer', agentPath: 'writer' },
      inputs: [],
      traceId: createHash('sha256').update(`default\n${run.runId}`).digest('hex').slice(0, 32),
      createdAt: event.at,
    }
    assert.deepEqual(body, expected)
    assert.deepEqual(event.content, expected, 'the event has the artifact as its content')
    assert.equal(event.callId, start.callId)
    assert.deepEqual(await listed('chats/one'), { items: [expected], nextCursor: null })
    const terse = await stage.events('chats/one', 'verbose=false')
    assert.ok(!terse.some(({ type }) => type === 'artifact'), 'a terse reader does not get it')
  })

  test('[T31] comes as a file that no browser shows or runs', async () => {
    await stage.save(maker('writer'))
    const page = '<script>alert(1)</script>'
    stage.model.script('writer', { calls: [save('x" ☔;.html', page, 'text/html')] }, { text: 'Done.' })
    await stage.ask('writer', 'Write.')
    const id = savedBy('writer')
    const reply = await contentAt(id)
    assert.deepEqual([reply.status, await reply.text()], [200, page])
    const shown = (header: string) => reply.headers.get(header)
    assert.equal(shown('content-type'), 'text/html')
    assert.equal(
      shown('content-disposition'),
      `attachment; filename="x_ __.html"; filename*=UTF-8''x%22%20%E2%98%94%3B.html`,
    )
    assert.equal(shown('etag'), `"${digestOf(page)}"`)
    assert.equal(shown('x-content-type-options'), 'nosniff')
    assert.equal(shown('content-security-policy'), 'sandbox')
    for (const known of [`"${digestOf(page)}"`, `W/"${digestOf(page)}", "x"`, '*'])
      assert.equal((await contentAt(id, { 'if-none-match': known })).status, 304, known)
    assert.equal((await contentAt(id, { 'if-none-match': '"other"' })).status, 200)
    for (const path of ['art_00000000000000000000000000', 'x', `${id}x`, 'art_%00'])
      for (const end of ['', '/content'])
        assertProblem(await stage.witan.call('GET', `/api/v1/artifacts/${path}${end}`), {
          status: 404,
          code: 'NOT_FOUND',
        })
    assertProblem(await stage.witan.call('GET', '/api/v1/conversations/chats:none/artifacts'), { status: 404 })
  })

  test('[T31] whose name is a path, or whose type is none, is not saved, and the model reads why', async () => {
    await stage.save(maker('writer'))
    const wrong = [
      save('../../etc/passwd', 'x'),
      save('a\u0000b', 'x'),
      save('\u202etxt.exe', 'x'),
      ...['\u200b', '\ufeff', '\u00ad', '\u2060', '\u3164'].map((sign) => save(`a${sign}b`, 'x')),
      save('', 'x'),
      save('x'.repeat(201), 'x'),
      save('a.md', 'x', 'text/html\r\nx: y'),
      save('a.md', 'x', 'markdown'),
      { name: 'save_artifact', args: { name: 7, media_type: [], text: {} } },
    ]
    stage.model.script(
      'writer',
      { calls: wrong },
      { calls: [save('ok.txt', '', 'Text/Plain; charset=UTF-8')] },
      { text: '.' },
    )
    const run = await stage.ask('writer', 'Write.', { id: 'chats/one' })
    assert.equal(run.status, 'completed')
    const results = toolContents(stage.model.of('writer')[1])
    assert.equal(results.length, wrong.length)
    for (const one of results) assert.match(one, /^\{"error":"/)
    const { items } = await listed('chats/one')
    assert.deepEqual(
      items.map(({ name, mediaType, bytes }) => [name, mediaType, bytes]),
      [['ok.txt', 'text/plain', 0]],
    )
  })
})

describe('what a model may read', () => {
  test('[T31] is an artifact of its conversation whose id it has read; any other id is unknown', async () => {
    await stage.save(maker('writer'))
    stage.model.script('writer', { calls: [save('secret.md', 'of another')] }, { text: 'Done.' })
    await stage.ask('writer', 'Write.', { id: 'chats/other' })
    const foreign = savedBy('writer')
    await stage.save(maker('lead', { subAgents: [sub('hand')] }), maker('hand'))
    let own = ''
    stage.model.script('hand', { calls: [save('own.md', 'not told')] }, { text: 'I keep it to myself.' })
    stage.model.script(
      'lead',
      { calls: [{ name: 'hand', args: { message: 'Make one.' } }] },
      { calls: [], text: 'Done.' },
    )
    await stage.ask('lead', 'Go.', { id: 'chats/one' })
    own = savedBy('hand')
    const guesses = [own, 'art_00000000000000000000000000', 'art_x', '', 'x'.repeat(10_000)]
    stage.model.on('lead', ({ nth }) => {
      if (nth === 3) return { calls: guesses.map(read) }
      if (nth === 4) return { calls: [read(own)] } // what it wrote itself does not count as read
      if (nth === 6) return { calls: [read(foreign)] }
      if (nth === 8) return { calls: [read(own)] }
      return { text: 'Done.' }
    })
    await stage.run('chats/one', { prompt: 'Read.' })
    await stage.run('chats/one', { prompt: `Read ${foreign}.` })
    await stage.run('chats/one', { prompt: `Read ${own}.` })
    const last = toolContents(stage.model.of('lead').at(-1))
    assert.deepEqual(last.slice(1), [...guesses.map(() => unknown), unknown, unknown, 'not told'])
  })

  test('[T31] is cut at 256,000 characters; of what is no text it gets the metadata', async () => {
    await stage.save(maker('writer'))
    const long = 'ab'.repeat(150_000)
    stage.model.on('writer', ({ nth }) => {
      if (nth === 1) return { calls: [save('long.txt', long, 'text/plain'), save('x.png', 'no picture', 'image/png')] }
      if (nth > 2) return { text: 'Done.' }
      const ids = toolContents(stage.model.of('writer').at(-1)).map(
        (one) => (JSON.parse(one) as { artifact_id: string }).artifact_id,
      )
      return { calls: ids.map(read) }
    })
    await stage.ask('writer', 'Write.', { id: 'chats/one' })
    const [, , text = '', metadata = ''] = toolContents(stage.model.of('writer')[2])
    assert.equal(text.slice(0, 256_000), long.slice(0, 256_000))
    assert.match(text.slice(256_000), /^ \[cut: 256000 of 300000 characters\]$/)
    const [, picture] = (await listed('chats/one')).items
    assert.ok(picture)
    const { id, name, mediaType, bytes, digest } = picture
    assert.deepEqual(JSON.parse(metadata), { id, name, mediaType, bytes, digest, agent: 'writer' })
    assert.deepEqual(picture.inputs, [])
  })
})

describe('lineage', () => {
  test('[Tb30] names what the agent had read before in this run, and no more', async () => {
    await stage.save(maker('lead', { subAgents: [sub('miner'), sub('drawer')] }), maker('miner'), maker('drawer'))
    stage.model.script('miner', { calls: [save('log.csv', 'a,b', 'text/csv')] }, { text: 'Mined.' })
    stage.model.on('lead', ({ nth }) => {
      if (nth === 1) return { calls: [{ name: 'miner', args: { message: 'Mine.' } }] }
      if (nth === 2) return { calls: [{ name: 'drawer', args: { message: `Draw ${savedBy('miner')}.` } }] }
      return { text: 'Done.' }
    })
    stage.model.on('drawer', ({ nth }) => {
      if (nth === 1) return { calls: [read(savedBy('miner')), save('early.svg', '<svg/>', 'image/svg+xml')] }
      if (nth === 2) return { calls: [save('model.svg', '<svg>1</svg>', 'image/svg+xml')] }
      return { text: `Drawn ${savedBy('drawer')}.` }
    })
    const run = await stage.ask('lead', 'Go.', { id: 'chats/one' })
    const { items } = await listed('chats/one')
    const [log, early, model] = items
    assert.deepEqual(
      items.map(({ name, agentPath, inputs }) => [name, agentPath, inputs]),
      [
        ['log.csv', 'lead/miner', []],
        ['early.svg', 'lead/drawer', []],
        ['model.svg', 'lead/drawer', [log?.id]],
      ],
    )
    assert.deepEqual((await listed('chats/one', '?agent=drawer')).items, [early, model])
    assert.deepEqual((await listed('chats/one', `?run=${run.runId}`)).items, items)
    assert.deepEqual((await listed('chats/one', '?run=none')).items, [])
    const page = await listed('chats/one', '?limit=2')
    assert.deepEqual(page.items, [log, early])
    assert.deepEqual(await listed('chats/one', `?limit=2&cursor=${page.nextCursor}`), {
      items: [model],
      nextCursor: null,
    })
    stage.model.on('drawer', ({ nth }) =>
      nth === 4 ? { calls: [save('later.svg', '2', 'image/svg+xml')] } : { text: '.' },
    )
    stage.model.on('lead', ({ nth }) =>
      nth === 4 ? { calls: [{ name: 'drawer', args: { message: 'Again.' } }] } : { text: 'Done.' },
    )
    await stage.run('chats/one', { prompt: 'Again.' })
    const later = (await listed('chats/one')).items.at(-1)
    assert.deepEqual([later?.name, later?.inputs], ['later.svg', []], 'another run begins with nothing')
  })

  test('[T31] an id is enough for an agent that gets control', async () => {
    await stage.save(maker('desk', { transfers: [transfer('billing')] }), maker('billing'))
    stage.model.script(
      'desk',
      { calls: [save('order.json', '{"n":1}', 'application/json')] },
      { calls: [hand('billing')] },
    )
    stage.model.on('billing', ({ nth }) => (nth === 1 ? { calls: [read(savedBy('desk'))] } : { text: 'Billed.' }))
    const run = await stage.ask('desk', 'Order.')
    assert.deepEqual(said(run), ['completed', 'Billed.'])
    assert.deepEqual(toolContents(stage.model.of('billing')[1]), ['{"n":1}'])
  })
})

describe('artifacts go with their conversation', () => {
  test('[T31] a fork has them, also once the original is deleted; then they are gone with the fork', async () => {
    await stage.save(maker('writer'))
    stage.model.script('writer', { calls: [save('a.md', 'kept')] }, { text: 'Done.' })
    await stage.ask('writer', 'Write.', { id: 'chats/one' })
    const id = savedBy('writer')
    const { lastSeq } = await stage.conversation('chats/one')
    const forked = await stage.witan.call<{ id: string }>('POST', '/api/v1/conversations/chats:one/fork', {
      body: { seq: lastSeq, id: 'chats/two' },
    })
    assert.equal(forked.status, 201, forked.text)
    const [own] = (await listed('chats/one')).items
    const [copy] = (await listed('chats/two')).items
    assert.deepEqual(copy, { ...own, conversationId: 'chats/two' })
    const at = async () => (await stage.witan.call<Artifact>('GET', `/api/v1/artifacts/${id}`)).body.conversationId
    assert.equal(await at(), 'chats/one')
    stage.model.on('writer', ({ nth }) => (nth === 3 ? { calls: [read(id)] } : { text: 'Read.' }))
    await stage.run('chats/two', { prompt: 'Read it.' })
    assert.deepEqual(toolContents(stage.model.of('writer').at(-1)).slice(1), ['kept'])
    assert.equal((await stage.witan.call('DELETE', '/api/v1/conversations/chats:one')).status, 204)
    assert.equal(await at(), 'chats/two')
    assert.equal(await (await contentAt(id)).text(), 'kept')
    assert.equal((await stage.witan.call('DELETE', '/api/v1/conversations/chats:two')).status, 204)
    assert.equal((await contentAt(id)).status, 404)
  })

  test('[T31] an agent without the key has no such tools, and nobody may take their names', async () => {
    await stage.save(agent('plain'))
    stage.model.script('plain', { calls: [save('a.md', 'x')] }, { text: 'No.' })
    await stage.ask('plain', 'Write.', { id: 'chats/one' })
    const [first, second] = stage.model.of('plain')
    assert.deepEqual(offered(first), [])
    assert.match(toolContents(second)[0] ?? '', /unknown tool save_artifact/)
    const action = { name: 'read_artifact', description: 'Mine.' }
    const refused = await stage.witan.call('PUT', '/api/v1/agents/mine', { body: agent('mine', { actions: [action] }) })
    assert.equal(refused.status, 422)
    const workflow = { id: 'flow', workflow: { kind: 'sequence', agents: ['plain'] }, artifacts: true }
    assertProblem(await stage.witan.call('PUT', '/api/v1/agents/flow', { body: workflow }), {
      status: 422,
      code: 'AGENT_INVALID',
    })
  })
})
