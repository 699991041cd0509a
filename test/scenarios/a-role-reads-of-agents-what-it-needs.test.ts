/** Agents and protocols as roles see them, who may start a run, and what ends for a person who leaves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal, Witan } from '@witan/core'
import type { AnyEvent, DatabaseId } from '@witan/protocol'
import type { ConversationInput } from '@witan/protocol/schemas'
import { agent, createStage, type Stage, until } from '../support/stage.ts'

const as = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})

function staged(): Stage {
  return createStage({
    agents: [
      {
        id: 'front',
        name: 'Front desk',
        description: 'Helps.',
        parameters: [{ name: 'city' }],
        subAgents: [{ agent: 'vault' }, { agent: 'clerk' }],
      },
      { id: 'vault', name: 'The vault', access: { call: ['role:staff'] }, subAgents: [{ agent: 'clerk' }] },
      { id: 'clerk' },
    ],
    plays: { front: () => 'hi', vault: () => 'opened', clerk: () => 'yes' },
  })
}

type Act = (witan: Witan, id: string) => Promise<unknown>

/** What names an agent or a protocol. */
const changes: Readonly<Record<string, Act>> = {
  get: (witan, id) => witan.agents.get(id),
  graph: (witan, id) => witan.agents.graph(id),
  delete: (witan, id) => witan.agents.delete(id),
  'sub-agents': (witan, id) => witan.agents.subAgents.list(id),
  'a new sub-agent': (witan, id) => witan.agents.subAgents.create(id, { agent: agent('x') }),
  'a sub-agent': (witan, id) => witan.agents.subAgents.assign(id, 'clerk'),
  'no sub-agent': (witan, id) => witan.agents.subAgents.unassign(id, 'clerk'),
  'a tool': (witan, id) => witan.agents.tools.assign(id, 't'),
  'no tool': (witan, id) => witan.agents.tools.unassign(id, 't'),
}
/** What names nothing that is there. */
const saves: Readonly<Record<string, (witan: Witan) => Promise<unknown>>> = {
  list: (witan) => witan.agents.list(),
  save: (witan) => witan.agents.save(agent('x')),
  'save all': (witan) => witan.agents.saveAll([agent('x')]),
  'save together': (witan) => witan.agents.saveTogether({ agents: [agent('x')] }),
  check: (witan) => witan.agents.check(),
  'check others': (witan) => witan.agents.check([agent('x')]),
  protocols: (witan) => witan.protocols.list(),
  protocol: (witan) => witan.protocols.get('p'),
  'save a protocol': (witan) => witan.protocols.save({ name: 'p', messages: [] }),
  'delete a protocol': (witan) => witan.protocols.delete('p'),
  keys: (witan) => witan.keys.list(),
  'a key': (witan) => witan.keys.create({}),
}

async function refusal(work: Promise<unknown>, word: string): Promise<unknown> {
  return work.then(
    () => 'done',
    ({ code, message, path, hint }: Record<string, unknown>) =>
      JSON.stringify({ code, message, path, hint }).replaceAll(word, '*'),
  )
}

test('[D17] [C31] the role run reads of the agents that it may call what a caller needs, and of others nothing', async () => {
  const { runtime } = staged()
  const runner = runtime.as(as('user:anna', 'run'))
  assert.deepEqual(await runner.agents.views(), {
    items: [
      { id: 'clerk', description: '', parameters: [] },
      {
        id: 'front',
        name: 'Front desk',
        description: 'Helps.',
        parameters: (await runtime.agents.get('front')).parameters,
      },
    ],
    nextCursor: null,
  })
  assert.equal((await runner.agents.view('Front desk')).id, 'front')
  const ids = async (who: Principal) => (await runtime.as(who).agents.views()).items.map(({ id }) => id)
  for (const who of [as('key:s', 'run', 'staff'), as('key:r', 'read'), as('key:a', 'admin')])
    assert.deepEqual(await ids(who), ['clerk', 'front', 'vault'], who.id)
  for (const who of [as('user:anna'), as('key:x', 'answer'), as('key:s', 'staff')]) assert.deepEqual(await ids(who), [])
  const nothing = await refusal(runner.agents.view('nothing'), 'nothing')
  for (const word of ['vault', 'The vault', ' the VAULT'])
    assert.equal(await refusal(runner.agents.view(word), word), nothing)
  assert.equal((await runner.agents.views({ limit: 1 })).nextCursor, 'clerk')
  await assert.rejects(runner.agents.views({ cursor: 'vault' }), { code: 'BODY_INVALID' })
})

test('[D17] agents, protocols and keys are changed by an admin alone, and read whole by the role read too', async () => {
  const { runtime } = staged()
  for (const who of [as('user:anna', 'run', 'answer', 'staff'), as('key:r', 'read'), as('user:anna')]) {
    const witan = runtime.as(who)
    const mayRead = who.roles.includes('read')
    for (const [name, act] of Object.entries(changes)) {
      const told = await refusal(act(witan, 'front'), 'front')
      if (mayRead && ['get', 'graph', 'sub-agents'].includes(name)) assert.equal(told, 'done', name)
      else assert.equal(told, await refusal(act(witan, 'nobody'), 'nobody'), name)
      assert.match(String(told), /NOT_FOUND|done/, name)
    }
    for (const [name, act] of Object.entries(saves)) {
      const told = await refusal(act(witan), 'x')
      if (mayRead && ['list', 'protocols'].includes(name)) assert.equal(told, 'done', name)
      else assert.match(String(told), /NOT_FOUND/, name)
    }
    assert.deepEqual(witan.models.length > 0, mayRead)
  }
  assert.deepEqual(
    (await runtime.agents.list()).items.map(({ id, revision }) => `${id} ${revision}`),
    ['clerk 1', 'front 1', 'vault 1'],
  )
})

test('[D17] [E10] a conversation is started by the roles run and admin, where the agent lets them in', async () => {
  const { runtime } = staged()
  const start = (who: Principal, word: string) => runtime.as(who).start({ agent: word, prompt: 'x' })
  const direct = (who: Principal, parent: string, id = 'clerk') =>
    runtime.as(who).agents.subAgents.run(parent, id, { prompt: 'x' })
  const runner = as('user:anna', 'run')
  for (const who of [runner, as('key:a', 'admin')])
    assert.equal((await (await start(who, 'clerk')).run?.result)?.text, 'yes')
  assert.equal((await (await direct(runner, 'front')).result).text, 'yes')
  for (const who of [as('user:anna'), as('key:r', 'read', 'answer', 'staff'), as('user:anna', 'staff')]) {
    assert.equal(await refusal(start(who, 'clerk'), 'clerk'), await refusal(start(who, 'nobody'), 'nobody'))
    assert.equal(await refusal(direct(who, 'front'), 'front'), await refusal(direct(who, 'nobody'), 'nobody'))
  }
  const nobody = await refusal(start(runner, 'nobody'), 'nobody')
  for (const word of ['vault', 'The vault']) assert.equal(await refusal(start(runner, word), word), nobody)
  const noParent = await refusal(direct(runner, 'nobody'), 'nobody')
  for (const word of ['vault', 'The vault']) assert.equal(await refusal(direct(runner, word), word), noParent)
  const noChild = await refusal(direct(runner, 'front', 'nobody'), 'nobody')
  for (const word of ['vault', 'The vault']) assert.equal(await refusal(direct(runner, 'front', word), word), noChild)
})

test('[D17] a conversation of somebody else is not continued by its id, whoever may start one', async () => {
  const { runtime } = staged()
  await runtime
    .as(as('key:k1', 'run'))
    .start({ agent: 'front', id: 'chats/1', users: [{ id: 'bob' }], parameters: { city: 'Ås' } })
  for (const [who, body] of [
    [as('user:eve', 'run'), {}],
    [as('user:eve', 'run', 'read'), { prompt: 'x' }],
    [as('user:bob', 'run'), { parameters: { city: 'Ås' } }],
    [as('user:bob', 'run'), { users: ['bob'], parameters: { city: 'Oslo' } }],
  ] as const) {
    const again = runtime.as(who).start({ agent: 'front', id: 'chats/1', ...body } as ConversationInput)
    await assert.rejects(again, { code: 'NOT_FOUND', message: 'There is no conversation `chats/1`.' })
  }
  const other = runtime.as(as('user:eve', 'run')).start({ agent: 'clerk', id: 'chats/1' })
  await assert.rejects(other, { code: 'NOT_FOUND' })
  const direct = runtime
    .as(as('user:eve', 'run'))
    .agents.subAgents.run('front', 'clerk', { prompt: 'x', conversationId: 'chats/1' })
  await assert.rejects(direct, { code: 'NOT_FOUND' })
  const bob = await runtime.as(as('user:bob', 'run')).start({ agent: 'front', id: 'chats/1', prompt: 'x' })
  assert.equal(bob.created, false)
  assert.equal((await bob.run?.result)?.text, 'hi')
})

test('[D17] what a person reads along ends when they leave, and not for those who may read it all the same', async () => {
  const { runtime } = staged()
  await runtime.start({
    agent: 'front',
    id: 'chats/1',
    users: [{ id: 'bob' }, { id: 'carl' }],
    parameters: { city: 'Ås' },
  })
  const stop = new AbortController()
  const follow = (who: Principal, verbose: boolean) => {
    const seen: AnyEvent[] = []
    const read = async () => {
      for await (const event of runtime.as(who).followEvents('chats/1', { verbose, signal: stop.signal }))
        seen.push(event)
    }
    return { seen, done: read() }
  }
  const bob = [follow(as('user:bob'), true), follow(as('user:bob', 'run'), false)]
  const others = [
    follow(as('user:carl'), true),
    follow(as('user:bob', 'read'), true),
    follow(as('key:a', 'admin'), true),
  ]
  const say = async (prompt: string) => (await runtime.run('chats/1', { prompt })).result
  await say('one')
  await until(() => [...bob, ...others].every(({ seen }) => seen.some(({ type }) => type === 'end')))
  await runtime.removeParticipant('chats/1', 'bob')
  await say('two')
  await Promise.all(bob.map(({ done }) => done))
  await until(() => others.every(({ seen }) => seen.filter(({ type }) => type === 'message').length === 2))
  for (const { seen } of bob) assert.equal(JSON.stringify(seen).includes('two'), false)
  assert.equal(bob[0]?.seen.at(-1)?.type, 'participant')
  await runtime.addParticipant('chats/1', { id: 'bob' })
  const again = follow(as('user:bob'), true)
  await until(() => JSON.stringify(again.seen).includes('two'))
  stop.abort()
  await Promise.all([again, ...others].map(({ done }) => done))
})
