/** System messages, memories and direct conversations: each belongs to one agent at one place, and none leaks into another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage, type Rule, systemText } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'

const echo: Rule = (request) => `heard ${lastUserMessage(request)}`

test('[F38] an agent remembers what it was asked on this edge of this conversation, and nothing of anybody else', async () => {
  const both: Rule = (request, turn) =>
    turn === 0
      ? {
          toolCalls: ['left', 'right'].map((name) => ({
            name,
            arguments: { message: `${lastUserMessage(request)} ${name}` },
          })),
        }
      : `root thinks of ${lastUserMessage(request)}`
  const passOn =
    (id: string): Rule =>
    (request, turn) =>
      turn === 0 ? call('leaf', { message: `${lastUserMessage(request)} by ${id}` }) : `${id} thinks`
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'left' }, { agent: 'right' }] },
      { id: 'left', subAgents: [{ agent: 'leaf' }] },
      { id: 'right', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: { root: both, left: passOn('left'), right: passOn('right'), leaf: echo },
  })
  await stage.ask('root', 'one', { id: 'chats/1' })
  await stage.ask('root', 'elsewhere', { id: 'chats/2' })
  await stage.run('chats/1', { prompt: 'two' })
  const own = (id: string) => [
    { role: 'system', content: 'You are leaf.' },
    { role: 'user', content: `one ${id} by ${id}` },
    { role: 'assistant', content: `heard one ${id} by ${id}` },
    { role: 'user', content: `two ${id} by ${id}` },
  ]
  const leaves = stage.seenBy('leaf').slice(4)
  assert.deepEqual(
    leaves.map(({ messages }) => messages),
    [own('left'), own('right')],
  )
  const left = stage.seenBy('left').at(-1)?.messages ?? []
  assert.deepEqual(
    left.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['one left', 'two left'],
  )
  assert.doesNotMatch(JSON.stringify(left), /right|root thinks|elsewhere/)
})

test('[F39] each agent has a system message of its own, however alike agents and values are', async () => {
  const parameters = (sendToModel: boolean) => [{ name: 'region', sendToModel }, { name: 'key' }]
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'open' }, { agent: 'shut' }, { agent: 'bare' }] },
      { id: 'open', parameters: parameters(true) },
      { id: 'shut', parameters: parameters(false) },
      { id: 'bare' },
    ],
    plays: {
      root: (_, turn) =>
        turn === 0
          ? { toolCalls: ['open', 'shut', 'bare', 'open'].map((name) => ({ name, arguments: { message: name } })) }
          : 'done',
      open: echo,
      shut: echo,
      bare: echo,
    },
  })
  const systems = () =>
    Object.fromEntries(['root', 'open', 'shut', 'bare'].map((id) => [id, new Set(stage.seenBy(id).map(systemText))]))
  const of = (region: string, key: string) => ({
    root: 'You are root.',
    open: `You are open.\nregion = "${region}"\nkey = "${key}"`,
    shut: `You are shut.\nregion: supplied by the system\nkey = "${key}"`,
    bare: 'You are bare.',
  })
  const [north, south] = [of('north', 'k1'), of('south', 'k2')]
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { region: 'north', key: 'k1' } })
  await stage.ask('root', 'go', { id: 'chats/2', parameters: { region: 'south', key: 'k2' } })
  await stage.run('chats/1', { prompt: 'again' })
  for (const [id, seen] of Object.entries(systems())) {
    const name = id as keyof typeof north
    assert.deepEqual(seen, new Set([north[name], south[name]]), id)
  }
})

test('[F43] a direct run is beside the usual way: what parent and delegate have together is as if it had not been', async () => {
  const agents = [
    { id: 'lead', subAgents: [{ agent: 'expert' }] },
    { id: 'expert', subAgents: [{ agent: 'helper' }] },
    { id: 'helper' },
  ]
  const passOn =
    (to: string): Rule =>
    (request, turn) =>
      turn === 0 ? call(to, { message: `${lastUserMessage(request)}!` }) : `${to} says ok`
  const told = async (tryFirst: boolean) => {
    const stage = createStage({ agents, plays: { lead: passOn('expert'), expert: passOn('helper'), helper: echo } })
    await stage.ask('lead', 'one', { id: 'chats/1' })
    if (tryFirst) {
      const { subAgents } = stage.runtime.agents
      const tried = await (await subAgents.run('lead', 'expert', { prompt: 'trial' })).result
      assert.deepEqual([tried.status, tried.text], ['completed', 'helper says ok'])
      assert.notEqual(tried.conversationId, 'chats/1')
      // Going to the specialist first still goes on to its own delegates, in documents of its own.
      const below = await stage.document(`${tried.conversationId}/helper`)
      assert.deepEqual(
        below.messages.map(({ text }) => text),
        ['trial!', 'heard trial!'],
      )
      assert.doesNotMatch(JSON.stringify(stage.seenBy('lead')), /trial/)
    }
    await stage.run('chats/1', { prompt: 'two' })
    const usual = stage.requests.filter(({ messages }) => !/trial/.test(JSON.stringify(messages)))
    const paths = ['chats/1', 'chats/1/expert', 'chats/1/expert/helper']
    const documents = await Promise.all(paths.map((path) => stage.document(path)))
    const texts = documents.map(({ messages }) => messages.map(({ author, text }) => `${author}: ${text}`))
    return { texts, seen: usual.map(({ messages }) => messages) }
  }
  assert.deepEqual(await told(true), await told(false))
})
