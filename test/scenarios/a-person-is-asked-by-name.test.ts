/** The user-interface tool: an agent writes to a person whom it names, and reads the reply under that name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type AgentDraft, agent, createStage, type Stage, until } from '../support/stage.ts'

const anna = { id: 'anna', name: 'Anna', roles: ['buyer'] }
const bob = { id: 'bob' }

const person = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})

function staged(
  users: AgentDraft['users'],
  args: Record<string, unknown>,
  more: { clock?: ReturnType<typeof fakeClock>; expires?: number } = {},
): Stage {
  return createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', ...(users === undefined ? {} : { users }), interruptionExpiresInSeconds: more.expires ?? null },
    ],
    plays: { root: [call('leaf', { message: 'ask' }), 'asked'], leaf: [call('ask_user', args), 'heard'] },
    options: more.clock === undefined ? {} : { clock: more.clock },
  })
}

const ask = (user: string | undefined) => ({
  name: 'ask_user',
  arguments: { ...(user === undefined ? {} : { user }), message: 'hi' },
})
const offerIn = (request: Stage['requests'][number] | undefined) =>
  request?.tools.find(({ name }) => name === 'ask_user')
const offerOf = (stage: Stage) => stage.seenBy('leaf')[0]?.tools.find(({ name }) => name === 'ask_user')
const heard = (stage: Stage) => stage.seenBy('leaf')[1]?.messages.at(-1)?.content ?? ''

test('[T22] [T25] [Tb05] the agent names a person, who alone is asked, and reads the reply under their name', async () => {
  const stage = staged([anna, bob], { user: 'anna', message: 'How many?' })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked] = waiting.interruptions
  assert.ok(asked?.kind === 'message')
  assert.deepEqual([asked.addressee, asked.prompt, asked.path], ['anna', 'How many?', 'leaf/ask_user'])
  const offer = offerOf(stage)
  assert.deepEqual(offer?.parameters['required'], ['user', 'message'])
  assert.match(offer?.description ?? '', /anna \(Anna, buyer\); bob/)
  assert.equal(
    stage.seenBy('root')[0]?.tools.some(({ name }) => name === 'ask_user'),
    false,
  )
  const own = stage.runtime.as(person('user:anna', 'answer'))
  assert.deepEqual(
    (await own.listInterruptions({ addressee: 'anna' })).items.map(({ id }) => id),
    [asked.id],
  )
  await own.answerInterruption(asked.id, { answer: '40 of them' })
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.equal(heard(stage), 'Anna: 40 of them')
  assertSound(await stage.events('chats/1'))
})

test('[T24] [E60] with one person there is nobody to name, and the name is taken all the same', async () => {
  for (const [args, outcome] of [
    [{ message: 'hello?' }, 'anna'],
    [{ user: 'anna', message: 'hello?' }, 'anna'],
    [{ user: 'carl', message: 'hello?' }, null],
  ] as const) {
    const stage = staged([anna], args)
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.deepEqual(Object.keys((offerOf(stage)?.parameters['properties'] ?? {}) as object), ['message'])
    assert.equal(result.interruptions[0]?.addressee ?? null, outcome)
    if (outcome === null) assert.match(heard(stage), /no person `carl`.*anna/)
    const events = await stage.events('chats/1')
    assert.equal(events.filter(({ type }) => type === 'notice').length, 0)
  }
})

test('[T23] [Tb05] [E59] an unknown person and one who does not take part are told apart, and both with whom one can ask', async () => {
  const unknown = staged([anna, bob], { user: 'carl', message: 'hi' })
  assert.equal((await unknown.ask('root', 'go')).status, 'completed')
  assert.equal(heard(unknown), '{"error":"There is no person `carl`; nobody was asked. You can ask: anna, bob."}')

  const away = staged([anna, bob], { user: 'bob', message: 'hi' })
  assert.equal((await away.ask('root', 'go', { users: ['anna'] })).status, 'completed')
  assert.match(heard(away), /`bob` does not take part in this conversation. You can ask: anna\./)
  assert.deepEqual(Object.keys((offerOf(away)?.parameters['properties'] ?? {}) as object), ['message'])

  const nobody = staged([anna, bob], { message: 'hi' })
  assert.equal((await nobody.ask('root', 'go', { users: [] })).status, 'completed')
  assert.equal(offerOf(nobody), undefined)
  assert.match(heard(nobody), /Nobody can be asked/)
})

test('[E59] who does not answer in time is unavailable, and the agent may go on', async () => {
  const clock = fakeClock()
  const stage = staged([anna], { message: 'quick?' }, { clock, expires: 10 })
  await stage.ask('root', 'go', { id: 'chats/1' })
  clock.advance(10_000)
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.match(heard(stage), /"error":"Anna did not answer in time/)
  const errors = (await stage.events('chats/1')).filter(({ type }) => type === 'error')
  assert.deepEqual(
    errors.map(({ content }) => content['code']),
    ['USER_UNAVAILABLE'],
  )
})

test('[T22] who takes part is said at the start, by known ids, and stands', async () => {
  const stage = staged([anna, bob], { message: 'hi' })
  await assert.rejects(stage.ask('root', 'go', { users: ['ann'] }), {
    code: 'USER_UNKNOWN',
    path: 'users.0',
    message: /Known: anna, bob/,
    hint: /anna/,
  })
  await stage.runtime.start({ agent: 'root', id: 'chats/1', users: ['anna'] })
  await assert.rejects(stage.runtime.start({ agent: 'root', id: 'chats/1', users: ['bob'] }), {
    code: 'PARAM_FIXED',
    path: 'users',
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1', users: ['anna'] })
  assert.equal(waiting.interruptions[0]?.addressee, 'anna')
  await assert.rejects(stage.ask('root', 'go', { parameters: { $users: ['anna'] } }), { code: 'PARAM_UNKNOWN' })
})

test('[E60] the tool is fixed for a run; whom the agent names later on is asked by name from the next run on', async () => {
  const stage = createStage({
    agents: [{ id: 'solo', users: [anna] }],
    plays: { solo: (_, turn) => (turn === 0 ? call('ask_user', { message: 'one?' }) : 'done') },
  })
  const first = await stage.ask('solo', 'go', { id: 'chats/1' })
  await stage.runtime.agents.save({ ...(await stage.runtime.agents.get('solo')), users: [anna, bob] })
  const done = await stage.run('chats/1', { answers: [{ id: first.interruptions[0]?.id, answer: 'yes' }] })
  assert.equal(done.status, 'completed')
  const required = () => stage.requests.at(-1)?.tools[0]?.parameters['required']
  assert.deepEqual(required(), ['message'])
  const next = await stage.run('chats/1', { prompt: 'again' })
  assert.equal(next.status, 'completed')
  assert.deepEqual(required(), ['user', 'message'])
  assert.match(stage.requests.at(-1)?.messages.at(-1)?.content ?? '', /`user` is missing. You can ask: anna, bob/)
})

test('[D11] only the addressee, or an administrator, may answer; for others it is not there', async () => {
  const stage = staged([anna, bob], { user: 'anna', message: 'hi' })
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  const id = interruptions[0]?.id ?? ''
  const others = [person('user:bob', 'answer'), person('user:eve', 'run'), person('user:anna'), person('key:1', 'read')]
  for (const other of others) {
    await assert.rejects(stage.runtime.as(other).answerInterruption(id, { answer: 'x' }), { code: 'NOT_FOUND' })
    await assert.rejects(stage.runtime.as(other).run('chats/1', { answers: [{ id, answer: 'x' }] }), {
      code: other.roles.includes('read') ? 'ACTION_NOT_FOUND' : 'NOT_FOUND',
    })
  }
  const listed = async (who: Principal) => (await stage.runtime.as(who).listInterruptions()).items.length
  assert.deepEqual(
    await Promise.all([
      listed(person('user:anna', 'answer')),
      listed(person('user:bob', 'answer')),
      listed(person('key:1', 'read')),
      listed(person('user:root', 'admin')),
    ]),
    [1, 0, 1, 1],
  )
  assert.equal((await stage.runtime.answerInterruption(id, { answer: 'x' })).state, 'answered')
})

test('[C36] [Tb06] with other names for people no model reads who they are, and they answer all the same', async () => {
  const users = [anna, { id: 'bob', name: 'Robert', roles: ['clerk'] }]
  const names = /anna|bob|robert|buyer|clerk/i
  const play = [{ toolCalls: ['anna', 'process-owner-7', 'process-owner-1'].map((user) => ask(user)) }, 'heard']
  const stage = createStage({
    agents: [{ id: 'leaf', users, anonymizeUsers: 'Process  Owner' }],
    plays: { leaf: play },
  })
  const waiting = await stage.ask('leaf', 'go', { id: 'chats/1' })
  assert.deepEqual(
    waiting.interruptions.map(({ addressee }) => addressee),
    ['bob'],
  )
  const [asked] = waiting.interruptions
  await stage.runtime.as(person('user:bob', 'answer')).answerInterruption(asked?.id ?? '', { answer: '40' })
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  const [first, second] = stage.seenBy('leaf')
  assert.match(offerIn(first)?.description ?? '', /The people are process-owner-0; process-owner-1\.$/)
  assert.deepEqual(
    second?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    [
      '{"error":"There is no person of that name; nobody was asked. You can ask: process-owner-0, process-owner-1."}',
      '{"error":"There is no person of that name; nobody was asked. You can ask: process-owner-0, process-owner-1."}',
      'process-owner-1: 40',
    ],
  )
  for (const { messages, tools } of stage.requests) {
    const own = messages.filter(({ role }) => role === 'assistant')
    assert.doesNotMatch(JSON.stringify([messages.filter((one) => !own.includes(one)), tools]), names)
  }
})

test('[C36] an alias has the number of its person in the list, also where not all take part; the only person needs no name', async () => {
  const clock = fakeClock()
  const stage = createStage({
    agents: [{ id: 'leaf', users: [anna, bob], anonymizeUsers: 'guest', interruptionExpiresInSeconds: 60 }],
    plays: { leaf: [{ toolCalls: [ask(undefined), ask('guest-0')] }, 'heard'] },
    options: { clock },
  })
  await stage.ask('leaf', 'go', { id: 'chats/1', users: ['bob'] })
  clock.advance(61_000)
  await until(() => stage.seenBy('leaf').length === 2)
  const read = stage.seenBy('leaf')[1]?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
  assert.match(read?.[0] ?? '', /guest-1 did not answer in time/)
  assert.match(read?.[1] ?? '', /`guest-0` does not take part in this conversation\. You can ask: guest-1\./)
})

test('[C28] a person and an agent cannot have one name', async () => {
  const { runtime } = createStage({ agents: [{ id: 'leaf', users: [anna] }], plays: {} })
  const taken = { code: 'NAME_TAKEN' }
  await assert.rejects(runtime.agents.save({ ...agent('root'), users: [{ id: 'leaf' }] }), taken)
  await assert.rejects(
    runtime.agents
      .save({ ...agent('root'), users: [bob], anonymizeUsers: 'Leaf' })
      .then(() => runtime.agents.save(agent('leaf-0'))),
    taken,
  )
  await assert.rejects(runtime.agents.save(agent('anna')), taken)
  await assert.rejects(runtime.agents.save({ ...agent('root'), users: [{ id: 'me' }] }), taken)
  await assert.rejects(runtime.agents.saveAll([agent('carl'), { ...agent('two'), users: [{ id: 'carl' }] }]), taken)
})

test('[T22] anybody in a role may answer, once, and the reply stands under the name of who did', async () => {
  for (const [more, names] of [
    [{}, ['role:buyer', 'Anna']],
    [{ anonymizeUsers: 'owner' }, ['owner-1', 'owner-0']],
  ] as const) {
    const users = [anna, { role: 'buyer' }]
    const stage = createStage({
      agents: [{ id: 'leaf', users, ...more }],
      plays: { leaf: [{ toolCalls: [ask(names[0])] }, { toolCalls: [ask(names[0])] }, 'heard'] },
    })
    const first = await stage.ask('leaf', 'go', { id: 'chats/1' })
    assert.equal(first.interruptions[0]?.addressee, 'role:buyer')
    const offer = offerIn(stage.seenBy('leaf')[0])
    assert.ok(JSON.stringify(offer?.parameters).includes(`"${names[0]}"`), offer?.description)
    const id = first.interruptions[0]?.id ?? ''
    const stranger = stage.runtime.as(person('user:carl', 'answer', 'clerk'))
    await assert.rejects(stranger.answerInterruption(id, { answer: 'me' }), { code: 'NOT_FOUND' })
    await stage.runtime.as(person('user:anna', 'answer', 'buyer')).answerInterruption(id, { answer: 'mine' })
    const late = stage.runtime.as(person('user:zoe', 'answer', 'buyer'))
    await assert.rejects(late.answerInterruption(id, { answer: 'no, mine' }), { code: 'ALREADY_ANSWERED' })
    const inbox = async () => (await late.listInterruptions({ addressee: 'role:buyer', state: 'open' })).items
    await until(async () => (await inbox()).length > 0)
    const [second] = await inbox()
    await late.answerInterruption(second?.id ?? '', { answer: 'then this' })
    await until(() => stage.seenBy('leaf').length === 3)
    const read = stage.seenBy('leaf')[2]?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    const unlisted = names[1] === 'Anna' ? 'zoe' : 'owner-1'
    assert.deepEqual(read, [`${names[1]}: mine`, `${unlisted}: then this`])
  }
})

test('[D11] an inbox has what is addressed to its owner, by name or by role, and nothing else', async () => {
  const stage = createStage({
    agents: [{ id: 'leaf', users: [anna, bob, { role: 'buyer' }, { role: 'clerk' }], actions: [{ name: 'Look' }] }],
    plays: {
      leaf: [
        {
          toolCalls: [
            ...['anna', 'bob', 'role:buyer', 'role:clerk'].map(ask),
            call('Look').toolCalls?.[0] ?? ask('anna'),
          ],
        },
      ],
    },
  })
  const { interruptions } = await stage.ask('leaf', 'go', { id: 'chats/1' })
  assert.equal(interruptions.length, 5)
  const inbox = async (who: Principal, addressee: string) =>
    (await stage.runtime.as(who).listInterruptions({ addressee, state: 'open' })).items.map((one) => one.addressee)
  const buyer = person('user:anna', 'answer', 'buyer')
  assert.deepEqual(await inbox(buyer, 'me'), ['anna', 'role:buyer'])
  assert.deepEqual(await inbox(person('key:k1', 'clerk', 'admin'), 'me'), ['role:clerk'])
  assert.deepEqual(await inbox(person('user:carl'), 'me'), [])
  assert.deepEqual(await inbox(buyer, 'none'), [null])
  assert.deepEqual(await inbox(person('user:anna', 'buyer'), 'me'), [])
  assert.deepEqual(await inbox(person('user:carl', 'answer'), 'none'), [null])
  assert.deepEqual(await inbox(person('user:carl', 'read'), 'bob'), ['bob'])
})
