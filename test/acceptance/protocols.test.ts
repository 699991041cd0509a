/** Protocols over the API: save, read, revise, check, batch, delete; and what must be refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage } from './support/stage.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

interface Saved {
  name: string
  revision: number
  source: string
  warnings: readonly { code: string }[]
  order: unknown
  purpose: string
}

const object = (properties: Record<string, unknown> = {}) => ({ type: 'object', properties })
const ask = { name: 'ask', from: 'initiator', schema: object({ sku: { type: 'string' } }), reply: object() }
const order = { name: 'order', from: 'initiator', schema: object({ count: { type: 'integer' } }) }
const automaton = {
  start: 'idle',
  final: ['idle', 'closed'],
  states: { idle: { ask: 'asked' }, asked: { ask: 'asked', order: 'closed' }, closed: {} },
}
const stock = (more: object = {}) => ({ purpose: 'What is there.', messages: [ask, order], order: automaton, ...more })
const put = (name: string, body: unknown, headers: Record<string, string> = {}) =>
  stage.witan.call<Saved>('PUT', `/api/v1/protocols/${name}`, { body, headers })
const get = (name: string) => stage.witan.call<Saved>('GET', `/api/v1/protocols/${name}`)

test('a protocol is an object of the database: saved, read, revised, guarded and deleted', async () => {
  const created = await put('stock-request', stock())
  assert.equal(created.status, 201, created.text)
  const read = await get('stock-request')
  assert.equal(read.headers.get('etag'), '"1"')
  assert.deepEqual([read.body.revision, read.body.source, read.body.order], [1, 'data', automaton])
  assert.equal(
    (await put('stock-request', read.body)).body.revision,
    1,
    'a save that changes nothing makes no revision',
  )
  const changed = await put('stock-request', stock({ purpose: 'Another.' }), { 'if-match': '"1"' })
  assert.deepEqual([changed.status, changed.body.revision], [200, 2])
  assertProblem(await put('stock-request', stock(), { 'if-match': '"1"' }), { status: 412, code: 'REVISION_MISMATCH' })
  const listed = await stage.witan.call<{ items: Saved[] }>('GET', '/api/v1/protocols')
  assert.deepEqual(
    listed.body.items.map(({ name }) => name),
    ['stock-request'],
  )
  assert.equal((await stage.witan.call('DELETE', '/api/v1/protocols/stock-request')).status, 204)
  assertProblem(await get('stock-request'), { status: 404, code: 'NOT_FOUND' })
  assert.equal((await put('stock-request', stock())).body.revision, 3, 'the count goes on')
})

test('agents and protocols are different things under one name', async () => {
  await put('same', { messages: [ask] })
  await stage.save(agent('same'))
  const agents = await stage.witan.call<{ items: { id: string }[] }>('GET', '/api/v1/agents')
  assert.ok(agents.body.items.every(({ id }) => !id.startsWith('protocol')))
  assert.equal((await stage.witan.call('DELETE', '/api/v1/agents/same')).status, 204)
  assert.equal((await get('same')).status, 200)
})

test('a protocol that cannot be kept is refused, with its path', async () => {
  const states = automaton.states
  const rows: [title: string, body: object, path: string, names: string[]][] = [
    ['no message', stock({ messages: [] }), 'messages', []],
    ['two of one name', stock({ messages: [ask, order, ask] }), 'messages.2.name', ['ask']],
    [
      'content that is no object',
      stock({ messages: [ask, { ...order, schema: { type: 'string' } }] }),
      'messages.1.schema.type',
      ['order'],
    ],
    [
      'a schema that cannot be read',
      stock({ messages: [ask, { ...order, reply: { type: 'objekt' } }] }),
      'messages.1.reply',
      [],
    ],
    ['nobody sends it', stock({ messages: [{ ...ask, from: 'anyone' }, order] }), 'messages.0.from', []],
    ['a start that is no state', stock({ order: { ...automaton, start: 'idel' } }), 'order.start', ['idel']],
    ['a final state that is none', stock({ order: { ...automaton, final: ['open'] } }), 'order.final.0', ['open']],
    ['no final state', stock({ order: { ...automaton, final: [] } }), 'order.final', []],
    [
      'a move to nowhere',
      stock({ order: { ...automaton, states: { ...states, idle: { ask: 'away' } } } }),
      'order.states.idle.ask',
      ['away'],
    ],
    [
      'a message that it has not',
      stock({ order: { ...automaton, states: { ...states, closed: { beg: 'idle' } } } }),
      'order.states.closed.beg',
      ['beg'],
    ],
    [
      'a message in no state',
      stock({ order: { ...automaton, states: { ...states, asked: {} } } }),
      'messages.1.name',
      ['order'],
    ],
  ]
  for (const [title, body, path, names] of rows) {
    const reply = await put('bad', body)
    assertProblem(reply, { status: 422, code: 'PROTOCOL_INVALID', names: ['bad', ...names] })
    assert.equal((reply.body as unknown as { path: string }).path, path, title)
  }
  assertProblem(await put('bad', stock({ porpose: 'x' })), { status: 422, code: 'UNKNOWN_KEY', names: ['purpose'] })
  assertProblem(await put('Bad_Name', stock()), { status: 422, code: 'PROTOCOL_INVALID' })
  assertProblem(await put('bad', stock({ name: 'other' })), { status: 422, code: 'ID_INVALID' })
  assertProblem(await get('bad'), { status: 404, code: 'NOT_FOUND' })
})

test('a batch saves agents and protocols, all or nothing', async () => {
  const batch = (body: unknown) =>
    stage.witan.call<{ agents: { id: string }[]; protocols?: Saved[] }>('POST', '/api/v1/agents/batch', { body })
  const both = await batch({ agents: [agent('clerk')], protocols: [{ name: 'batched', ...stock() }] })
  assert.equal(both.status, 200, both.text)
  assert.deepEqual([both.body.agents[0]?.id, both.body.protocols?.[0]?.revision], ['clerk', 1])
  const bad = await batch({ agents: [agent('late')], protocols: [{ name: 'broken', messages: [] }] })
  assertProblem(bad, { status: 422, code: 'PROTOCOL_INVALID' })
  assert.equal((await stage.witan.call('GET', '/api/v1/agents/late')).status, 404)
  const half = await batch({
    agents: [{ ...agent('late'), model: 'no/such' }],
    protocols: [{ name: 'half', ...stock() }],
  })
  assertProblem(half, { status: 422, code: 'MODEL_UNKNOWN' })
  assertProblem(await get('half'), { status: 404, code: 'NOT_FOUND' })
  const double = { name: 'double', ...stock() }
  assertProblem(await batch({ agents: [], protocols: [double, double] }), { status: 422, code: 'NAME_TAKEN' })
})

test('check lists who speaks each protocol, warns of those that nobody speaks, and reports every mistake of form', async () => {
  const protocols = [
    { name: 'unspoken', ...stock() },
    { name: 'broken', messages: [], order: null },
    { name: 'odd', nmae: 1 },
  ]
  const { body } = await stage.witan.call<{
    errors: { code: string; path: string }[]
    warnings: { code: string; path: string }[]
    protocols: { name: string; initiators: string[]; responders: string[] }[]
  }>('POST', '/api/v1/check', { body: { protocols } })
  assert.deepEqual(body.errors.map(({ code, path }) => `${code} ${path}`).slice(0, 1), [
    'PROTOCOL_INVALID protocols.1.messages',
  ])
  assert.ok(body.errors.some(({ code, path }) => code === 'UNKNOWN_KEY' && path === 'protocols.2.nmae'))
  assert.ok(body.protocols.some((one) => one.name === 'unspoken' && one.initiators.length === 0))
  assert.ok(body.warnings.some(({ code, path }) => code === 'PROTOCOL_UNSPOKEN' && path === 'protocols.unspoken'))
  assertProblem(await get('unspoken'), { status: 404, code: 'NOT_FOUND' })
})

test('what hostile input says of a protocol ends in an answer', async () => {
  const states = JSON.parse('{"__proto__":{"ask":"__proto__"},"idle":{"ask":"constructor"}}') as object
  const names = [
    { start: '__proto__', final: ['constructor'], states },
    { start: 'toString', final: ['idle'], states },
  ]
  for (const one of names) {
    const reply = await put('hostile', stock({ order: one }))
    assertProblem(reply, { status: 422, code: 'PROTOCOL_INVALID' })
  }
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`state-${at}`, { ask: `stare-${at}` }]))
  const crowd = await put('hostile', stock({ order: { start: 'a', final: ['a'], states: many } }))
  assertProblem(crowd, { status: 422, code: 'PROTOCOL_INVALID', names: ['at most 200 states'] })
  const deep = JSON.parse(`${'{"items":'.repeat(200)}{}${'}'.repeat(200)}`) as object
  const reply = await put('hostile', stock({ messages: [{ ...ask, reply: deep }, order] }))
  assert.ok([400, 422].includes(reply.status), reply.text)
})

test('[T19] an agent or a protocol is saved only if both ends of the protocol fit', async () => {
  const speaks = (role: string, peers: string[] | null, protocol = 'spoken') => ({
    speaks: [{ protocol, role, peers }],
  })
  const batch = (agents: object[], protocols: object[] = []) =>
    stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents, protocols } })
  const save = (id: string, more: object) =>
    stage.witan.call('PUT', `/api/v1/agents/${id}`, { body: { ...agent(id), ...more } })
  const protocol = { name: 'spoken', ...stock() }
  assertProblem(await save('asks', speaks('responder', null, 'spokn')), { status: 422, code: 'PROTOCOL_UNKNOWN' })
  assertProblem(await batch([{ ...agent('asks'), ...speaks('initiator', ['tells']) }, agent('tells')], [protocol]), {
    status: 422,
    code: 'PROTOCOL_ENDS_MISMATCH',
    names: ['asks', 'tells', 'responder'],
  })
  const fits = [
    { ...agent('asks'), ...speaks('initiator', ['tells']) },
    { ...agent('tells'), ...speaks('responder', ['asks']) },
  ]
  assert.equal((await batch(fits, [protocol])).status, 200)
  assertProblem(await save('tells', {}), { status: 422, code: 'PROTOCOL_ENDS_MISMATCH', names: ['asks'] })
  assertProblem(await stage.witan.call('DELETE', '/api/v1/protocols/spoken'), {
    status: 409,
    code: 'PROTOCOL_REFERENCED',
    names: ['asks'],
  })
  const long = 'a-message-whose-name-is-rather-too-long'
  const wide = stock({ order: null, messages: [{ name: long, from: 'initiator', schema: { type: 'object' } }] })
  const other = `${'x'.repeat(30)}`
  assertProblem(
    await batch(
      [
        { ...agent('asks-long'), ...speaks('initiator', [other], 'wide') },
        { ...agent(other), ...speaks('responder', null, 'wide') },
      ],
      [{ name: 'wide', ...wide }],
    ),
    { status: 422, code: 'TOOL_NAME_TOO_LONG', names: [long] },
  )
  const check = await stage.witan.call<{ protocols: { name: string; initiators: string[]; responders: string[] }[] }>(
    'POST',
    '/api/v1/check',
    { body: {} },
  )
  assert.deepEqual(
    check.body.protocols.find(({ name }) => name === 'spoken'),
    { name: 'spoken', initiators: ['asks'], responders: ['tells'] },
  )
  const graph = await stage.witan.call<{
    edges: { kind: string; description: string }[]
    hotSpots: { id: string; in: number; out: number }[]
  }>('GET', '/api/v1/agents/asks/graph')
  assert.deepEqual(
    graph.body.edges.filter(({ kind }) => kind === 'speaks').map(({ description }) => description),
    ['spoken (initiator)', 'spoken (responder)'],
  )
  assert.ok(graph.body.hotSpots.some(({ id }) => id === 'tells'))
})

test('[Tb25] what another agent or a protocol brings along cannot replace a tool of an agent', async () => {
  const [object, from] = [{ type: 'object' }, 'responder']
  const messages = [
    { name: 'ask', from: 'initiator', schema: object },
    { name: 'tell', from, schema: object },
  ]
  const speaks = (role: string, more: object = {}) => ({ speaks: [{ protocol: 'bring', role, ...more }] })
  const put = (id: string, more: object) =>
    stage.witan.call('PUT', `/api/v1/agents/${id}`, { body: { ...agent(id), ...more } })
  const protocol = (more: object[] = []) =>
    stage.witan.call('PUT', '/api/v1/protocols/bring', { body: { messages: [...messages, ...more] } })
  assert.equal((await protocol()).status, 201)
  const actions = ['asker_tell', 'asker_more'].map((name) => ({ name, parametersSample: {} }))
  assert.equal((await put('teller', { ...speaks('responder'), actions: actions.slice(0, 1) })).status, 201)
  const initiates = speaks('initiator', { peers: ['teller'] })
  assertProblem(await put('asker', initiates), { status: 422, code: 'NAME_TAKEN', names: ['asker_tell', 'teller'] })
  const long = 'a'.repeat(62)
  assertProblem(await put(long, initiates), { status: 422, code: 'TOOL_NAME_TOO_LONG', names: ['teller'] })
  assert.equal((await put('teller', { ...speaks('responder'), actions: actions.slice(1) })).status, 200)
  assert.equal((await put('asker', initiates)).status, 201)
  assertProblem(await protocol([{ name: 'more', from, schema: object }]), {
    status: 422,
    code: 'NAME_TAKEN',
    names: ['asker_more'],
  })
})
