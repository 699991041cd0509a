/** Several people in one conversation, for each principal: who may add and remove whom, who speaks as whom, and what stays after a fork. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Principal, type Runtime } from '@witan/core'
import { call } from '@witan/core/testing'
import { createStage, type Stage, until } from '../support/stage.ts'

const missing = { code: 'NOT_FOUND' }

function as(runtime: Runtime, id: string, ...roles: string[]) {
  return runtime.as({ ...(runtime.principal as Principal), id, roles })
}

const wordsRead = (stage: Stage, agent: string) =>
  stage
    .seenBy(agent)
    .flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map(({ content }) => content))

const ids = async (stage: Stage, id: string) =>
  (await stage.runtime.listParticipants(id)).items.map((one) => (one.leftAt === null ? one.id : `-${one.id}`))

test('[D11] the creator and an admin add and remove people, a person may remove itself, and for others nothing is there', async () => {
  const { runtime, ...stage } = createStage({ agents: [{ id: 'root' }], plays: { root: ['hello'] } })
  const maker = as(runtime, 'user:maker', 'run')
  await maker.start({ agent: 'root', id: 'chats/1' })
  await maker.addParticipant('chats/1', { id: 'anna' })
  await as(runtime, 'key:k1', 'admin').addParticipant('chats/1', { id: 'bob' })
  for (const stranger of [as(runtime, 'user:eve', 'run', 'answer', 'read'), as(runtime, 'user:anna', 'run')]) {
    await assert.rejects(stranger.addParticipant('chats/1', { id: 'carl' }), missing)
    await assert.rejects(stranger.removeParticipant('chats/1', 'bob'), missing)
  }
  await as(runtime, 'user:anna').removeParticipant('chats/1', 'anna')
  assert.deepEqual(await ids({ runtime, ...stage }, 'chats/1'), ['-anna', 'bob'])
  const told = (await stage.events('chats/1')).map(({ content }) => [content['user'], content['change'], content['by']])
  assert.deepEqual(told, [
    ['anna', 'joined', 'user:maker'],
    ['bob', 'joined', 'key:k1'],
    ['anna', 'left', 'user:anna'],
  ])
})

test('[C28] a principal speaks as itself; keys, the local one and one with the name of an agent speak as nobody in particular', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: ['1', '2', '3', '4', '5', '6'] } })
  const { runtime } = stage
  const said = async (id: string) =>
    (await stage.events(id)).flatMap(({ type, author, authorKind, content }) =>
      type === 'message' ? [[author, authorKind, content['author']]] : [],
    )
  for (const [principal, author] of [
    ['user:anna', 'anna'],
    ['user:local', 'user'],
    ['key:k1', 'user'],
    ['user:root', 'user'],
    ['user:witan', 'user'],
    ['user:a b', 'user'],
  ] as const) {
    const id = `by/${principal.replace(/[^a-z0-9]/g, '-')}`
    await (await as(runtime, principal, 'run').start({ agent: 'root', id, prompt: 'hi' })).run?.result
    assert.deepEqual(await said(id), [[author, 'user', author]], principal)
  }
})

test('[C6] only an admin speaks for another, who must take part; a creator who speaks without being listed counts among the people', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: ['1', '2', '3', '4'] } })
  const { runtime } = stage
  const maker = as(runtime, 'user:maker', 'run')
  await maker.start({ agent: 'root', id: 'chats/1' })
  await assert.rejects(maker.run('chats/1', { prompt: 'x', author: 'anna' }), missing)
  await assert.rejects(runtime.run('chats/1', { prompt: 'x', author: 'anna' }), {
    code: 'USER_UNKNOWN',
    path: 'author',
  })
  await maker.addParticipant('chats/1', { id: 'anna' })
  await (await maker.run('chats/1', { prompt: 'mine', author: 'maker' })).result
  await assert.rejects(maker.run('chats/1', { prompt: 'x', author: 'anna' }), missing)
  await (await runtime.run('chats/1', { prompt: 'hers', author: 'anna' })).result
  assert.deepEqual(wordsRead(stage, 'root').slice(-2), ['[from @maker to @root] mine', '[from @anna to @root] hers'])
  await maker.start({ agent: 'root', id: 'chats/2' })
  await (await maker.run('chats/2', { prompt: 'alone' })).result
  assert.equal(wordsRead(stage, 'root').at(-1), 'alone')
})

test('[Rb55] [C36] a fork keeps its people and their aliases; it and the original go on apart', async () => {
  const stage = createStage({
    agents: [{ id: 'root', users: 'participants', anonymizeUsers: 'guest' }],
    plays: { root: Array.from({ length: 5 }, (_, index) => `${index}`) },
  })
  const { runtime } = stage
  const say = async (id: string, author: string) =>
    (await runtime.run(id, { prompt: `by ${author.length}`, author })).result
  await runtime.start({ agent: 'root', id: 'chats/1', users: [{ id: 'anna' }, { id: 'bo' }] })
  await say('chats/1', 'anna')
  await runtime.removeParticipant('chats/1', 'anna')
  await runtime.addParticipant('chats/1', { id: 'carlo' })
  await say('chats/1', 'carlo')
  const { lastSeq } = await runtime.getConversation('chats/1')
  await runtime.forkConversation('chats/1', { seq: lastSeq, id: 'chats/fork' })
  assert.deepEqual(await ids(stage, 'chats/fork'), ['-anna', 'bo', 'carlo'])
  assert.deepEqual(
    (await runtime.listParticipants('chats/fork')).items,
    (await runtime.listParticipants('chats/1')).items,
  )
  await runtime.addParticipant('chats/fork', { id: 'dan' })
  await say('chats/fork', 'dan')
  assert.deepEqual(await ids(stage, 'chats/1'), ['-anna', 'bo', 'carlo'])
  assert.deepEqual(wordsRead(stage, 'root').slice(-3), [
    '[from @guest-0 to @root] by 4',
    '[from @guest-2 to @root] by 5',
    '[from @guest-3 to @root] by 3',
  ])
})

test('[C5] [C6] a child that shares its caller’s document reads there who spoke, by its own names', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf', history: 'shared' }] },
      { id: 'leaf', anonymizeUsers: 'guest' },
    ],
    plays: {
      root: ({ messages }) => {
        if (messages.at(-1)?.role === 'tool') return 'done'
        return messages.length > 2 ? call('leaf', { message: 'and?' }) : 'noted'
      },
      leaf: ['well'],
    },
  })
  await stage.runtime.start({ agent: 'root', id: 'chats/1', users: [{ id: 'anna' }, { id: 'bob' }] })
  for (const author of ['bob', 'anna']) await (await stage.runtime.run('chats/1', { prompt: 'hello', author })).result
  assert.equal(
    wordsRead(stage, 'leaf')[0],
    '[from @guest-1 to @root] hello\n\n[from @root to @user] noted\n\n[from @guest-0 to @root] hello\n\nand?',
  )
})

test('[E60] a task keeps the people with which its run began, also in another process', async () => {
  const store = memoryStore()
  const open = () =>
    createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'clerk', blocking: 'never' }] },
        { id: 'clerk', users: 'participants' },
      ],
      plays: {
        root: ({ messages }) => (messages.length < 3 ? call('clerk', { message: 'ask' }) : 'told'),
        clerk: ({ messages }) => {
          const answers = messages.filter(({ role }) => role === 'tool').length
          return answers < 2 ? call('ask_user', { message: `${answers}?` }) : 'asked'
        },
      },
      options: { store: { ...store, close: async () => {} } },
    })
  const first = open()
  await first.runtime.start({ agent: 'root', id: 'chats/1', users: [{ id: 'anna' }] })
  await (await first.runtime.run('chats/1', { prompt: 'go' })).result
  const asked = async (stage: Stage, prompt: string) => {
    const found = async () => (await stage.runtime.getConversation('chats/1')).interruptions
    await until(async () => (await found()).some((one) => one.kind === 'message' && one.prompt === prompt))
    return (await found())[0]?.id ?? ''
  }
  const one = await asked(first, '0?')
  await first.runtime.addParticipant('chats/1', { id: 'bob' })
  await (await first.runtime.run('chats/1', { prompt: 'more' })).result
  await first.runtime.close()
  const second = open()
  await second.runtime.ready
  await second.runtime.answerInterruption(one, { answer: 'yes' })
  await second.runtime.answerInterruption(await asked(second, '1?'), { answer: 'no' })
  await until(async () => (await second.runtime.getConversation('chats/1')).tasks.length === 0)
  const offers = second
    .seenBy('clerk')
    .map(({ tools }) => tools.map(({ name, parameters }) => [name, parameters['required']]))
  for (const offer of offers) assert.deepEqual(offer, [['ask_user', ['message']]])
  await until(async () => (await second.runtime.getConversation('chats/1')).status === 'idle')
})

test('[E60] an agent that a run calls after somebody joined knows the people with which the run began', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', users: 'participants', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', users: 'participants' },
    ],
    plays: {
      root: ({ messages }) => {
        const done = messages.filter(({ role }) => role === 'tool').length
        if (done === 0) return call('ask_user', { message: 'first?' })
        return done === 1 ? call('leaf', { message: 'ask' }) : 'done'
      },
      leaf: ['well'],
    },
  })
  const { runtime } = stage
  await runtime.start({ agent: 'root', id: 'chats/1', users: [{ id: 'anna' }] })
  const run = await runtime.run('chats/1', { prompt: 'go' })
  const { interruptions } = await run.result
  await runtime.addParticipant('chats/1', { id: 'bob' })
  await runtime.answerInterruption(interruptions[0]?.id ?? '', { answer: 'yes' })
  await until(async () => (await runtime.getConversation('chats/1')).status === 'idle')
  const required = stage.seenBy('leaf').flatMap(({ tools }) => tools.map(({ parameters }) => parameters['required']))
  assert.deepEqual(required, [['message']])
})
