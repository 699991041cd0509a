/** What a sub-agent remembers: its own earlier delegations on the same edge with the same bound values, or none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage, type Rule } from '@witan/core/testing'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { createGate, createStage, settle, until } from '../support/stage.ts'

/** Delegates whatever the person says. */
const passOn: Rule = (request, turn) => (turn === 0 ? call('leaf', { message: lastUserMessage(request) }) : 'done')
const echo: Rule = (request) => `heard ${lastUserMessage(request)}`

test('[F15] [F17] [F18] [F20] [F37] a delegate reads its earlier delegations, and the parent its final answer', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: { root: passOn, leaf: echo },
  })
  await stage.ask('root', 'first', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'second' })
  assert.deepEqual(stage.seenBy('leaf')[1]?.messages.slice(1), [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'heard first' },
    { role: 'user', content: 'second' },
  ])
  assert.deepEqual(stage.seenBy('root')[1]?.messages.at(-1), {
    role: 'tool',
    toolCallId: 'call_2_0',
    name: 'leaf',
    content: 'heard first',
  })
})

test('[C5] [C7] an isolated delegate keeps its document and reads none of it', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf', history: 'isolated' }] }, { id: 'leaf' }],
    plays: { root: passOn, leaf: echo },
  })
  await stage.ask('root', 'first', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'second' })
  assert.deepEqual(stage.seenBy('leaf')[1]?.messages.slice(1), [{ role: 'user', content: 'second' }])
  assert.equal((await stage.document('chats/1/leaf')).messages.length, 4)
})

test('[C5] an isolated delegate reads nothing of an earlier one that failed', async () => {
  let failures = 1
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf', history: 'isolated' }] }, { id: 'leaf' }],
    plays: { root: passOn, leaf: (request) => (failures-- > 0 ? new Error('no model') : echo(request, 0)) },
  })
  await stage.ask('root', 'first', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'second' })
  assert.deepEqual(stage.seenBy('leaf')[1]?.messages.slice(1), [{ role: 'user', content: 'second' }])
})

test('[C7] [Rb01] another set of bound values on the same path has a document of its own, `~2`', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }] },
      { id: 'mid', parameters: [{ name: 'region' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [{ name: 'region' }] },
    ],
    plays: {
      root: (request, turn) => (turn === 0 ? call('mid', { message: 'go', region: lastUserMessage(request) }) : 'done'),
      mid: passOn,
      leaf: echo,
    },
  })
  await stage.ask('root', 'north', { id: 'chats/1' })
  await stage.run('chats/1', { prompt: 'south' })
  await stage.run('chats/1', { prompt: 'north' })
  const links = (await stage.document('chats/1/mid')).linkedConversations
  assert.deepEqual(links, ['chats/1/mid/leaf', 'chats/1/mid/leaf~2'])
  assert.equal((await stage.document('chats/1/mid/leaf')).messages.length, 4)
  assert.equal((await stage.document('chats/1/mid/leaf~2')).messages.length, 2)
  // What a model supplied does not count: `mid` has one document, whatever `root` wrote.
  assert.equal((await stage.document('chats/1')).linkedConversations.length, 1)
  assert.equal(stage.seenBy('leaf')[2]?.messages.length, 4)
})

test('[C14] calls of one document run one after another in call order, other documents beside them', async () => {
  const gate = createGate()
  const order: string[] = []
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }, { agent: 'other' }] }, { id: 'leaf' }, { id: 'other' }],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'leaf', arguments: { message: 'one' } },
            { name: 'leaf', arguments: { message: 'two' } },
            { name: 'other', arguments: { message: 'three' } },
          ],
        },
        'done',
      ],
      leaf: async (request) => {
        const asked = lastUserMessage(request)
        order.push(`begin ${asked}`)
        if (asked === 'one') await gate.opened
        order.push(`end ${asked}`)
        return `heard ${asked}`
      },
      other: (request) => {
        order.push('other')
        return echo(request, 0)
      },
    },
  })
  const result = stage.ask('root', 'all', { id: 'chats/1' })
  await until(() => order.includes('other'))
  await settle()
  assert.deepEqual(order, ['begin one', 'other'])
  gate.open()
  await result
  assert.deepEqual(order, ['begin one', 'other', 'end one', 'begin two', 'end two'])
  assert.deepEqual(
    stage
      .seenBy('root')[1]
      ?.messages.slice(-3)
      .map(({ content }) => content),
    ['heard one', 'heard two', 'heard three'],
  )
  assert.deepEqual(
    stage
      .seenBy('leaf')[1]
      ?.messages.slice(1)
      .map(({ content }) => content),
    ['one', 'heard one', 'two'],
  )
  assertSound(await stage.events('chats/1'))
})

test('[C14] results stand in call order, events in the order in which they came', async () => {
  const gate = createGate()
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'slow' }, { agent: 'fast' }] }, { id: 'slow' }, { id: 'fast' }],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'slow', arguments: { message: 's' } },
            { name: 'fast', arguments: { message: 'f' } },
          ],
        },
        'done',
      ],
      slow: async () => {
        await gate.opened
        return 'slow result'
      },
      fast: () => {
        setImmediate(gate.open)
        return 'fast result'
      },
    },
  })
  await stage.ask('root', 'both', { id: 'chats/1' })
  const ends = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'end' && kind === 'agent')
  assert.deepEqual(
    ends.map(({ author }) => author),
    ['fast', 'slow', 'root'],
  )
  const read = stage
    .seenBy('root')[1]
    ?.messages.slice(-2)
    .map(({ content }) => content)
  assert.deepEqual(read, ['slow result', 'fast result'])
  for (const request of stage.requests) assertAlternates(request)
})

test('[E28] [C15] a delegate that fails is an error its caller reads; siblings go on', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'bad' }, { agent: 'good' }] }, { id: 'bad' }, { id: 'good' }],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'bad', arguments: { message: 'b' } },
            { name: 'good', arguments: { message: 'g' } },
          ],
        },
        'done',
      ],
      bad: () => '',
      good: ['fine'],
    },
  })
  const result = await stage.ask('root', 'both', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  assert.equal(stage.seenBy('bad').length, 2)
  const [error, fine] =
    stage
      .seenBy('root')[1]
      ?.messages.slice(-2)
      .map(({ content }) => content) ?? []
  assert.match(error ?? '', /^\{"error":".*empty answer/)
  assert.equal(fine, 'fine')
})
