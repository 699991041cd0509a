/** Agents over the API: save, read, revise, batch, assign and delete. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import type { Finding, Page, SavedAgent } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const path = (id: string) => `/api/v1/agents/${id}`
const put = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  stage.witan.call<SavedAgent>('PUT', path(id), { body, headers })
const get = (id: string) => stage.witan.call<SavedAgent>('GET', path(id))

test('a saved agent is read back with its revision, source, warnings and ETag', async () => {
  const created = await put('alpha', agent('alpha', { description: 'first' }))
  assert.equal(created.status, 201, created.text)
  const read = await get('alpha')
  assert.equal(read.status, 200)
  assert.equal(read.body.id, 'alpha')
  assert.equal(read.body.description, 'first')
  assert.equal(typeof read.body.source, 'string')
  assert.deepEqual(read.body.warnings, [])
  const whole = await stage.witan.call('GET', path('alpha'), { headers: { 'accept-encoding': 'identity' } })
  assert.equal(whole.headers.get('etag'), `"${read.body.revision}"`, 'a compressed one names its coding, too')
})

test('a change is 200 and a new revision, and what GET gave may be PUT back', async () => {
  await put('beta', agent('beta'))
  const read = await get('beta')
  const changed = await put('beta', { ...read.body, description: 'changed' })
  assert.equal(changed.status, 200, changed.text)
  const again = await get('beta')
  assert.equal(again.body.description, 'changed')
  assert.notEqual(again.body.revision, read.body.revision)
})

test('an empty list of fallbacks is saved, and means none', async () => {
  const saved = await put('alone', agent('alone', { fallbacks: [] }))
  assert.equal(saved.status, 201, saved.text)
  stage.model.script('alone', { text: 'Here.' })
  assert.equal((await stage.ask('alone', 'hello')).text, 'Here.')
})

test('If-Match saves only over the revision it names', async () => {
  await put('gamma', agent('gamma'))
  const etag = (await get('gamma')).headers.get('etag') ?? ''
  assert.equal((await put('gamma', agent('gamma', { description: 'one' }), { 'if-match': etag })).status, 200)
  const stale = await put('gamma', agent('gamma', { description: 'two' }), { 'if-match': etag })
  assertProblem(stale, { status: 412, code: 'REVISION_MISMATCH' })
  assert.equal((await get('gamma')).body.description, 'one')
})

test('POST creates once', async () => {
  const first = await stage.witan.call<SavedAgent>('POST', '/api/v1/agents', { body: agent('delta') })
  assert.equal(first.status, 201, first.text)
  const second = await stage.witan.call('POST', '/api/v1/agents', { body: agent('delta') })
  assertProblem(second, { status: 409, code: 'AGENT_EXISTS', names: ['delta'] })
})

test('a batch saves agents that list each other, with a warning that names the cycle [E02] [C1] [R47]', async () => {
  await stage.save(agent('ping', { subAgents: [sub('pong')] }), agent('pong', { subAgents: [sub('ping')] }))
  const warnings = [...(await get('ping')).body.warnings, ...(await get('pong')).body.warnings]
  const cycle = warnings.find((warning: Finding) => warning.code === 'AGENT_CYCLE')
  assert.ok(cycle, JSON.stringify(warnings))
  assert.ok(cycle.detail.includes('ping') && cycle.detail.includes('pong'))
})

test('a batch with one bad agent saves none', async () => {
  const agents = [agent('good-one'), agent('bad-one', { subAgents: [sub('nobody')] })]
  const answer = await stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents } })
  assertProblem(answer, { status: 422, code: 'AGENT_REF_UNKNOWN', names: ['nobody'] })
  assertProblem(await get('good-one'), { status: 404, code: 'NOT_FOUND' })
})

test('an agent that another lists is deleted only by force [E06]', async () => {
  await stage.save(agent('user-of-it', { subAgents: [sub('used')] }), agent('used'))
  const refused = await stage.witan.call('DELETE', path('used'))
  assertProblem(refused, { status: 409, code: 'AGENT_REFERENCED', names: ['user-of-it'] })
  assert.equal((await stage.witan.call('DELETE', `${path('used')}?force=true`)).status, 204)
  assertProblem(await get('used'), { status: 404, code: 'NOT_FOUND' })
  assert.equal((await stage.witan.call('DELETE', path('user-of-it'))).status, 204)
})

test('the list comes in pages that together are everything once', async () => {
  await stage.save(...['one', 'two', 'three', 'four', 'five'].map((name) => agent(`page-${name}`)))
  const whole = (await stage.witan.call<Page<SavedAgent>>('GET', '/api/v1/agents?limit=200')).body
  assert.equal(whole.nextCursor, null)
  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''
    const { status, body, text } = await stage.witan.call<Page<SavedAgent>>('GET', `/api/v1/agents?limit=2${query}`)
    assert.equal(status, 200, text)
    assert.ok(body.items.length <= 2)
    paged.push(...body.items.map((item) => item.id))
    cursor = body.nextCursor
  }
  assert.deepEqual(
    paged,
    whole.items.map((item) => item.id),
  )
  assert.equal(new Set(paged).size, paged.length)
})

test('an agent says who may list it [F03] [F06] [F09]', async () => {
  await stage.save(agent('closed', { parents: ['friend'] }), agent('friend', { subAgents: [sub('closed')] }))
  assertProblem(await put('stranger', agent('stranger', { subAgents: [sub('closed')] })), {
    status: 422,
    code: 'PARENT_NOT_ALLOWED',
    names: ['closed'],
  })
  await put('nobodys', agent('nobodys', { parents: [] }))
  assertProblem(await put('friend', agent('friend', { subAgents: [sub('nobodys')] })), {
    status: 422,
    code: 'PARENT_NOT_ALLOWED',
    names: ['nobodys'],
  })
  stage.model.script('nobodys', { text: 'as a root only' })
  assert.equal((await stage.ask('nobodys', 'hello')).text, 'as a root only')
})

test('hidden but generatable, and hidden here but shown upstream, are saved with a warning [R36]', async () => {
  const hidden = { name: 'userId', type: 'string', sendToModel: false }
  const first = await put('leaky', agent('leaky', { parameters: [hidden] }))
  assert.equal(first.status, 201, first.text)
  await put(
    'leaky-root',
    agent('leaky-root', { parameters: [{ name: 'userId', type: 'string' }], subAgents: [sub('leaky')] }),
  )
  await put('leaky-asker', agent('leaky-asker', { subAgents: [sub('leaky')] }))
  const found = []
  for (const id of ['leaky', 'leaky-root', 'leaky-asker']) found.push(...(await get(id)).body.warnings)
  const exposed = found.find((warning) => warning.code === 'PARAM_EXPOSED_UPSTREAM')
  assert.ok(exposed?.detail.includes('userId') && exposed.hint, JSON.stringify(found))
  const generatable = found.find((warning) => warning.code === 'PARAM_HIDDEN_GENERATABLE')
  assert.ok(generatable?.detail.includes('userId') && generatable.hint, JSON.stringify(found))
})

test('a run keeps the revision it started with, and the next run takes the new one [C8]', async () => {
  await put('pinned', agent('pinned', { instructions: 'Old words.' }))
  stage.model.script('pinned', { text: 'a' }, { text: 'b' })
  const { conversationId } = await stage.ask('pinned', 'one')
  await put('pinned', agent('pinned', { instructions: 'New words.' }))
  await stage.run(conversationId, { prompt: 'two' })
  const systems = stage.model.of('pinned').map((seen) => seen.body.messages[0]?.content)
  assert.deepEqual(systems, ['Old words.', 'New words.'])
})

test('sub-agents are assigned, listed and unassigned one by one [F12] [F44]', async () => {
  await stage.save(agent('boss'), agent('clerk'))
  const base = `${path('boss')}/subagents`
  const assigned = await stage.witan.call('PUT', `${base}/clerk`, { body: { description: 'Writes.' } })
  assert.ok(assigned.status === 200 || assigned.status === 201, assigned.text)
  const created = await stage.witan.call('POST', base, {
    body: { agent: agent('runner'), edge: { description: 'Runs.' } },
  })
  assert.equal(created.status, 201, created.text)
  const list = await stage.witan.call<Page<unknown>>('GET', base)
  assert.equal(list.body.items.length, 2, list.text)
  stage.model.script('boss', { text: 'ok' })
  await stage.ask('boss', 'hello')
  assert.deepEqual(
    stage.model
      .of('boss')[0]
      ?.body.tools?.map((tool) => tool.function.name)
      .sort(),
    ['clerk', 'runner'],
  )
  assert.equal((await stage.witan.call('DELETE', `${base}/clerk`)).status < 300, true)
  assert.equal((await stage.witan.call<Page<unknown>>('GET', base)).body.items.length, 1)
})

test('the graph shows what an agent can reach', async () => {
  await stage.save(
    agent('g-root', { subAgents: [sub('g-mid')] }),
    agent('g-mid', { subAgents: [sub('g-leaf')] }),
    agent('g-leaf'),
  )
  interface Graph {
    nodes: { id: string }[]
    edges: { from: string; to: string }[]
  }
  const { status, body, text } = await stage.witan.call<Graph>('GET', `${path('g-root')}/graph`)
  assert.equal(status, 200, text)
  assert.deepEqual(body.nodes.map((node) => node.id).sort(), ['g-leaf', 'g-mid', 'g-root'])
  assert.deepEqual(body.edges.map(({ from, to }) => `${from}>${to}`).sort(), ['g-mid>g-leaf', 'g-root>g-mid'])
})
