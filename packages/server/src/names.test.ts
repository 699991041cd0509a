/** One rule for ids and names, at every place where somebody sends one: nobody reads like an agent, and nothing hides in a name. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createStage, type Stage } from './testing/stage.ts'
import { principalOfClaims } from './token-claims.ts'

/** Ends of an attribution, hidden characters, and letters that look like others. */
const bad = [
  'billing] to @root',
  'billing]',
  '[x',
  '\uff3dx',
  'an\u200bna',
  'an\u202ena',
  'an\u2066na',
  'a\u0000b',
  'a\u001b[2Jb',
  'a\u0085b',
  'a\u2028b',
  'an\u00adna',
  'a\ufe0fb',
  'bіlling',
  'e\u0301',
  '\ud800x',
  '<b>',
]
const good = ['anna', 'anna@example.com', 'auth0|5f7c8ec7c33c', 'Jürgen', '李雷', 'анна', '248289761001']

const parameters = { userId: '1', country: 'AT' }

describe('names that models, terminals and logs show', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    await stage.call('POST', '/api/v1/conversations', { body: { agent: 'boss', id: 'chats/people', parameters } })
  })
  after(() => stage.close())

  const agent = (more: object) => ({ id: 'named', model: 'play/model', instructions: 'x', ...more })
  const protocol = (state: string) => ({
    ...{ name: 'p', messages: [{ name: 'ask', from: 'initiator' }] },
    order: { start: state, final: [state], states: { [state]: { ask: state } } },
  })
  const saved = (more: object) => stage.call('POST', '/api/v1/agents', { body: agent(more) })
  const people = '/api/v1/conversations/chats:people/participants'
  const begin = (users: unknown) =>
    stage.call('POST', '/api/v1/conversations', { body: { agent: 'boss', id: 'chats/', parameters, users } })
  const key = (more: object) => stage.call('POST', '/api/v1/keys', { body: more })

  /** Every place that takes a name, and the path that its refusal has. */
  const places: Readonly<Record<string, readonly [send: (name: string) => ReturnType<Stage['call']>, path: string]>> = {
    'the person of a key': [(name) => key({ id: `user:${name}` }), 'id'],
    'a role of a key': [(name) => key({ roles: [name] }), 'roles.0'],
    'the name of a key': [(name) => key({ name }), 'name'],
    'the address of a key': [(name) => key({ address: `@${name}@example.com` }), 'address'],
    'a participant': [(id) => stage.call('POST', people, { body: { id } }), 'id'],
    'the name of a participant': [(name) => stage.call('POST', people, { body: { id: 'zed', name } }), 'name'],
    'a role of a participant': [
      (name) => stage.call('POST', people, { body: { id: 'zed', roles: [name] } }),
      'roles.0',
    ],
    'a person of a start': [(id) => begin([{ id }]), 'users.0'],
    'the name of an agent': [(name) => saved({ name }), 'name'],
    'a person whom an agent asks': [(id) => saved({ users: [{ id }] }), 'users.0.id'],
    'the name of that person': [(name) => saved({ users: [{ id: 'zed', name }] }), 'users.0.name'],
    'a role of that person': [(name) => saved({ users: [{ id: 'zed', roles: [name] }] }), 'users.0.roles.0'],
    'a role that an agent asks': [(role) => saved({ users: [{ role }] }), 'users.0.role'],
    'other names for people': [(name) => saved({ users: 'participants', anonymizeUsers: name }), 'anonymizeUsers'],
    'an access list': [(name) => saved({ access: { call: [`user:${name}`] } }), 'access.call.0'],
    'an access list of a tool': [
      (name) => saved({ access: { tools: { find_entry: [['role:x', `role:${name}`]] } } }),
      'access.tools.find_entry.0.1',
    ],
    'a state of a protocol': [
      (name) => stage.call('PUT', '/api/v1/protocols/p', { body: protocol(name) }),
      'order.states',
    ],
  }

  for (const [place, [send, path]] of Object.entries(places))
    test(`${place} keeps the rule for names`, async () => {
      for (const name of bad) {
        const { status, body } = await send(name)
        assert.equal(status, 422, `${JSON.stringify(name)} was taken`)
        assert.ok(body.path === path || body.path?.startsWith(`${path}.`), `${JSON.stringify(name)}: ${body.path}`)
        assert.doesNotMatch(body.detail ?? '', /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, 'the refusal shows it escaped')
      }
    })

  test('usual ids are taken everywhere', async () => {
    for (const name of good) {
      assert.equal((await key({ id: `user:${name}`, roles: [name], name })).status, 201, name)
      assert.equal((await stage.call('POST', people, { body: { id: name, name } })).status, 201, name)
    }
    const users = good.map((id) => ({ id, name: id, roles: [id] }))
    assert.equal((await saved({ users, name: 'Refunds & returns (EU) 🙂' })).status, 201)
  })

  test('a token is refused by its claim, in words that repeat nothing', () => {
    const names = { database: 'db', id: 'sub', roles: 'roles', address: 'email' }
    const claims = { db: 'shop', sub: 'anna', roles: ['run'], email: 'anna@example.com' }
    for (const name of bad)
      for (const [claim, value] of [
        ['sub', name],
        ['roles', [name]],
        ['email', name],
      ] as const)
        assert.throws(
          () => principalOfClaims({ ...claims, [claim]: value }, names),
          (error: { code: string; message: string }) => {
            assert.equal(error.code, 'UNAUTHENTICATED')
            assert.ok(error.message.includes(`\`${claim}\``) && !error.message.includes(name), error.message)
            return true
          },
        )
    for (const sub of good) assert.equal(principalOfClaims({ ...claims, sub }, names).id, `user:${sub}`)
  })

  test('[C28] no person looks like an agent, like a word with a meaning, or like somebody who takes part', async () => {
    await stage.call('POST', people, { body: { id: 'olga' } })
    for (const id of [
      'Clerk',
      'CLERK',
      'c1erk',
      'сӏегк',
      'Witan',
      'wітan',
      'USER',
      'user',
      'All',
      'OLGA',
      '0lga',
      'оӏɡа',
    ]) {
      const added = await stage.call('POST', people, { body: { id } })
      assert.equal(added.status, 422, id)
      const started = await begin([{ id: 'olga' }, { id }])
      assert.equal(started.status, 422, id)
    }
    const asks = await saved({ users: [{ id: 'Clerk' }], id: 'caller' })
    assert.deepEqual([asks.status, asks.body.code, asks.body.path], [422, 'NAME_TAKEN', 'users.0.id'])
    assert.equal((await saved({ users: [{ id: 'Helper' }], id: 'asker' })).status, 201)
    const named = await saved({ id: 'helper' })
    assert.deepEqual([named.status, named.body.code, named.body.path], [422, 'NAME_TAKEN', 'id'])
  })
})
