import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold } from '@witan/client'
import type { AnyEvent } from '@witan/protocol'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { chatItems } from './chat-items.ts'
import { countModelCalls, modelsByCall } from './model-calls.ts'
import { stepWords } from './step.ts'
import { pathBelowRoot, tasksOf } from './tasks.ts'
import { callPath, callSummary, runSummary, treeRows } from './tree.ts'

type Given = Partial<AnyEvent> & { readonly type: AnyEvent['type'] }

const path = { c_1: 'root', c_2: 'root/child', c_3: 'root/child', c_4: 'root/other' } as const
const parent = { c_1: null, c_2: 'c_1', c_3: 'c_2', c_4: 'c_1' } as const
type Call = keyof typeof path

/** Events with everything filled in, numbered in their order; deltas carry no number. */
function events(...given: readonly (Given & { readonly callId: Call })[]): AnyEvent[] {
  let seq = 0
  return given.map((one) => ({
    ...(one.type === 'delta' ? {} : { seq: ++seq }),
    kind: 'agent',
    parentCallId: parent[one.callId],
    rootCallId: 'c_1',
    conversationId: 'chats/1',
    document: `chats/1/${path[one.callId]}`,
    author: 'somebody',
    agentPath: path[one.callId],
    invocationId: one.callId,
    branch: null,
    branchPath: [],
    authorKind: 'agent' as const,
    at: `2026-01-01T00:00:${String(seq).padStart(2, '0')}.000Z`,
    content: {},
    actions: {},
    ...one,
  }))
}

const asked = { type: 'message', kind: null, callId: 'c_1', content: { author: 'anna', text: 'Rename me' } } as const
const rootStarts = {
  type: 'start',
  callId: 'c_1',
  content: { message: 'Rename me', parameters: { country: 'France' } },
} as const
const childStarts = { type: 'start', callId: 'c_2', content: { message: 'Change the name', parameters: {} } } as const
const toolStarts = {
  type: 'start',
  kind: 'tool',
  callId: 'c_3',
  content: { name: 'ChangeUserName', arguments: { name: 'A' }, bound: ['userId'] },
} as const
const actionOpens = {
  type: 'action_required',
  kind: null,
  callId: 'c_3',
  content: {
    id: 'i_1',
    kind: 'action',
    path: 'child/ChangeUserName',
    agent: 'child',
    callId: 'c_3',
    name: 'ChangeUserName',
    arguments: { name: 'A' },
    state: 'open',
  },
} as const
const answered = {
  type: 'resolved',
  kind: null,
  callId: 'c_3',
  content: { id: 'i_1', state: 'answered', by: 'anna' },
} as const
const toolEnds = {
  type: 'end',
  kind: 'tool',
  callId: 'c_3',
  content: { result: { ok: true }, truncated: false },
} as const
const childEnds = {
  type: 'end',
  callId: 'c_2',
  content: { text: 'Changed.', output: null, finishReason: 'stop' },
} as const
const rootEnds = { type: 'end', callId: 'c_1', content: { text: 'Done.', output: null, finishReason: 'stop' } } as const
const modelEnds = (callId: Call, usage: unknown) =>
  ({ type: 'end', kind: 'model', callId, content: { model: 'local/m', usage, finishReason: 'stop' } }) as const
function fold(...given: readonly (Given & { readonly callId: Call })[]) {
  const folded = createConversationFold()
  for (const event of events(...given)) folded.take(event)
  return folded.view
}

test('a run grows a tree of agents and tools, and ends done', () => {
  const view = fold(asked, rootStarts, childStarts, toolStarts, toolEnds, childEnds, rootEnds)
  const rows = treeRows(view, 'c_1', { collapsed: new Set() })
  assert.deepEqual(
    rows.map((row) => [row.call.name, row.level, row.state]),
    [
      ['root', 1, 'completed'],
      ['child', 2, 'completed'],
      ['ChangeUserName', 3, 'completed'],
    ],
  )
  assert.deepEqual(view.calls.get('c_3')?.result, { ok: true })
  assert.deepEqual(view.calls.get('c_3')?.bound, ['userId'])
  assert.deepEqual(
    callPath(view, 'c_3').map((call) => call.name),
    ['root', 'child', 'ChangeUserName'],
  )
})

test('an open action makes every call above it wait for it by name; its answer sets them going', () => {
  const waiting = fold(rootStarts, childStarts, toolStarts, actionOpens)
  const rows = treeRows(waiting, 'c_1', { collapsed: new Set() })
  assert.deepEqual(
    rows.map((row) => [row.state, row.waitsFor]),
    [
      ['waiting', ['child']],
      ['waiting', ['ChangeUserName']],
      ['waiting', []],
    ],
  )
  assert.equal(waiting.open.get('i_1')?.path, 'child/ChangeUserName')
  const going = fold(rootStarts, childStarts, toolStarts, actionOpens, answered)
  assert.equal(going.open.size, 0)
  assert.equal(runSummary(going, 'c_1').state, 'running')
})

test('a call stays running while one of its children is at work', () => {
  const otherStarts = { ...childStarts, callId: 'c_4' } as const
  const view = fold(rootStarts, childStarts, otherStarts, toolStarts, actionOpens)
  const root = treeRows(view, 'c_1', { collapsed: new Set() })[0]
  assert.equal(root?.state, 'running')
  assert.deepEqual(root?.waitsFor, ['child', 'other'])
})

test('tokens are summed over the tree, and what a provider did not say is never counted as all', () => {
  const known = fold(
    rootStarts,
    modelEnds('c_1', { inputTokens: 10, outputTokens: 2 }),
    childStarts,
    modelEnds('c_2', { inputTokens: 5, outputTokens: 1 }),
  )
  assert.deepEqual(runSummary(known, 'c_1').tokens, { input: 15, output: 3, complete: true })
  assert.deepEqual(known.calls.get('c_1')?.tokens, { input: 10, output: 2, complete: true })
  const unknown = fold(rootStarts, childStarts, modelEnds('c_2', { inputTokens: null, outputTokens: 4 }))
  assert.deepEqual(runSummary(unknown, 'c_1').tokens, { input: 0, output: 4, complete: false })
})

test('the chat has each message before the run it belongs to, and only what was said to the root', () => {
  const delegated = { type: 'message', kind: null, callId: 'c_2', content: { author: 'root', text: 'psst' } } as const
  const view = fold(asked, rootStarts, childStarts, delegated, {
    ...asked,
    content: { author: 'anna', text: 'And hurry' },
  })
  assert.deepEqual(
    chatItems(view).map((item) =>
      item.kind === 'message' ? item.message.text : item.kind === 'run' ? item.runId : item.change.user,
    ),
    ['Rename me', 'And hurry', 'c_1'],
  )
})

test('a folded node hides what is below it', () => {
  const view = fold(rootStarts, childStarts, toolStarts)
  assert.equal(treeRows(view, 'c_1', { collapsed: new Set(['c_2']) }).length, 2)
})

test('a model call that is not read yet has its row, with its number; when all are read there are no others', () => {
  const reply = { type: 'end', kind: 'model', callId: 'c_2', content: { model: 'm' } } as const
  const view = fold(rootStarts, childStarts, toolStarts, reply, reply, reply)
  const line = (number: number) => ({ id: `${number}`, callId: 'c_2', number, startedAt: null }) as ModelCallLine
  const rowsWith = (models: readonly ModelCallLine[], isPart: boolean) =>
    treeRows(view, 'c_1', { collapsed: new Set(), models: modelsByCall(models), isPart })
      .filter(({ level }) => level === 3)
      .map(({ id, unread, position, siblings }) => [id, unread, `${position} of ${siblings}`])
  const tool = ['c_3', null, '1 of 4']
  assert.deepEqual(rowsWith([], true), [tool, ...[1, 2, 3].map((one) => [`unread-c_2-${one}`, one, `${one + 1} of 4`])])
  assert.deepEqual(
    rowsWith([line(1), line(2)], true).map(([id]) => id),
    ['c_3', 'model-1', 'model-2', 'unread-c_2-3'],
  )
  assert.deepEqual(
    rowsWith([line(1)], false).map(([id]) => id),
    ['c_3', 'model-1'],
  )
  assert.equal(countModelCalls(view, 'c_1', { lines: [line(1)], isPart: true }), 3)
  assert.equal(countModelCalls(view, 'c_1', { lines: [line(1)], isPart: false }), 1)
})

test('a task lives on when its run was stopped, keeps what it was told, and stops by itself', () => {
  const isTask = { type: 'task', kind: null, callId: 'c_2', content: { taskId: 'c_2', status: 'queued' } } as const
  const told = { type: 'message', kind: null, callId: 'c_2', content: { author: 'anna', text: 'whole boxes' } } as const
  const stopped = { type: 'end', callId: 'c_1', content: { text: '', finishReason: 'cancelled' } } as const
  const cancel = { type: 'cancel', kind: null, callId: 'c_2', content: { by: 'anna', tasks: true } } as const
  const all = [asked, rootStarts, childStarts, isTask, told, stopped, cancel] as const
  const view = fold(...all)
  const task = view.calls.get('c_2')
  assert.equal(task?.state, 'running')
  assert.deepEqual(task?.taskMessages, [{ seq: 5, text: 'whole boxes' }])
  assert.deepEqual([...view.cancelling], ['c_2'], 'the run has nothing to do with it')
  assert.equal(view.messages.length, 1, 'words to a task are no part of the chat')
  assert.deepEqual(
    tasksOf(view).map((call) => [call.callId, pathBelowRoot(call)]),
    [['c_2', 'child']],
  )
  const ended = { type: 'end', callId: 'c_2', content: { text: '', finishReason: 'cancelled' } } as const
  const after = fold(...all, ended)
  assert.deepEqual([after.calls.get('c_2')?.state, after.cancelling.size], ['cancelled', 0])
})

test('an agent does not wait for its task: a run is at work although a task of it waits for somebody', () => {
  const isTask = { type: 'task', kind: null, callId: 'c_2', content: { taskId: 'c_2', status: 'queued' } } as const
  const view = fold(asked, rootStarts, childStarts, isTask, toolStarts, actionOpens)
  assert.equal(runSummary(view, 'c_1').state, 'running')
  assert.deepEqual(runSummary(view, 'c_1').waitsFor, [])
  assert.equal(callSummary(view, 'c_2').state, 'waiting')
})

test('an agent that handed over does not wait: another speaks in its place, until control comes back', () => {
  const targetStarts = { ...childStarts, content: { message: 'Rename me', handedFrom: 'c_1' } } as const
  const handed = fold(rootStarts, targetStarts)
  assert.deepEqual([runSummary(handed, 'c_1').waitsFor, runSummary(handed, 'c_1').handedTo], [[], 'child'])
  const waiting = fold(rootStarts, targetStarts, toolStarts, actionOpens)
  assert.deepEqual([runSummary(waiting, 'c_1').state, runSummary(waiting, 'c_1').handedTo], ['waiting', 'child'])
  const back = { type: 'transfer', kind: null, callId: 'c_1', content: { returned: true } } as const
  assert.equal(runSummary(fold(rootStarts, targetStarts, childEnds, back), 'c_1').handedTo, null)
})

test('[K24] a step is named by its place and round, and the child of a parallel by its branch', () => {
  const step = (index: number, round = 0) => ({ step: { index, round } })
  const inBranch = { branch: 'child.1', branchPath: ['child.1'] }
  const view = fold(
    rootStarts,
    { ...childStarts, content: step(0, 1) },
    { ...childStarts, callId: 'c_3', content: step(1), ...inBranch },
    { ...childStarts, callId: 'c_4', content: step(1) },
  )
  const words = [...view.calls.values()].map((call) => stepWords(view, call))
  assert.deepEqual(words, [null, 'round 2, step 1', 'branch child.1', 'step 2'])
})
