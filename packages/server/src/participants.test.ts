/** The people of a conversation over HTTP: they join, are listed, and leave. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createStage, type Stage } from './testing/stage.ts'

type Person = { readonly id: string; readonly leftAt: string | null } & Record<string, unknown>

describe('participants over HTTP', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    const body = {
      id: 'asker',
      model: 'play/model',
      instructions: 'x',
      users: [{ id: 'anna', name: 'Anna', roles: ['buyer'] }],
    }
    assert.equal((await stage.call('POST', '/api/v1/agents', { body })).status, 201)
  })
  after(() => stage.close())

  const at = (id: string, more = '') => `/api/v1/conversations/${id.replace('/', ':')}/participants${more}`
  const begin = async (id: string, users?: unknown) => {
    const body = { agent: 'asker', id, ...(users === undefined ? {} : { users }) }
    return stage.call('POST', '/api/v1/conversations', { body })
  }
  const add = (id: string, body: unknown) => stage.call('POST', at(id), { body })
  const list = async (id: string, query = '') => (await stage.call('GET', at(id, query))).body['items'] as Person[]

  test('people of the start are listed with the names that an agent gives them, those who join later behind them', async () => {
    await begin('chats/1', ['anna', { id: 'bob', name: 'Bob', roles: ['clerk'] }])
    assert.equal((await add('chats/1', { id: 'carl' })).status, 201)
    const items = await list('chats/1')
    assert.deepEqual(
      items.map(({ joinedAt, ...rest }) => [typeof joinedAt, rest]),
      [
        ['string', { id: 'anna', name: 'Anna', roles: ['buyer'], leftAt: null }],
        ['string', { id: 'bob', name: 'Bob', roles: ['clerk'], leftAt: null }],
        ['string', { id: 'carl', name: null, roles: [], leftAt: null }],
      ],
    )
    const first = await stage.call('GET', at('chats/1', '?limit=2'))
    assert.equal(first.body['nextCursor'], 'bob')
    assert.deepEqual(
      (await list('chats/1', '?limit=2&cursor=bob')).map(({ id }) => id),
      ['carl'],
    )
  })

  test('a repeat is no change, and one that says something else is refused', async () => {
    await begin('chats/2')
    const bob = { id: 'bob', name: 'Bob', roles: ['clerk'] }
    const { status, body } = await add('chats/2', bob)
    assert.equal(status, 201)
    for (const same of [bob, { id: 'bob' }, { id: 'bob', name: 'Bob' }]) {
      const again = await add('chats/2', same)
      assert.deepEqual([again.status, again.body], [200, body])
    }
    for (const different of [
      { id: 'bob', name: 'Rob' },
      { id: 'bob', roles: [] },
    ]) {
      const refused = await add('chats/2', different)
      assert.deepEqual([refused.status, refused.body.code], [422, 'NAME_TAKEN'])
    }
    const events = await stage.call('GET', '/api/v1/conversations/chats:2/events?verbose=true', {
      headers: { accept: 'application/json' },
    })
    const told = (
      events.body['events'] as { type: string; author: string; authorKind: string; content: unknown }[]
    ).map(({ type, author, authorKind, content }) => ({ type, author, authorKind, content }))
    const content = { user: 'bob', name: 'Bob', roles: ['clerk'], change: 'joined', by: 'user:local' }
    assert.deepEqual(told, [{ type: 'participant', author: 'user', authorKind: 'user', content }])
  })

  test('who leaves stays listed with the time, and may join again', async () => {
    await begin('chats/3', ['anna'])
    assert.equal((await stage.call('DELETE', at('chats/3', '/anna'))).status, 204)
    assert.equal((await stage.call('DELETE', at('chats/3', '/anna'))).status, 404)
    assert.equal((await stage.call('DELETE', at('chats/3', '/nobody'))).status, 404)
    const [left] = await list('chats/3')
    assert.equal(typeof left?.leftAt, 'string')
    assert.equal((await add('chats/3', { id: 'anna' })).status, 201)
    assert.deepEqual(
      (await list('chats/3')).map(({ id, leftAt }) => [id, leftAt]),
      [['anna', null]],
    )
  })

  test('[C28] no person has the name of an agent, or a word with a meaning of its own', async () => {
    await begin('chats/4')
    for (const id of ['clerk', 'user', 'witan', 'all', 'me', 'none']) {
      const refused = await add('chats/4', { id })
      assert.deepEqual([refused.status, refused.body.code, refused.body.path], [422, 'NAME_TAKEN', 'id'], id)
      const started = await begin('chats/new', [{ id }])
      assert.deepEqual([started.status, started.body.code, started.body.path], [422, 'NAME_TAKEN', 'users.0'], id)
    }
    const stranger = await begin('chats/new', ['nobody'])
    assert.deepEqual([stranger.status, stranger.body.code], [422, 'USER_UNKNOWN'])
    assert.deepEqual(await list('chats/4'), [])
  })

  test('what is no person is refused by its field, and a conversation that is not there is missing', async () => {
    await begin('chats/5')
    const bad: readonly [unknown, string][] = [
      [{ id: 'a b' }, 'id'],
      [{ id: '' }, 'id'],
      [{ id: 'x'.repeat(101) }, 'id'],
      [{ id: 'a\u0007' }, 'id'],
      [{ id: 'zed', name: 'two\nlines' }, 'name'],
      [{ id: 'zed', name: 'x'.repeat(201) }, 'name'],
      [{ id: 'zed', roles: ['a\u2028b'] }, 'roles.0'],
      [{ id: 'zed', roles: Array.from({ length: 51 }, () => 'r') }, 'roles'],
      [{ id: 'zed', channel: 'pager' }, 'channel'],
    ]
    for (const [body, path] of bad) {
      const refused = await add('chats/5', body)
      assert.deepEqual([refused.status, refused.body.path], [422, path], JSON.stringify(body).slice(0, 60))
    }
    assert.deepEqual(await list('chats/5'), [])
    for (const call of [add('chats/none', { id: 'zed' }), stage.call('GET', at('chats/none'))]) {
      const { status, body } = await call
      assert.deepEqual([status, body.code], [404, 'NOT_FOUND'])
    }
  })

  test('the people of a start may be named again: as they were then, or as they are now', async () => {
    await begin('chats/6', ['anna'])
    await add('chats/6', { id: 'zed' })
    for (const users of [['anna'], ['zed', 'anna']]) assert.equal((await begin('chats/6', users)).status, 200)
    for (const users of [['zed'], [], ['anna', 'anna2'], [{ id: 'anna', name: 'Hanna' }]]) {
      const refused = await begin('chats/6', users)
      assert.deepEqual([refused.status, refused.body.code, refused.body.path], [422, 'PARAM_FIXED', 'users'])
    }
  })

  test('[C28] nobody who takes part shares an id with an agent that is saved later', async () => {
    await begin('chats/taken', [{ id: 'dora', name: 'Dora' }])
    const put = (id: string) =>
      stage.call('PUT', `/api/v1/agents/${id}`, { body: { model: 'play/model', instructions: 'x' } })
    const refused = await put('dora')
    assert.deepEqual([refused.status, refused.body['code'], refused.body['path']], [422, 'NAME_TAKEN', 'id'])
    assert.equal((await stage.call('DELETE', at('chats/taken', '/dora'))).status, 204)
    assert.equal((await put('dora')).status, 201)
  })

  test('the graph of an agent has the people whom it may ask', async () => {
    const users = [{ id: 'anna', name: 'Anna' }, { role: 'buyer' }]
    const body = (more: object) => ({ body: { model: 'play/model', instructions: 'x', ...more } })
    await stage.call('PUT', '/api/v1/agents/helper', body({ users: 'participants' }))
    await stage.call('PUT', '/api/v1/agents/boss', body({ users, subAgents: [{ agent: 'helper' }] }))
    const graph = (await stage.call('GET', '/api/v1/agents/boss/graph')).body
    const nodes = graph['nodes'] as { id: string; kind: string }[]
    const edges = graph['edges'] as { from: string; to: string; kind: string }[]
    assert.deepEqual(
      nodes.map(({ id, kind }) => [id, kind]),
      [
        ['boss', 'agent'],
        ['helper', 'agent'],
        ['anna', 'user'],
        ['role:buyer', 'user'],
        ['participants', 'user'],
      ],
    )
    assert.deepEqual(
      edges.filter(({ kind }) => kind === 'users').map(({ from, to }) => [from, to]),
      [
        ['boss', 'anna'],
        ['boss', 'role:buyer'],
        ['helper', 'participants'],
      ],
    )
    assert.ok((graph['hotSpots'] as { id: string }[]).some(({ id }) => id === 'anna'))
  })
})
