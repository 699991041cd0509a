/** What becomes of events: the same for live and stored ones, at the same cost however long the history is, and whatever a server sends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyEvent } from '@witan/protocol'
import { createConversationFold } from './conversation-fold.ts'
import { events, eventsOf, type Given, viewOf } from './testing/events.ts'
import { assertCheap } from '../../../test/support/cpu.ts'

const asked: Given = ['message', 'a', { author: 'anna', text: 'Rename me' }]
const starts = (callId: string): Given => [
  'start',
  callId,
  { message: 'Go', parameters: { country: 'France' } },
  'agent',
]
const ends = (callId: string, finishReason = 'stop'): Given => [
  'end',
  callId,
  { text: 'Done.', output: null, finishReason },
  'agent',
]
const toolStarts: Given = ['start', 'a.b.t', { name: 'Rename', arguments: { to: 'A' }, bound: ['userId'] }, 'tool']
const toolEnds: Given = ['end', 'a.b.t', { result: { ok: true }, truncated: false, bound: ['token'] }, 'tool']
const opens: Given = [
  'action_required',
  'a.b.t',
  { id: 'i_1', kind: 'action', path: 'b/Rename', agent: 'b', callId: 'a.b.t', name: 'Rename', arguments: { to: 'A' } },
]
const answered: Given = ['resolved', 'a.b.t', { id: 'i_1', state: 'answered', by: 'anna' }]
const replies = (callId: string): Given => [
  'end',
  callId,
  { model: 'local/m', usage: { inputTokens: 10, outputTokens: 2 }, finishReason: 'stop' },
  'model',
]
const says = (callId: string, text: string, more: object = {}): Given => [
  'delta',
  callId,
  { text, attempt: 1, ...more },
  'agent',
]
const wholeRun = [
  asked,
  starts('a'),
  says('a', 'I ask.'),
  replies('a'),
  starts('a.b'),
  says('a.b', 'Hm.'),
  replies('a.b'),
  toolStarts,
  opens,
  answered,
  toolEnds,
  ends('a.b'),
  says('a', 'Do'),
  replies('a'),
  ends('a'),
]

test('the calls of a run stand below each other, with what they were asked and what came of them', () => {
  const view = viewOf(events(...wholeRun))
  assert.deepEqual([view.runs, view.open.size, view.messages.length], [['a'], 0, 1])
  assert.deepEqual(view.calls.get('a')?.children, ['a.b'])
  const tool = view.calls.get('a.b.t')
  assert.deepEqual([tool?.name, tool?.state, tool?.result], ['Rename', 'completed', { ok: true }])
  assert.deepEqual([tool?.bound, tool?.asked[0]?.state], [['userId', 'token'], 'answered'])
  const root = view.calls.get('a')
  assert.deepEqual([root?.text, root?.modelCalls, root?.tokens.input], ['Done.', 2, 20])
})

test('a call names the entry with its answer: the last reply of its model, the end or error of a tool, the end of what has no model', () => {
  const answers = (...given: readonly Given[]) => {
    const all = eventsOf(given)
    const view = viewOf(all)
    return ['a', 'a.b', 'a.b.t'].map((callId) => {
      const seq = view.calls.get(callId)?.answerSeq
      const event = seq == null ? undefined : all.find((one) => one.seq === seq)
      return event === undefined ? null : `${event.type} ${event.kind} ${event.callId}`
    })
  }
  assert.deepEqual(answers(...wholeRun), ['end model a', 'end model a.b', 'end tool a.b.t'])
  const lastReply = eventsOf(wholeRun).findLast(({ kind, callId }) => kind === 'model' && callId === 'a')
  assert.equal(viewOf(eventsOf(wholeRun)).calls.get('a')?.answerSeq, lastReply?.seq)
  const begun = wholeRun.slice(0, wholeRun.indexOf(toolStarts) + 1)
  assert.equal(answers(...begun).at(-1), null, 'nothing answers what works')
  const fails: Given = ['error', 'a.b.t', { code: 'TOOL_FAILED', detail: 'no' }, 'tool']
  assert.equal(answers(...begun, fails).at(-1), 'error tool a.b.t')
  const silent = wholeRun.filter(([, , , kind]) => kind !== 'model')
  assert.deepEqual(answers(...silent), ['end agent a', 'end agent a.b', 'end tool a.b.t'])
})

test('what is stored alone gives the same view as having watched it live', () => {
  const live = events(...wholeRun)
  const stored = live.filter((event) => event.type !== 'delta')
  const comparable = (given: readonly AnyEvent[]) => {
    const view = viewOf(given)
    const calls = [...view.calls.values()].map((call) => ({ ...call, attempt: 0, textEnded: false }))
    return { ...view, calls }
  }
  for (const seen of [stored.findIndex((event) => event.type === 'action_required') + 1, stored.length]) {
    const lastSeq = stored[seen - 1]?.seq ?? 0
    const until = live.slice(0, live.findIndex((event) => event.seq === lastSeq) + 1)
    assert.deepEqual(comparable(stored.slice(0, seen)), comparable(until))
  }
})

test('repeated events and those of an unknown type change nothing', () => {
  const stored = events(...wholeRun).filter((event) => event.type !== 'delta')
  const fold = createConversationFold()
  for (const event of stored)
    assert.equal(fold.take(event)?.callId ?? null, event.type === 'message' ? null : event.callId)
  const before = structuredClone(fold.view)
  for (const event of stored) assert.equal(fold.take(event), null)
  assert.equal(fold.take({ ...stored[0], type: 'vote', seq: undefined } as unknown as AnyEvent), null)
  assert.deepEqual(structuredClone(fold.view), before)
})

test('an action without a start of its own still gets its call; what it is, its start says', () => {
  const view = viewOf(events(starts('a'), starts('a.b'), opens))
  assert.deepEqual([view.calls.get('a.b.t')?.name, view.calls.get('a.b.t')?.state], ['Rename', 'waiting'])
  assert.deepEqual(view.calls.get('a.b')?.children, ['a.b.t'])
  assert.equal(view.open.get('i_1')?.path, 'b/Rename')
  const released = viewOf(events(starts('a'), starts('a.b'), opens, answered, starts('a.b.t')))
  assert.deepEqual([released.calls.get('a.b.t')?.kind, released.calls.get('a.b.t')?.state], ['agent', 'running'])
})

test('deltas add up; a higher attempt, a snapshot and the next model call begin anew; a lower attempt is late', () => {
  const text = (...given: readonly Given[]) => viewOf(events(starts('a'), ...given)).calls.get('a')?.text
  assert.equal(text(says('a', 'Hel'), says('a', 'lo')), 'Hello')
  assert.equal(text(says('a', 'Hel'), says('a', 'Again', { attempt: 2 }), says('a', 'late')), 'Again')
  assert.equal(text(says('a', 'xx'), says('a', 'Hello', { snapshot: true })), 'Hello')
  assert.equal(text(says('a', 'First.'), replies('a'), says('a', 'Second.')), 'Second.')
  assert.equal(text(says('a', 'Do'), ends('a'), says('a', 'late')), 'Done.')
})

test('a cancelled run stops every call below it and closes its actions', () => {
  const asking = [starts('a'), starts('a.b'), toolStarts, opens, ['cancel', 'a', { by: 'anna', tasks: false }]] as const
  assert.equal(viewOf(events(...asking)).cancelling.has('a'), true)
  const view = viewOf(events(...asking, ends('a', 'cancelled')))
  for (const { state } of view.calls.values()) assert.equal(state, 'cancelled')
  assert.deepEqual([view.open.size, view.cancelling.size], [0, 0])
  assert.equal(view.calls.get('a.b.t')?.asked[0]?.state, 'cancelled')
})

test('a failed agent says why, and nothing below it goes on but its tasks', () => {
  const failure = { code: 'MODEL_CALL_FAILED', detail: 'refused' }
  const view = viewOf(
    events(starts('a'), starts('a.b'), toolStarts, starts('a.c'), ['task', 'a.c'], ['error', 'a', failure, 'agent']),
  )
  assert.deepEqual(view.calls.get('a')?.error, failure)
  const states = ['a', 'a.b', 'a.b.t', 'a.c'].map((id) => view.calls.get(id)?.state)
  assert.deepEqual(states, ['failed', 'cancelled', 'cancelled', 'running'])
})

test('what the runtime tells an agent is a note of its call, not a message of the chat', () => {
  const view = viewOf(events(asked, starts('a'), ['message', 'a', { author: 'witan', text: 'Answer again.' }]))
  assert.equal(view.messages.length, 1)
  assert.deepEqual(view.calls.get('a')?.notices, [{ code: 'RUNTIME', detail: 'Answer again.' }])
  assert.equal(view.calls.get('a')?.tokens.complete, true)
  const lost = viewOf(events(asked, starts('a'), ['notice', 'a', { code: 'USAGE_INCOMPLETE', detail: 'Lost.' }]))
  assert.equal(lost.calls.get('a')?.tokens.complete, false)
})

test('what a model used and its provider did not say is never counted as all', () => {
  const unknown: Given = ['end', 'a', { model: 'local/m', usage: { inputTokens: null, outputTokens: 4 } }, 'model']
  const view = viewOf(events(starts('a'), replies('a'), unknown))
  assert.deepEqual(view.calls.get('a')?.tokens, { input: 10, output: 6, complete: false })
})

test('what an agent elsewhere has cost, as far as it is known, stands at its call', () => {
  const elsewhere: Given = ['start', 'a.b', { message: 'Go', remote: '@docs@b.test' }, 'agent']
  const tokensAfter = (...over: readonly Given[]) =>
    viewOf(events(starts('a'), replies('a'), elsewhere, ...over)).calls.get('a.b')?.tokens
  const ended = (usage: object): Given => ['end', 'a.b', { text: 'Done.', finishReason: 'stop', usage }, 'agent']
  const usage = { inputTokens: 900, outputTokens: 100, complete: true }
  assert.deepEqual(tokensAfter(ended(usage)), { input: 900, output: 100, complete: true })
  assert.deepEqual(tokensAfter(ended({ ...usage, complete: false })), { input: 900, output: 100, complete: false })
  const unknown = { input: 0, output: 0, complete: false }
  assert.deepEqual(tokensAfter(ended({ inputTokens: 'many' })), unknown)
  assert.deepEqual(tokensAfter(['error', 'a.b', { code: 'REMOTE_FAILED', detail: 'No.' }, 'agent']), unknown)
  assert.deepEqual(tokensAfter(), { input: 0, output: 0, complete: true })
})

test('[T31] a file that a tool saved is in the view once, and at its call; what is no artifact changes nothing', () => {
  const saved = { id: 'art_1', name: 'report.md', mediaType: 'text/markdown', bytes: 12, inputs: ['art_0', 7] }
  const artifact = (content: object): Given => ['artifact', 'a.b.t', content]
  const view = viewOf(
    events(starts('a'), starts('a.b'), toolStarts, ...[saved, saved, {}, { id: 7 }].map(artifact), toolEnds),
  )
  assert.deepEqual([...view.artifacts.keys()], ['art_1'])
  const [one, ...others] = view.calls.get('a.b.t')?.artifacts ?? []
  assert.deepEqual(
    [one?.name, one?.bytes, one?.inputs, one?.digest, others.length],
    ['report.md', 12, ['art_0'], '', 0],
  )
  const alone = viewOf(events(artifact({ ...saved, bytes: -1, name: null })))
  assert.deepEqual([alone.artifacts.get('art_1')?.bytes, alone.artifacts.get('art_1')?.name], [0, ''])
})

test('[F02] an answer has its sources, and a call what its message found by itself; what is neither changes nothing', () => {
  const source = { id: 'kaaaaaaaa', base: 'house', document: 'a.md', title: 'A', uri: null, heading: 'A', digest: 'd' }
  const found = { query: 'Where?', passages: [{ id: 'kaaaaaaaa', base: 'house', document: 'a.md' }] }
  const view = viewOf(
    events(
      asked,
      starts('a'),
      ['retrieval', 'a', found],
      ['retrieval', 'b', found],
      ['end', 'a', { text: 'There [kaaaaaaaa].', finishReason: 'stop', sources: [source, { id: 3 }, 'x'] }, 'agent'],
    ),
  )
  assert.deepEqual(view.calls.get('a')?.sources, [source])
  assert.deepEqual(view.calls.get('a')?.retrievals, [{ ...found, seq: 3, at: new Date(2000).toISOString() }])
  const odd = viewOf(
    events(starts('a'), ['retrieval', 'a', { passages: [1, { id: 2 }] }], ['end', 'a', { sources: 'x' }, 'agent']),
  )
  assert.deepEqual(odd.calls.get('a')?.sources, [])
  assert.deepEqual(odd.calls.get('a')?.retrievals[0]?.passages, [{ id: '', base: '', document: '' }])
})

test('a conversation that is gone has nothing that goes on', () => {
  const fold = createConversationFold()
  for (const event of events(starts('a'), starts('a.b'), toolStarts, opens, starts('z'), ends('z'))) fold.take(event)
  fold.close()
  const states = [...fold.view.calls.values()].map((call) => call.state)
  assert.deepEqual([states, fold.view.open.size], [['cancelled', 'cancelled', 'cancelled', 'completed'], 0])
})

test('an event costs the same however long the history is', async () => {
  const count = 60_000
  const shapes: readonly ((index: number) => Given)[] = [
    (index) => ['start', `a.t${index}`, { name: 'Look', arguments: {}, bound: [] }, 'tool'],
    (index) => ['action_required', 'a', { id: `i_${index}`, callId: 'a', name: 'Ask', arguments: {} }],
    (index) => ['resolved', 'a', { id: `i_${index}`, state: 'answered', by: 'anna' }],
    () => ['notice', 'a', { code: 'RUN_RECOVERED', detail: 'again' }],
    () => ['message', 'a', { author: 'anna', text: 'more' }],
    (index) => ['artifact', 'a', { id: `art_${index}`, name: 'a.txt' }],
    () => says('a', 'word '),
    () => ['end', 'a.t1', { result: 1, truncated: false, bound: ['one'] }, 'tool'],
    () => ['error', 'a', { code: 'INTERNAL', detail: 'again' }, 'agent'],
  ]
  const repeated = shapes.flatMap((shape) => Array.from({ length: count }, (_, index) => shape(index)))
  const many = eventsOf([starts('a'), ...repeated])
  const { result: fold } = await assertCheap({ total: 2_000 }, () => {
    const anew = createConversationFold()
    for (const event of many) anew.take(event)
    return anew
  })
  assert.equal(fold.view.calls.get('a')?.children.length, count)
})

test('whatever a server sends, the fold goes on, and no call stands below itself', () => {
  const ids = ['a', 'a.b', 'a.b.t', '__proto__', 'constructor', '', 'nobody', 7, null]
  const odd = [null, undefined, 7, '', '__proto__', [], {}, [null], { id: 'i_1' }, JSON.parse('{"__proto__":{"x":1}}')]
  const kinds = ['agent', 'tool', 'model', null, '__proto__']
  const types = [...new Set(wholeRun.map(([type]) => type)), 'error', 'notice', 'task', 'cancel', 'question_required']
  types.push('vote', '__proto__', 'toString', 'policy_required', 'summary', 'checkpoint', 'transfer', 'artifact')
  const next = random(7)
  const pick = <Value>(list: readonly Value[]) => list[next(list.length)] as Value
  const fold = createConversationFold()
  for (const strange of odd) assert.equal(fold.take(strange as AnyEvent), null)
  const samples = events(...wholeRun)
  const own = { ...samples.find(({ type }) => type === 'start'), seq: 1, callId: 'own', parentCallId: 'own' }
  fold.take(own as AnyEvent)
  assert.equal(fold.view.calls.get('own')?.parentCallId, null)
  for (let round = 0; round < 30_000; round += 1) {
    const content: Record<string, unknown> = { ...pick(samples).content }
    for (const name of Object.keys(content)) if (next(3) === 0) content[name] = pick(odd)
    if (next(2) === 0) content.callId = pick(ids)
    if (next(3) === 0) Object.assign(content, { handedFrom: pick(ids), returned: next(2) === 0, step: pick(odd) })
    const event = {
      ...pick(samples),
      seq: next(4) === 0 ? pick([...odd, Number.NaN, -1]) : next(3 * round + 1) - round,
      type: pick(types),
      kind: pick(kinds),
      callId: pick(ids),
      parentCallId: pick(ids),
      rootCallId: pick(ids),
      content: next(50) === 0 ? pick(odd) : content,
      ...(next(4) === 0 ? { agentPath: pick(odd), author: pick(odd), at: pick(odd) } : {}),
    }
    fold.take(event as AnyEvent)
  }
  const { calls, runs } = fold.view
  assert.ok(calls.has('__proto__') && calls.has('a.b'))
  const seen: string[] = []
  const pending = [...runs]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    seen.push(id)
    pending.push(...(calls.get(id)?.children ?? []))
  }
  assert.deepEqual(seen.toSorted(), [...calls.keys()].toSorted())
  for (const call of calls.values())
    assert.ok(call.parentCallId === null || calls.get(call.parentCallId)?.children.includes(call.callId))
  assert.equal(Object.keys(Object.prototype).length, 0)
})

/** Whole numbers below a limit, the same for one seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
