/** Three levels: each agent writes its own document, and a parent reads results only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { createStage } from '../support/stage.ts'

const three = () =>
  createStage({
    agents: [
      { id: 'front', subAgents: [{ agent: 'mid', description: 'Knows the people.' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', description: 'Reads the records.' },
    ],
    plays: {
      front: [call('mid', { message: 'find the manager' }), 'It is Fuller.'],
      mid: [call('leaf', { message: 'read record 3' }), 'Fuller, says the record.'],
      leaf: ['Reports to: Fuller.'],
    },
  })

test('[R18] [R19] [R20] documents are named by the path of agent ids', async () => {
  const stage = three()
  const result = await stage.ask('front', 'Who is my manager?', { id: 'chats/7' })
  assert.equal(result.text, 'It is Fuller.')
  for (const [path, agent] of [
    ['chats/7', 'front'],
    ['chats/7/mid', 'mid'],
    ['chats/7/mid/leaf', 'leaf'],
  ] as const) {
    const document = await stage.document(path)
    assert.equal(document.id, path)
    assert.equal(document.agent, agent)
  }
  await assert.rejects(stage.document('chats/7/leaf'), { code: 'NOT_FOUND' })
})

test('[R08] [R15] [R21] the root document holds the result of a delegate and none of its exchange', async () => {
  const stage = three()
  await stage.ask('front', 'Who is my manager?', { id: 'chats/7' })
  const root = await stage.document('chats/7')
  assert.deepEqual(
    root.messages.map(({ role, text }) => [role, text]),
    [
      ['user', 'Who is my manager?'],
      ['assistant', ''],
      ['assistant', 'It is Fuller.'],
    ],
  )
  assert.deepEqual(root.messages[1]?.toolCalls, [
    {
      id: 'call_2_0',
      name: 'mid',
      arguments: { message: 'find the manager' },
      result: 'Fuller, says the record.',
      document: 'chats/7/mid',
    },
  ])
  assert.deepEqual(root.linkedConversations, ['chats/7/mid'])
  assert.doesNotMatch(JSON.stringify(root), /read record 3|Reports to/)
  assert.doesNotMatch(JSON.stringify(stage.seenBy('front')), /read record 3|Reports to/)
})

test('[R22] [F17] a sub-agent keeps what it was asked, by whom, and what it said', async () => {
  const stage = three()
  await stage.ask('front', 'Who is my manager?', { id: 'chats/7' })
  const mid = await stage.document('chats/7/mid')
  assert.deepEqual(
    mid.messages.map(({ role, author, to, text }) => [role, author, to, text]),
    [
      ['user', 'front', 'mid', 'find the manager'],
      ['assistant', 'mid', null, ''],
      ['assistant', 'mid', null, 'Fuller, says the record.'],
    ],
  )
  assert.deepEqual(mid.linkedConversations, ['chats/7/mid/leaf'])
})

test('[R24] a child reads its own instructions and its task, and nothing of the person or the parent', async () => {
  const stage = three()
  await stage.ask('front', 'Who is my manager?')
  assert.deepEqual(stage.seenBy('leaf')[0]?.messages, [
    { role: 'system', content: 'You are leaf.' },
    { role: 'user', content: 'read record 3' },
  ])
})

test('[R02] [R03] a delegate is offered under its id with the words of the edge, or else its own', async () => {
  const stage = three()
  await stage.ask('front', 'Who is my manager?')
  const offered = (id: string) => stage.seenBy(id)[0]?.tools.map(({ name, description }) => [name, description])
  assert.deepEqual(offered('front'), [['mid', 'Knows the people.\n\nIt can use:\n- leaf: Reads the records.']])
  assert.deepEqual(offered('mid'), [['leaf', 'Reads the records.']])
})

test('[F16] [F32] [F33] [I11] events carry call, parent and root, in the order of the tree', async () => {
  const stage = three()
  const result = await stage.ask('front', 'Who is my manager?', { id: 'chats/7' })
  const events = await stage.events('chats/7')
  assertSound(events)
  assertUsage(result, events)
  assert.deepEqual(
    events
      .filter(({ kind, type }) => kind === 'agent' || type === 'message')
      .map(({ type, agentPath }) => `${type} ${agentPath}`),
    [
      'message front',
      'start front',
      'start front/mid',
      'start front/mid/leaf',
      'end front/mid/leaf',
      'end front/mid',
      'end front',
    ],
  )
  for (const request of stage.requests) assertAlternates(request)
})

test('[F34] a terse reader gets the events of the root alone', async () => {
  const stage = three()
  await stage.ask('front', 'Who is my manager?', { id: 'chats/7' })
  const terse = await stage.events('chats/7', { verbose: false })
  assert.deepEqual([...new Set(terse.map(({ agentPath }) => agentPath))], ['front'])
  const all = await stage.events('chats/7')
  assert.deepEqual(
    terse,
    all.filter(({ callId, rootCallId }) => callId === rootCallId),
  )
})

test('[R06] one specialist under two parents has a document on each path', async () => {
  const stage = createStage({
    agents: [
      { id: 'front', subAgents: [{ agent: 'left' }, { agent: 'right' }] },
      { id: 'left', subAgents: [{ agent: 'leaf' }] },
      { id: 'right', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: {
      front: [
        {
          toolCalls: [
            { name: 'left', arguments: { message: 'l' } },
            { name: 'right', arguments: { message: 'r' } },
          ],
        },
        'done',
      ],
      left: [call('leaf', { message: 'from left' }), 'left done'],
      right: [call('leaf', { message: 'from right' }), 'right done'],
      leaf: (request) => `heard ${request.messages.at(-1)?.content}`,
    },
  })
  await stage.ask('front', 'both', { id: 'chats/7' })
  assert.equal((await stage.document('chats/7/left/leaf')).messages[1]?.text, 'heard from left')
  assert.equal((await stage.document('chats/7/right/leaf')).messages[1]?.text, 'heard from right')
})

test('[Rb37] a document tells its agent, parameters, messages with date and usage, links, open calls and when it ends', async () => {
  const clock = fakeClock()
  const used = (inputTokens: number) => ({
    usage: { inputTokens, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
  })
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'country' }], subAgents: [{ agent: 'leaf' }] },
      {
        id: 'leaf',
        parameters: [{ name: 'country' }, { name: 'userId', sendToModel: false }],
        actions: [{ name: 'Sign' }],
        subAgents: [{ agent: 'deep' }],
      },
      { id: 'deep' },
    ],
    plays: {
      root: [
        { ...call('leaf', { message: 'sign it' }), ...used(10) },
        { text: 'all done', ...used(20) },
      ],
      leaf: [
        { text: 'Let me sign.', ...call('Sign'), ...used(100) },
        { ...call('deep', { message: 'look' }), ...used(200) },
        { text: 'signed', ...used(300) },
      ],
      deep: () => ({ text: 'seen', ...used(5000) }),
    },
    options: { clock },
  })
  const begun = clock.now()
  const parameters = { country: 'Norway', userId: 'Users/1' }
  const { interruptions } = await stage.ask('root', 'hello', { id: 'chats/1', parameters, expiresInSeconds: 900 })
  const before = await stage.document('chats/1/leaf')
  assert.deepEqual(
    before.openCalls.map(({ id, path }) => ({ id, path })),
    [{ id: interruptions[0]?.id, path: 'leaf/Sign' }],
  )
  assert.doesNotMatch(JSON.stringify(before), /Users\/1/)
  assert.deepEqual((await stage.document('chats/1')).openCalls, [])
  clock.advance(60_000)
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 'ok' }] })
  const iso = (ms: number) => new Date(begun + ms).toISOString()
  const { messages, totalUsage, ...leaf } = await stage.document('chats/1/leaf')
  assert.deepEqual(leaf, {
    id: 'chats/1/leaf',
    agent: 'leaf',
    agents: ['leaf'],
    parameters: { country: { value: 'Norway', sendToModel: true }, userId: { sendToModel: false } },
    linkedConversations: ['chats/1/leaf/deep'],
    openCalls: [],
    plan: null,
    createdAt: iso(0),
    lastMessageAt: iso(60_000),
    expiresAt: iso(900_000),
    olderCursor: null,
    newerCursor: null,
    hasMore: false,
  })
  const keys = ['author', 'authorKind', 'date', 'parts', 'role', 'seq', 'text', 'to', 'toolCalls', 'usage']
  for (const message of messages) assert.deepEqual(Object.keys(message).sort(), keys)
  assert.deepEqual(
    messages.map(({ role, author, to, text, toolCalls, date, usage }) => [
      role,
      author,
      to,
      text,
      toolCalls.map(({ name, result }) => [name, result]),
      date,
      usage?.inputTokens,
    ]),
    [
      ['user', 'root', 'leaf', 'sign it', [], iso(0), undefined],
      ['assistant', 'leaf', null, 'Let me sign.', [['Sign', 'ok']], iso(0), 100],
      ['assistant', 'leaf', null, '', [['deep', 'seen']], iso(60_000), 200],
      ['assistant', 'leaf', null, 'signed', [], iso(60_000), 300],
    ],
  )
  const seqs = messages.map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
  // Its own model calls and nobody else's.
  assert.deepEqual([totalUsage.modelCalls, totalUsage.inputTokens, totalUsage.outputTokens], [3, 600, 3])
  const root = await stage.document('chats/1')
  assert.deepEqual([root.linkedConversations, root.totalUsage.inputTokens], [['chats/1/leaf'], 30])
})

test('[Rb37] [C7] [C8] a document tells the values and the gates of its latest delegation', async () => {
  const leaf = (more: object) => ({
    id: 'leaf',
    model: 'play/model',
    instructions: 'x',
    parameters: [{ name: 'city', ...more }],
  })
  const stage = createStage({
    agents: [{ id: 'front', subAgents: [{ agent: 'leaf' }] }, leaf({})],
    plays: {
      front: (request, turn) =>
        turn % 2 === 0 ? call('leaf', { message: 'look', city: lastUserMessage(request) }) : 'done',
      leaf: () => 'seen',
    },
  })
  const told = async () => (await stage.document('chats/7/leaf')).parameters['city']
  await stage.ask('front', 'Oslo', { id: 'chats/7' })
  assert.deepEqual(await told(), { value: 'Oslo', sendToModel: true })
  await stage.run('chats/7', { prompt: 'Bergen' })
  assert.deepEqual(await told(), { value: 'Bergen', sendToModel: true })
  await stage.runtime.agents.save(leaf({ sendToModel: false }))
  await stage.run('chats/7', { prompt: 'Tromsø' })
  assert.deepEqual(await told(), { sendToModel: false })
})
