/** Bounds: the same for a root and for an agent at any depth, whatever the tree looks like, and every reply counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest, QuerySource } from '@witan/core'
import { call, lastUserMessage, type Rule } from '@witan/core/testing'
import { type AgentDraft, createStage, type Stage } from '../support/stage.ts'

/** Calls `record` as long as it is offered anything. */
const restless: Rule = (request) =>
  request.tools.length > 0 && request.toolChoice !== 'none' ? call('look') : 'enough'

const rows: QuerySource = {
  kind: 'rows',
  check: async () => ({ ok: true, placeholders: [] }),
  run: async () => ({ ok: true, rows: [], truncated: false }),
  close: async () => {},
}
const look = { name: 'look', description: 'Looks.', source: 'shop', query: 'select 1' } as const

const passOn =
  (to: string): Rule =>
  (_, turn) =>
    turn === 0 ? call(to, { message: 'go' }) : 'done'

/** `worker` with these limits, as a root and below one and two others. */
const line = (limits: AgentDraft['limits'], more: Omit<AgentDraft, 'id'> = {}): Stage =>
  createStage({
    agents: [
      { id: 'top', subAgents: [{ agent: 'mid' }], ...more },
      { id: 'mid', subAgents: [{ agent: 'worker' }], ...more },
      { id: 'worker', queries: [look], limits: limits ?? {} },
    ],
    plays: { top: passOn('mid'), mid: passOn('worker'), worker: restless },
    options: { sources: { shop: rows } },
  })

const calledWith = (requests: readonly ModelRequest[]) => requests.map(({ toolChoice }) => toolChoice)

test('[R45] an agent obeys its own bounds as a root and at any depth alike', async () => {
  for (const root of ['worker', 'mid', 'top']) {
    const stage = line({ maxIterations: 3 })
    const result = await stage.ask(root, 'hello')
    assert.equal(result.status, 'completed')
    assert.deepEqual(calledWith(stage.seenBy('worker')), ['auto', 'auto', 'auto', 'none'], root)
  }
  // Bounds of the tree are the root's, and no agent below can stretch them.
  for (const root of ['worker', 'mid', 'top']) {
    const stage = line(
      { maxModelCalls: root === 'worker' ? 5 : 400, maxIterations: 100 },
      { limits: { maxModelCalls: 5 } },
    )
    const result = await stage.ask(root, 'hello')
    assert.equal(result.error?.code, 'BUDGET_EXCEEDED', root)
    assert.equal(stage.requests.length, 5, root)
  }
})

test('[R45] what a caller may not do below the root, it may not do as the root', async () => {
  for (const root of ['worker', 'mid', 'top']) {
    const stage = createStage({
      agents: [
        { id: 'top', subAgents: [{ agent: 'mid' }] },
        { id: 'mid', subAgents: [{ agent: 'worker' }] },
        { id: 'worker', queries: [look] },
        { id: 'stranger' },
      ],
      plays: {
        top: passOn('mid'),
        mid: passOn('worker'),
        worker: [call('stranger', { message: 'x' }), call('look', { all: true }), call('look', '{'), 'done'],
        stranger: ['here'],
      },
      options: { sources: { shop: rows } },
    })
    await stage.ask(root, 'hello', { id: 'chats/1' })
    const errors = (await stage.events('chats/1')).filter(({ type }) => type === 'error')
    assert.deepEqual(
      errors.map(({ content }) => content['code']),
      ['TOOL_UNKNOWN', 'TOOL_ARGS_INVALID'],
      root,
    )
    assert.equal(stage.seenBy('stranger').length, 0)
  }
})

/** A chain of agents `a0` to `a11`, every third edge a wrapped agent; each asks the next one while it can. */
function chain(limits: AgentDraft['limits'], ceiling?: number): Stage {
  const ids = Array.from({ length: 12 }, (_, index) => `a${index}`)
  const styleOf = (index: number) => (index % 3 === 2 ? 'agentTool' : 'delegate')
  const agents = ids.map((id, index): AgentDraft => {
    const next = ids[index + 1]
    return {
      id,
      limits: index === 0 ? (limits ?? {}) : {},
      subAgents: next === undefined ? [] : [{ agent: next, style: styleOf(index) }],
    }
  })
  const plays = ids.map((id, index): [string, Rule] => [
    id,
    (request, turn) =>
      turn === 0 && request.tools.length > 0
        ? call(`a${index + 1}`, { [styleOf(index) === 'agentTool' ? 'request' : 'message']: 'on' })
        : 'done',
  ])
  return createStage({
    agents,
    plays: Object.fromEntries(plays),
    options: ceiling === undefined ? {} : { limits: { maxDepth: ceiling } },
  })
}

test('[R46] how deep it goes is a number, and nothing about the shape of the hierarchy', async () => {
  const depths = [
    [{}, undefined, 8],
    [{ maxDepth: 3 }, undefined, 3],
    [{ maxDepth: 50 }, undefined, 8],
    [{ maxDepth: 50 }, 10, 10],
    [{ maxDepth: 50 }, Number.POSITIVE_INFINITY, 11],
  ] as const
  for (const [limits, ceiling, deepest] of depths) {
    const stage = chain(limits, ceiling)
    const result = await stage.ask('a0', 'hello', { id: 'chats/1' })
    assert.equal(result.status, 'completed')
    const starts = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'start' && kind === 'agent')
    const reached = Math.max(...starts.map(({ agentPath }) => agentPath.split('/').length - 1))
    assert.equal(reached, deepest, `${JSON.stringify(limits)} under ${ceiling}`)
  }
})

test('[Rb19] the model calls of children are taken from the budget of the tree', async () => {
  const tree = (maxModelCalls: number) =>
    createStage({
      agents: [
        { id: 'root', subAgents: [{ agent: 'one' }, { agent: 'two' }], limits: { maxModelCalls } },
        { id: 'one', queries: [look] },
        { id: 'two' },
      ],
      plays: {
        root: [call('one', { message: 'go' }), call('two', { message: 'go' }), 'done'],
        one: [call('look'), 'one done'],
        two: ['two done'],
      },
      options: { sources: { shop: rows } },
    })
  const enough = tree(6)
  const result = await enough.ask('root', 'hello')
  assert.deepEqual([result.status, result.usage.modelCalls, enough.requests.length], ['completed', 6, 6])
  // One less, and the last reply of the root cannot be had: three calls were the children's.
  const short = tree(5)
  const failed = await short.ask('root', 'hello')
  assert.equal(failed.error?.code, 'BUDGET_EXCEEDED')
  assert.deepEqual([short.seenBy('root').length, short.requests.length, failed.usage.modelCalls], [2, 5, 5])
})

test('[Rb22] every activation counts its iterations anew, in the same document too', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'worker' }], limits: { maxIterations: 3 } },
      { id: 'worker', queries: [look], limits: { maxIterations: 2 } },
    ],
    plays: {
      root: (_, turn) => (turn < 2 ? call('worker', { message: `task ${turn}` }) : 'done'),
      worker: restless,
    },
    options: { sources: { shop: rows } },
  })
  const one = ['auto', 'auto', 'none']
  await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.deepEqual(calledWith(stage.seenBy('worker')), [...one, ...one])
  const again = await stage.run('chats/1', { prompt: 'again' })
  assert.equal(again.finishReason, 'stop')
  assert.deepEqual(calledWith(stage.seenBy('worker')), [...one, ...one, ...one, ...one])
  assert.deepEqual((await stage.document('chats/1')).linkedConversations, ['chats/1/worker'])
  assert.deepEqual(calledWith(stage.seenBy('root')), Array(6).fill('auto'))
})

test('[Rb23] every reply is a model call: with tools, without, empty, off its schema, and the last one', async () => {
  const agents = (maxModelCalls: number): AgentDraft[] => [
    { id: 'root', subAgents: [{ agent: 'shaped' }], limits: { maxModelCalls } },
    { id: 'shaped', outputSample: { n: 1 }, queries: [look], limits: { maxIterations: 2 } },
  ]
  const plays = () => {
    const replies = [call('look'), 'not JSON', '{"n":1}']
    const root = ['', call('shaped', { message: 'go' }), 'done']
    return {
      shaped: (() => replies.shift()) as Rule,
      root: (() => root.shift()) as Rule,
    }
  }
  const staged = (most: number) =>
    createStage({ agents: agents(most), plays: plays(), options: { sources: { shop: rows } } })
  const stage = staged(6)
  const result = await stage.ask('root', 'hello', { id: 'chats/1' })
  assert.equal(result.status, 'completed', result.error?.detail)
  assert.equal(stage.requests.length, 6)
  assert.equal(result.usage.modelCalls, 6)
  const ends = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'end' && kind === 'model')
  assert.equal(ends.length, 6)
  const short = staged(5)
  assert.equal((await short.ask('root', 'hello')).error?.code, 'BUDGET_EXCEEDED')
  assert.equal(short.requests.length, 5)
})

test('[Rb25] a query that fails is text for the model that asked, beside the rows of its siblings', async () => {
  const reasons = ['timeout', 'unbound', 'unfit', 'not-read-only', 'failed', 'throws'] as const
  const source: QuerySource = {
    ...rows,
    run: async ({ sql }) => {
      const reason = reasons.find((one) => sql === one)
      if (reason === undefined) return { ok: true, rows: [{ n: 1 }], truncated: false }
      if (reason === 'throws') throw new Error('broken pipe')
      return { ok: false, reason, detail: 'near Users/7' }
    },
  }
  const queries = ['fine', ...reasons].map((name) => ({ name, description: name, source: 'shop', query: name }))
  const all: Rule = (request, turn) =>
    turn === 0 && lastUserMessage(request) === 'all'
      ? { toolCalls: queries.map(({ name }) => ({ name, arguments: {} })) }
      : 'went on'
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', queries },
    ],
    plays: { root: [call('leaf', { message: 'all' }), 'done'], leaf: all },
    options: { sources: { shop: source } },
  })
  for (const [root, prompt] of [
    ['leaf', 'all'],
    ['root', 'hello'],
  ] as const) {
    const result = await stage.ask(root, prompt)
    assert.deepEqual(
      [result.status, result.text, result.error],
      ['completed', root === 'leaf' ? 'went on' : 'done', null],
    )
    const read =
      stage
        .seenBy('leaf')
        .at(-1)
        ?.messages.slice(-1 - reasons.length) ?? []
    assert.deepEqual(
      read.map(({ role }) => role),
      Array(1 + reasons.length).fill('tool'),
    )
    assert.equal(read[0]?.content, '[{"n":1}]')
    for (const [index, reason] of reasons.entries())
      assert.match(read[index + 1]?.content ?? '', new RegExp(`^\\{"error":".*\\\`${reason}\\\``), reason)
    assert.doesNotMatch(JSON.stringify(read), /Users\/7/)
    const errors = (await stage.events(result.conversationId)).filter(
      ({ type, kind }) => type === 'error' && kind === 'tool',
    )
    assert.deepEqual(errors.map(({ content }) => content['code']).sort(), [
      'QUERY_FAILED',
      'QUERY_FAILED',
      'QUERY_NOT_READ_ONLY',
      'QUERY_PARAM_UNCOVERED',
      'QUERY_TIMEOUT',
      'TOOL_FAILED',
    ])
  }
})
