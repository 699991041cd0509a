/** Agents that function tools run: in the tree of the run, with its budget, its log and its cancel; also agents that nobody may list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type FunctionContext } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { assertSound } from '../support/claims.ts'
import { type AgentDraft, createStage, type Play, type Stage } from '../support/stage.ts'

interface Cast {
  readonly agents: readonly AgentDraft[]
  readonly plays: Readonly<Record<string, Play>>
  readonly root?: Partial<AgentDraft>
}

/** A root whose tool `council` does this, and the agents that it may run. */
function stageOf(execute: (context: FunctionContext) => unknown, { agents, plays, root }: Cast): Stage {
  const council = defineTool({
    name: 'council',
    description: 'Asks the council.',
    parameters: z.object({}),
    execute: (_, context) => execute(context),
  })
  return createStage({
    agents: [{ id: 'root', tools: ['council'], ...root }, ...agents],
    plays: { root: (request) => toolResults(request)[0] ?? call('council'), ...plays },
    options: { tools: [council] },
  })
}

const hidden: Cast = { agents: [{ id: 'elder', parents: [] }], plays: { elder: ['I say yes.'] } }

test('[F06] an agent that nobody may list is run by a function tool, in the same tree, log and bill', async () => {
  const stage = stageOf(async ({ agents }) => `The elder: ${(await agents.run('elder', 'Yes or no?')).text}`, hidden)
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.text, 'The elder: I say yes.')
  assert.equal(result.usage.modelCalls, 3)
  assert.deepEqual(Object.keys(result.usage.byAgent), ['root', 'root/elder'])
  const { tree } = await stage.runtime.getRun(result.runId)
  const [tool] = tree.children
  assert.deepEqual([tool?.kind, tool?.name, tool?.status], ['tool', 'council', 'completed'])
  const [child] = tool?.children ?? []
  assert.deepEqual([child?.kind, child?.name, child?.document], ['agent', 'elder', 'chats/1/elder'])
  const document = await stage.document('chats/1/elder')
  assert.deepEqual(
    document.messages.map(({ author, text }) => [author, text]),
    [
      ['root', 'Yes or no?'],
      ['elder', 'I say yes.'],
    ],
  )
  assert.equal(stage.seenBy('root')[0]?.tools.length, 1, 'no model sees the elder')
  assertSound(await stage.events('chats/1'))
  assert.deepEqual(stage.reports, [])
})

test('[F06] several agents one after the other; each is run once, though the function runs again after each', async () => {
  let runs = 0
  const stage = stageOf(
    async ({ agents }) => {
      runs += 1
      const first = await agents.run('elder', 'one')
      const second = await agents.run('other', first.text)
      return `${first.text} ${second.text} ${(await agents.run('elder', 'one')).text}`
    },
    { agents: [{ id: 'elder', parents: [] }, { id: 'other' }], plays: { elder: ['A'], other: ['B'] } },
  )
  assert.equal((await stage.ask('root', 'go', { id: 'chats/1' })).text, 'A B A')
  assert.deepEqual([runs, stage.seenBy('elder').length, stage.seenBy('other').length], [3, 1, 1])
})

test('[F06] [R30] its parameters bind by name, and what is hidden below stays below', async () => {
  const userId = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' as const }
  const stage = stageOf(async ({ agents }) => (await agents.run('elder', 'Who?')).text, {
    agents: [{ id: 'elder', parents: [], parameters: [userId] }],
    plays: { elder: ['It is employees/3-A.'] },
    root: { parameters: [userId] },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1', parameters: { userId: 'employees/3-A' } })
  assert.equal(result.text, 'It is [hidden].')
})

test('[C17] [F06] a tool is given no value that is bound below it, also where its own agent does not declare it', async () => {
  const userId = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' as const }
  const given: string[] = []
  const council = defineTool({
    name: 'council',
    description: 'Asks the council.',
    parameters: z.object({}),
    async execute(_, { agents }) {
      given.push((await agents.run('elder', 'Who?')).text)
      return given.at(-1)
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [userId], subAgents: [{ agent: 'mid' }] },
      { id: 'mid', tools: ['council'] },
      { id: 'elder', parents: [], parameters: [userId] },
    ],
    plays: {
      root: [call('mid', { message: 'ask' }), 'done'],
      mid: (request) => toolResults(request)[0] ?? call('council'),
      elder: ['It is employees/3-A.'],
    },
    options: { tools: [council] },
  })
  await stage.ask('root', 'go', { id: 'chats/1', parameters: { userId: 'employees/3-A' } })
  assert.deepEqual(given, ['It is [hidden].'])
  assert.doesNotMatch(JSON.stringify(stage.seenBy('mid')), /employees/)
})

test('a child that waits for a person lets the tool wait too; its answer goes on from there', async () => {
  const stage = stageOf(async ({ agents }) => (await agents.run('elder', 'Ask them.')).text, {
    agents: [{ id: 'elder', parents: [], questions: true }],
    plays: {
      elder: (request) => toolResults(request)[0] ?? call('ask_question', { questions: [{ id: 'q', text: 'Well?' }] }),
    },
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked] = waiting.interruptions
  assert.deepEqual([waiting.status, asked?.path, asked?.agent], ['waiting', 'elder/ask_question', 'elder'])
  const done = await stage.run('chats/1', { answers: [{ id: asked?.id ?? '', answer: { q: { text: 'well' } } }] })
  assert.equal(done.text, '{"q":{"text":"well"}}')
  assertSound(await stage.events('chats/1'))
})

test('a cancel ends the child before the tool that runs it', async () => {
  const stage = stageOf(async ({ agents }) => (await agents.run('elder', 'Ask them.')).text, {
    agents: [{ id: 'elder', parents: [], actions: [{ name: 'Wait' }] }],
    plays: { elder: [call('Wait')] },
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(waiting.runId)
  const events = await stage.events('chats/1')
  const ends = events.filter(
    ({ type, kind }) => (type === 'end' && kind === 'agent') || (type === 'error' && kind === 'tool'),
  )
  assert.deepEqual(
    ends.map(({ kind, author }) => `${kind} ${author}`),
    ['tool elder', 'agent elder', 'tool root', 'agent root'],
  )
  assertSound(events)
})

test('[F06] what cannot be run throws in the tool, with the reason; the run goes on', async () => {
  const needs = { name: 'city' }
  const cast: Cast = {
    agents: [
      { id: 'elder', parents: ['other'] },
      { id: 'needy', parents: [], parameters: [needs] },
      { id: 'broken', parents: [] },
      { id: 'other', subAgents: [{ agent: 'elder' }] },
    ],
    plays: { broken: [new Error('no line')], elder: ['never'], needy: ['never'], other: ['never'] },
  }
  const reasons: readonly (readonly [string, string, RegExp])[] = [
    ['nobody', 'x', /no agent `nobody`/],
    ['root', 'x', /no agent `root` that `root` may run/],
    ['elder', 'x', /no agent `elder` that `root` may run/],
    ['needy', 'x', /`needy` needs `city`, which nobody supplies/],
    ['broken', 'x', /The model could not be called\./],
    ['broken', ' ', /needs a message/],
  ]
  for (const [id, message, reason] of reasons) {
    const stage = stageOf(({ agents }) => agents.run(id, message), cast)
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.equal(result.status, 'completed')
    assert.match(result.text, reason)
    assertSound(await stage.events('chats/1'))
  }
})

test('[C1] [C2] depth counts, and the same message is not asked for twice above each other', async () => {
  const run =
    (id: string) =>
    async ({ agents }: FunctionContext) =>
      (await agents.run(id, 'same')).text
  const shallow = stageOf(run('elder'), { ...hidden, root: { limits: { maxDepth: 1 } } })
  assert.equal((await shallow.ask('root', 'go')).text, 'I say yes.')
  const circle = createCircle(() => 'same')
  assert.match((await circle.ask('a', 'same')).text, /`a` is already at work on the same message above this call/)
  assert.deepEqual([circle.seenBy('a').length, circle.seenBy('b').length], [2, 2])
  const spiral = createCircle(({ agentPath }) => `more than ${agentPath}`)
  assert.match((await spiral.ask('a', 'more')).text, /`a` would run deeper than 3/)
  assert.deepEqual([spiral.seenBy('a').length, spiral.seenBy('b').length], [4, 4], 'a, b, a and b')
})

/** Two agents whose tools run each other. */
function createCircle(message: (context: FunctionContext) => string): Stage {
  const toolOf = (id: string) =>
    defineTool({
      name: `to-${id}`,
      description: 'Runs.',
      parameters: z.object({}),
      execute: async (_, context) => (await context.agents.run(id, message(context))).text,
    })
  return createStage({
    agents: [
      { id: 'a', tools: ['to-b'], limits: { maxDepth: 3 } },
      { id: 'b', tools: ['to-a'] },
    ],
    plays: {
      a: (request) => toolResults(request)[0] ?? call('to-b'),
      b: (request) => toolResults(request)[0] ?? call('to-a'),
    },
    options: { tools: [toolOf('a'), toolOf('b')] },
  })
}
