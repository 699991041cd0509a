/** Whom a model can hand over to, who stands in each event, and that an agent works until it has an answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { allEvents, createStage } from '../support/stage.ts'

const handTool = 'transfer_to_agent'
const hand = (agent: string) => ({ toolCalls: [{ name: handTool, arguments: { agent_name: agent } }] })
const offered = (stage: ReturnType<typeof createStage>, agent: string) => {
  const { tools = [], messages } = stage.seenBy(agent)[0] ?? { messages: [] }
  const tool = tools.find(({ name }) => name === handTool)
  const { properties = {} } = (tool?.parameters ?? {}) as { properties?: Record<string, { enum?: string[] }> }
  return { tool: tool !== undefined, targets: properties.agent_name?.enum ?? [], system: messages[0]?.content ?? '' }
}

test('[K02] [K13] [C11] targets give the tool and the roster with each name and description; sub-agents alone give neither', async () => {
  const below = { subAgents: [{ agent: 'billing', description: 'Does bills.' }] }
  const to = { transfers: [{ agent: 'billing', description: 'Bills and payments.' }] }
  for (const [keys, targets] of [
    [below, []],
    [to, ['billing']],
    [{ ...below, transferReach: 'tree' as const }, ['billing']],
    [{ ...to, disableTransfer: true }, []],
  ] as const) {
    const stage = createStage({
      agents: [
        { id: 'root', ...keys },
        { id: 'billing', description: 'Its own words.' },
      ] as never,
      plays: { root: ['Done.'], billing: ['x'] },
    })
    await stage.ask('root', 'Hello')
    const seen = offered(stage, 'root')
    assert.deepEqual([seen.tool, seen.targets], [targets.length > 0, targets], JSON.stringify(keys))
    assert.equal(/^- billing\b/m.test(seen.system), targets.length > 0, seen.system)
    if ('transfers' in keys && targets.length > 0) assert.match(seen.system, /- billing: Bills and payments\./)
  }
})

test('[K05] with `transferReach: tree` siblings and agents above can be named too, after the own subtree', async () => {
  const tree = { transferReach: 'tree' as const }
  const stage = createStage({
    agents: [
      { id: 'root', ...tree, subAgents: [{ agent: 'left' }, { agent: 'right' }] },
      { id: 'left', ...tree, subAgents: [{ agent: 'leaf' }] },
      { id: 'right' },
      { id: 'leaf', ...tree },
      { id: 'stranger' },
    ] as never,
    plays: { root: [hand('left'), 'root again'], left: [hand('leaf')], leaf: [hand('right')], right: ['right it is'] },
  })
  const result = await stage.ask('root', 'Hello')
  assert.deepEqual([result.status, result.agent, result.text], ['completed', 'right', 'right it is'])
  assert.deepEqual(offered(stage, 'left').targets, ['leaf', 'root', 'right'])
  assert.deepEqual(offered(stage, 'leaf').targets, ['root', 'left', 'right'])
})

test('[K23] every event has its author, its kind of author and its invocation, and those of a parallel their branch', async () => {
  const stage = createStage({
    agents: [
      { id: 'both', workflow: { kind: 'parallel', agents: ['a', 'b'] } },
      { id: 'a', subAgents: [{ agent: 'c' }] },
      { id: 'b' },
      { id: 'c' },
    ] as never,
    plays: { a: [{ toolCalls: [{ name: 'c', arguments: { message: 'm' } }] }, 'a'], b: ['b'], c: ['c'] },
  })
  const { runId, conversationId } = await stage.ask('both', 'Go')
  const events = await allEvents(stage.runtime, conversationId)
  assert.ok(events.length > 10)
  for (const event of events) {
    assert.ok(['user', 'runtime', 'both', 'a', 'b', 'c'].includes(event.author), `${event.type}: ${event.author}`)
    assert.ok(['agent', 'user', 'runtime'].includes(event.authorKind), `${event.type}: ${event.authorKind}`)
    assert.ok(event.invocationId === runId || event.invocationId.startsWith(`${runId}.sub.`), event.invocationId)
    const of = event.agentPath.split('/')[1]
    const branch = of === 'a' ? 'both.0' : of === 'b' ? 'both.1' : null
    if (event.type !== 'message') assert.equal(event.branch ?? null, branch, `${event.type} ${event.agentPath}`)
  }
})

test('[E90] [C16] a target with a parameter that nobody supplies does not start, and its sender goes on', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', transfers: [{ agent: 'billing' }] },
      { id: 'billing', parameters: [{ name: 'customer', type: 'string' }] },
    ] as never,
    plays: { root: [hand('billing'), 'I stay.'], billing: ['never'] },
  })
  const result = await stage.ask('root', 'Hello')
  assert.deepEqual([result.status, result.text, stage.seenBy('billing').length], ['completed', 'I stay.', 0])
  const events = await allEvents(stage.runtime, result.conversationId)
  assert.ok(!events.some(({ type, agentPath }) => type === 'start' && agentPath.endsWith('billing')))
})

test('[T01] [T03] [T07] an agent chooses what to do and whom to ask, again and again until it has an answer; each round is in the log', async () => {
  const ask = (agent: string) => ({ toolCalls: [{ name: agent, arguments: { message: `to ${agent}` } }] })
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'one' }, { agent: 'two' }], limits: { maxIterations: 4 } },
      { id: 'one' },
      { id: 'two' },
    ] as never,
    plays: { root: [ask('two'), ask('one'), ask('two'), 'Enough.'], one: ['1'], two: ['2', '3'] },
  })
  const result = await stage.ask('root', 'Hello')
  assert.deepEqual([result.status, result.text, result.usage.modelCalls], ['completed', 'Enough.', 7])
  assert.deepEqual(
    stage.seenBy('root').map(({ messages }) => messages.filter(({ role }) => role === 'tool').length),
    [0, 1, 2, 3],
  )
  const events = await allEvents(stage.runtime, result.conversationId)
  const rounds = events.filter(
    ({ type, kind, agentPath }) => type === 'end' && kind === 'model' && agentPath === 'root',
  )
  assert.equal(rounds.length, 4)
})

test('[T06] what an agent has said and heard in a conversation is in its memory there, and in no other conversation', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'clerk' }] }, { id: 'clerk' }] as never,
    plays: {
      root: (request, turn) => (turn === 0 ? call('clerk', { message: lastUserMessage(request) }) : 'ok'),
      clerk: (request) => `heard ${lastUserMessage(request)}`,
    },
  })
  const { conversationId: id } = await stage.ask('root', 'first')
  const chat = stage.runtime.conversation('root', { id })
  await chat.run('second')
  await stage.ask('root', 'third')
  const heard = stage.seenBy('clerk').map(({ messages }) => messages.map(({ content }) => String(content)).join('|'))
  assert.match(heard[1] ?? '', /first.*heard first.*second/)
  assert.doesNotMatch(heard[2] ?? '', /first|second/)
})
