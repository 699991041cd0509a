/** Decisions, times, the timeline and rows, as events and results tell them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold } from '@witan/client'
import type { AnyEvent } from '@witan/protocol'
import { decisionsIn, decisionsOf } from './decisions.ts'
import { outlineOf } from './outline.ts'
import { cellText, rowsOf } from './rows.ts'
import { timesOf } from './spans.ts'
import { ticksOf, timelineOf, timelineWords } from './timeline.ts'

type Given = readonly [second: number, type: AnyEvent['type'], callId: string, content: object, kind?: AnyEvent['kind']]

/** `a.b` is a call below `a`; the tools are `a.t…`. */
function viewOf(...given: readonly Given[]) {
  const fold = createConversationFold()
  const events = given.map(([second, type, callId, content, kind = null], index): AnyEvent => {
    const parent = callId.split('.').slice(0, -1).join('.')
    return {
      seq: index + 1,
      type,
      kind,
      callId,
      parentCallId: parent === '' ? null : parent,
      rootCallId: 'a',
      conversationId: 'chats/1',
      document: 'chats/1',
      author: 'x',
      agentPath: callId.replaceAll('.', '/'),
      invocationId: callId,
      branch: null,
      branchPath: [],
      authorKind: 'agent' as const,
      at: new Date(second * 1000).toISOString(),
      content: content as AnyEvent['content'],
      actions: {},
    }
  })
  for (const event of events) fold.take(event)
  return fold.view
}

const root = [0, 'start', 'a', { message: 'go' }, 'agent'] as const
const approval = (second: number, callId: string, args: object): Given => [
  second,
  'approval_required',
  callId,
  { id: `i ${callId}`, kind: 'approval', path: 'pay', agent: 'a', callId, tool: 'pay', arguments: args, digest: 'd' },
]
const resolved = (second: number, callId: string, answer?: unknown): Given => [
  second,
  'resolved',
  callId,
  { id: `i ${callId}`, state: 'answered', by: 'user:anna', ...(answer === undefined ? {} : { answer }) },
]
const starts = (second: number, callId: string, args: unknown): Given => [
  second,
  'start',
  callId,
  { name: 'pay', arguments: args, bound: [] },
  'tool',
]
const ends = (second: number, callId: string, result: unknown = 'paid'): Given => [
  second,
  'end',
  callId,
  { result, truncated: false },
  'tool',
]

test('an approval says who gave it, when, after how long and with which change', () => {
  const view = viewOf(
    root,
    approval(1, 'a.t', { amount: 5, to: 'us', note: 'x' }),
    resolved(13, 'a.t', {
      decision: 'approved',
      arguments: { amount: 7, to: 'us', urgent: true },
      reason: 'our treat',
    }),
    starts(13, 'a.t', { amount: 7, to: 'us', urgent: true }),
    ends(14, 'a.t'),
  )
  const [decision] = decisionsIn(view, 'a')
  assert.deepEqual(decision, {
    id: 'i a.t',
    callId: 'a.t',
    about: 'pay',
    asks: false,
    verdict: 'approved',
    by: 'user:anna',
    at: new Date(13_000).toISOString(),
    waitedMs: 12_000,
    changes: [
      { name: 'amount', before: 5, after: 7 },
      { name: 'note', before: 'x', after: undefined },
      { name: 'urgent', before: undefined, after: true },
    ],
    reason: 'our treat',
    said: [],
  })
})

test('a denial has its reason; what lapsed or was cancelled has nobody; an older log says only that it was answered', () => {
  const verdicts = (...more: Given[]) => decisionsIn(viewOf(root, approval(1, 'a.t', { n: 1 }), ...more), 'a')
  const [no] = verdicts(resolved(2, 'a.t', { decision: 'denied', reason: 'not today' }))
  assert.deepEqual([no?.verdict, no?.reason, no?.changes], ['denied', 'not today', []])
  assert.deepEqual([verdicts(resolved(2, 'a.t'))[0]?.verdict], ['answered'])
  const strange = resolved(2, 'a.t', { decision: 'maybe', arguments: 'no', reason: 7 })
  assert.deepEqual([verdicts(strange)[0]?.verdict, verdicts(strange)[0]?.reason], ['answered', ''])
  const [late] = verdicts([9, 'resolved', 'a.t', { id: 'i a.t', state: 'expired', by: null }])
  assert.deepEqual([late?.verdict, late?.by, late?.waitedMs], ['expired', null, 8000])
  const [gone] = verdicts([5, 'end', 'a', { text: '', finishReason: 'cancelled' }, 'agent'])
  assert.deepEqual([gone?.verdict, gone?.waitedMs], ['cancelled', 4000])
  assert.deepEqual(verdicts(), [], 'what is open is no decision')
})

test('a condition says whether it was declined, and an older log only that it was answered', () => {
  const policy = { id: 'i a.t', path: 'shop', agent: '@shop@b.test', callId: 'a.t', issuer: '@shop@b.test', policy: {} }
  const verdicts = [
    { decision: 'resolved' },
    { decision: 'declined' },
    undefined,
    'declined',
    { decision: 'denied' },
  ].map((answer) =>
    decisionsIn(viewOf(root, [1, 'policy_required', 'a.t', policy], resolved(2, 'a.t', answer)), 'a').map(
      ({ verdict, about, said, changes }) => [verdict, about, ...said, ...changes],
    ),
  )
  assert.deepEqual(
    verdicts.map(([first]) => first),
    ['resolved', 'declined', 'answered', 'answered', 'answered'].map((verdict) => [verdict, '@shop@b.test']),
  )
})

test('questions of an MCP server may be declined; a question with the name of that answer is a question', () => {
  const questions = [{ id: 'decision', text: 'Which?', options: [], multiple: false, freeText: true, required: true }]
  const asked = { id: 'i a.t', path: 'files_ask', agent: 'a', callId: 'a.t', questions }
  const decided = (answer: unknown) => {
    const view = viewOf(root, [1, 'question_required', 'a.t', asked], resolved(2, 'a.t', answer))
    return decisionsIn(view, 'a').map(({ verdict, said }) => [verdict, ...said.map(({ words }) => words)])
  }
  assert.deepEqual(decided({ decision: 'declined' }), [['declined']])
  assert.deepEqual(decided({ decision: { text: 'declined' } }), [['answered', 'declined']])
})

test('a function that asks while it runs has its own answers, whatever it then gives', () => {
  const denied = { decision: 'denied', reason: 'too dear' }
  const view = viewOf(root, starts(1, 'a.t', {}), approval(2, 'a.t', {}), resolved(3, 'a.t', denied), ends(4, 'a.t'))
  const [decision] = decisionsIn(view, 'a')
  assert.deepEqual([decision?.verdict, decision?.reason], ['denied', 'too dear'])
})

test('answers stand with what was asked: chosen labels and own words, a reply with its message', () => {
  const questions = [
    { id: 'q', text: 'Which?', options: [{ id: 'r', label: 'Red' }], multiple: true, freeText: true, required: true },
    { id: 'w', text: 'Why?', options: [], multiple: false, freeText: true, required: false },
  ]
  const asks = (type: AnyEvent['type'], content: object): Given => [
    1,
    type,
    'a.t',
    { id: 'i a.t', path: 'ask', agent: 'a', callId: 'a.t', ...content },
  ]
  const answers = { q: { options: ['r', 'gone'], text: 'or so' } }
  const view = viewOf(
    root,
    starts(1, 'a.t', {}),
    asks('question_required', { kind: 'question', questions }),
    resolved(2, 'a.t', answers),
    ends(2, 'a.t', 'what the function made of it'),
  )
  const [asked] = decisionsIn(view, 'a')
  assert.deepEqual(asked?.said, [
    { to: 'Which?', words: 'Red, gone, or so' },
    { to: 'Why?', words: '' },
  ])
  const message = viewOf(
    root,
    starts(1, 'a.t', {}),
    asks('message_required', { kind: 'message', prompt: 'How many?' }),
    resolved(2, 'a.t', 'forty'),
    ends(2, 'a.t', 'Anna: forty'),
  )
  assert.deepEqual(decisionsIn(message, 'a')[0]?.said, [{ to: 'How many?', words: 'forty' }])
})

test('a second question of one call does not hide the first', () => {
  const view = viewOf(
    root,
    approval(1, 'a.t', { n: 1 }),
    resolved(2, 'a.t', { decision: 'approved' }),
    starts(2, 'a.t', { n: 1 }),
    [3, 'action_required', 'a.t', { id: 'i2', kind: 'action', path: 'pay', agent: 'a', callId: 'a.t', name: 'pay' }],
    [9, 'resolved', 'a.t', { id: 'i2', state: 'answered', by: 'user:ben' }],
    ends(9, 'a.t'),
  )
  const call = view.calls.get('a.t')
  assert.ok(call)
  assert.deepEqual(
    decisionsOf(call).map(({ verdict, by }) => [verdict, by]),
    [
      ['approved', 'user:anna'],
      ['answered', 'user:ben'],
    ],
  )
  assert.deepEqual(timesOf(view, 'a.t', 20_000), { workedMs: 1000, waitedMs: 7000 })
})

test('an agent waits while all that it waits for does, and works the rest of its time', () => {
  const view = viewOf(
    root,
    [2, 'start', 'a.b', { message: 'part' }, 'agent'],
    approval(3, 'a.b.t', {}),
    starts(3, 'a.work', {}),
    ends(7, 'a.work'),
    resolved(13, 'a.b.t'),
    starts(13, 'a.b.t', {}),
    ends(14, 'a.b.t'),
    [15, 'end', 'a.b', { text: 'done', finishReason: 'stop' }, 'agent'],
    [16, 'end', 'a', { text: 'done', finishReason: 'stop' }, 'agent'],
  )
  assert.deepEqual(timesOf(view, 'a.b.t', 99_000), { workedMs: 1000, waitedMs: 10_000 })
  assert.deepEqual(timesOf(view, 'a.b', 99_000), { workedMs: 3000, waitedMs: 10_000 })
  assert.deepEqual(timesOf(view, 'a', 99_000), { workedMs: 10_000, waitedMs: 6000 }, 'its other tool worked until 7')
  assert.deepEqual(
    timesOf(view, 'a', 12_000),
    timesOf(view, 'a', 99_000),
    'what has ended does not ask the page its time',
  )
})

test('what waits still is counted until now, and a task keeps nobody waiting', () => {
  const view = viewOf(
    root,
    approval(1, 'a.t', {}),
    [1, 'start', 'a.task', { message: 'x' }, 'agent'],
    [1, 'task', 'a.task', { taskId: 'a.task', status: 'running' }],
  )
  assert.deepEqual(timesOf(view, 'a', 31_000), { workedMs: 1000, waitedMs: 30_000 })
  assert.deepEqual(timesOf(view, 'nobody', 1), { workedMs: 0, waitedMs: 0 })
})

test('a timeline has the calls in the order of the tree, each with its periods of work and of waiting', () => {
  const view = viewOf(
    root,
    [2, 'start', 'a.b', { message: 'part' }, 'agent'],
    approval(3, 'a.b.t', {}),
    resolved(13, 'a.b.t'),
    starts(13, 'a.b.t', {}),
    ends(14, 'a.b.t'),
    [15, 'end', 'a.b', { text: 'done', finishReason: 'stop' }, 'agent'],
  )
  const { items, wholeMs } = timelineOf(view, 'a', 20_000)
  assert.equal(wholeMs, 20_000 - Date.parse(view.calls.get('a')?.startedAt ?? ''))
  assert.deepEqual(
    items.map((item) => timelineWords(item, item.call.callId)),
    [
      'a, from 0.0 s, worked 10.0 s, waited 10.0 s, goes on',
      'a.b, from 2.0 s, worked 3.0 s, waited 10.0 s',
      'a.b.t, from 3.0 s, worked 1.0 s, waited 10.0 s',
    ],
  )
  const periods = items[1]?.periods ?? []
  assert.deepEqual(
    periods.map(({ isWaiting }) => isWaiting),
    [false, true, false],
  )
  for (const [index, { toMs }] of periods.entries()) assert.equal(periods[index + 1]?.fromMs ?? toMs, toMs)
  assert.deepEqual(timelineOf(view, 'nobody', 1), { items: [], wholeMs: 0 })
})

test('the scale of a timeline has a few round moments', () => {
  assert.deepEqual(ticksOf(0), [0])
  assert.deepEqual(ticksOf(3_100), [0, 1000, 2000, 3000])
  for (const whole of [1, 7, 950, 61_000, 9_999_999]) {
    const ticks = ticksOf(whole)
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${whole}: ${ticks}`)
    assert.ok(ticks.every((tick) => tick <= whole))
  }
})

test('rows are lists of objects; anything else is shown as it is', () => {
  assert.deepEqual(rowsOf([{ a: 1 }, { b: null, a: 2 }]), { columns: ['a', 'b'], rows: [{ a: 1 }, { b: null, a: 2 }] })
  const wide = Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`c${index}`, 1]))
  for (const value of [[], [1], [[1]], [{}], 'text', null, { a: 1 }, [{ a: 1 }, null], [wide]])
    assert.equal(rowsOf(value), null, JSON.stringify(value))
  assert.deepEqual(
    [cellText(undefined), cellText(null), cellText({ a: [1] }), cellText('x')],
    ['', 'null', '{"a":[1]}', 'x'],
  )
  assert.equal(cellText('x'.repeat(1000)).length, 301)
})

test('a graph is a list with every edge once, cycles and shared agents cut', () => {
  const nodes = ['r', 'a', 'b'].map((id) => ({ id, name: id.toUpperCase(), kind: 'agent' }))
  const edge = (from: string, to: string) => ({ from, to, kind: 'subAgents', description: `${from} asks ${to}` })
  const graph = {
    nodes,
    hotSpots: [],
    edges: [edge('r', 'a'), edge('r', 'b'), edge('a', 'b'), edge('b', 'a'), edge('a', 'a')],
  }
  assert.deepEqual(
    outlineOf(graph, 'r').map(({ id, depth, isRepeat }) => `${'-'.repeat(depth)}${id}${isRepeat ? '!' : ''}`),
    ['r', '-a', '--b', '---a!', '--a!', '-b!'],
  )
})
