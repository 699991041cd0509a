/** Cycles, repeated tasks, and tools that do not exist: all of them are answered, none runs away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage, toolResults } from '@witan/core/testing'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { createStage } from '../support/stage.ts'

const pair = [
  { id: 'a', subAgents: [{ agent: 'b' }] },
  { id: 'b', subAgents: [{ agent: 'a' }] },
]

test('[C1] [E2] [R47] agents may list each other; the check warns with the path', async () => {
  const stage = createStage({ agents: pair, plays: {} })
  const report = await stage.runtime.agents.check()
  assert.deepEqual(report.errors, [])
  const cycles = report.warnings.filter(({ code }) => code === 'AGENT_CYCLE').map(({ detail }) => detail.split('.')[0])
  assert.deepEqual(cycles, ['Cycle: a –subAgents→ b –subAgents→ a', 'Cycle: b –subAgents→ a –subAgents→ b'])
})

test('[E3] an agent that lists itself is refused', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const self = { id: 'a', model: 'play/model', instructions: 'x', subAgents: [{ agent: 'a' }] }
  await assert.rejects(stage.runtime.agents.save(self), { code: 'AGENT_SELF_REFERENCE' })
})

test('[C1] [E43] [R09] an agent entered again is a fresh call: it sees nothing of its own half-finished one', async () => {
  const stage = createStage({
    agents: pair,
    plays: {
      a: (request, turn) =>
        lastUserMessage(request) === 'start' && turn === 0 ? call('b', { message: 'x' }) : 'a done',
      b: [call('a', { message: 'another task' }), 'b done'],
    },
  })
  await stage.ask('a', 'start', { id: 'chats/1' })
  assert.deepEqual(stage.seenBy('a')[1]?.messages, [
    { role: 'system', content: 'You are a.' },
    { role: 'user', content: 'another task' },
  ])
  assert.equal((await stage.document('chats/1/b/a')).agent, 'a')
  assertSound(await stage.events('chats/1'))
})

test('[C1] the same task given to an ancestor that is at work on it is refused in words', async () => {
  const stage = createStage({
    agents: pair,
    plays: {
      a: (request, turn) => (turn === 0 ? call('b', { message: lastUserMessage(request) }) : 'a done'),
      b: [call('a', { message: '  START ' }), 'b done'],
    },
  })
  const result = await stage.ask('a', 'start', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  assert.match(stage.seenBy('b')[1]?.messages.at(-1)?.content ?? '', /already at work/)
  assert.equal(stage.requests.length, 4)
})

test('[C1] the same words with other values are another task, whoever supplies the values', async () => {
  const folders = ['/', '/a', '/a/b', '/a/b']
  let depth = 0
  const stage = createStage({
    agents: [
      { id: 'lister', parameters: [{ name: 'folder' }], subAgents: [{ agent: 'helper' }] },
      { id: 'helper', subAgents: [{ agent: 'lister', map: { folder: null } }] },
    ],
    plays: {
      lister: (_, turn) => (turn === 0 ? call('helper', { message: `below ${folders[depth]}` }) : 'listed'),
      helper: (request, turn) =>
        turn === 0 ? call('lister', { message: 'list', folder: folders[++depth] }) : `heard ${toolResults(request)[0]}`,
    },
  })
  const result = await stage.ask('lister', 'list', { id: 'chats/1', parameters: { folder: '/' } })
  assert.equal(result.text, 'listed')
  const seen = stage.seenBy('lister').map(({ messages }) => messages[0]?.content.split('\n')[1])
  assert.deepEqual([...new Set(seen)], ['folder = "/"', 'folder = "/a"', 'folder = "/a/b"'])
  const errors = (await stage.events('chats/1')).filter(({ type }) => type === 'error')
  assert.match(
    errors.map(({ content }) => String(content['detail'])).join(),
    /^`lister` is already at work on the same/,
  )
})

test('[C2] [R47] a cycle that always asks anew ends at the depth cap', async () => {
  let count = 0
  const play = (other: string) => (request: { readonly tools: readonly unknown[] }, turn: number) =>
    turn === 0 && request.tools.length > 0 ? call(other, { message: `task ${++count}` }) : 'done'
  const stage = createStage({ agents: pair, plays: { a: play('b'), b: play('a') } })
  const result = await stage.ask('a', 'start', { id: 'chats/1' })
  assert.equal(result.status, 'completed')
  const events = await stage.events('chats/1')
  assertSound(events, 8)
  assert.equal(events.filter(({ type, kind }) => type === 'start' && kind === 'agent').length, 9)
})

test('[C12] a tool that does not exist is an error the model reads, with the ones there are', async () => {
  const stage = createStage({
    agents: pair,
    plays: { a: [call('bob', { message: 'x' }), call('b', '{"message":'), call('b', { message: '' }), 'done'] },
  })
  const result = await stage.ask('a', 'start', { id: 'chats/1' })
  assert.equal(result.text, 'done')
  const read = stage.seenBy('a').map(({ messages }) => messages.at(-1)?.content ?? '')
  assert.match(read[1] ?? '', /unknown tool bob; nothing was run. Available: b\./)
  assert.match(read[2] ?? '', /must be one JSON object/)
  assert.match(read[3] ?? '', /`message`: expected/)
  const codes = (await stage.events('chats/1'))
    .filter(({ type }) => type === 'error')
    .map(({ content }) => content['code'])
  assert.deepEqual(codes, ['TOOL_UNKNOWN', 'TOOL_ARGS_INVALID', 'TOOL_ARGS_INVALID'])
  for (const request of stage.requests) assertAlternates(request)
})

test('[F14] two calls with one id are two calls', async () => {
  const stage = createStage({
    agents: pair,
    plays: {
      a: [{ toolCalls: ['x', 'y'].map((message) => ({ id: 'same', name: 'b', arguments: { message } })) }, 'done'],
      b: (request) => `heard ${lastUserMessage(request)}`,
    },
  })
  await stage.ask('a', 'start', { id: 'chats/1' })
  assert.deepEqual(
    stage
      .seenBy('a')[1]
      ?.messages.slice(-2)
      .map(({ content }) => content),
    ['heard x', 'heard y'],
  )
  for (const request of stage.requests) assertAlternates(request)
  assertSound(await stage.events('chats/1'))
})
