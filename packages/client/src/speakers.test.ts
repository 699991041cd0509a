/** Who speaks in a run that is handed over, and how the steps of workflows stand in a view. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyEvent } from '@witan/protocol'
import { createConversationFold } from './conversation-fold.ts'
import type { CallView, ConversationView } from './conversation-view.ts'
import { speakersOf } from './speakers.ts'

type Given = Pick<AnyEvent, 'type' | 'callId'> & Partial<AnyEvent>

/** The view of these events. `a.b` is a call below `a`; the invocation of a call is that of its first part unless given. */
function viewOf(...given: readonly Given[]): ConversationView {
  const fold = createConversationFold()
  for (const [index, one] of given.entries()) {
    const parent = one.callId.split('.').slice(0, -1).join('.')
    fold.take({
      ...(one.type === 'delta' ? {} : { seq: index + 1 }),
      kind: null,
      parentCallId: parent === '' ? null : parent,
      rootCallId: 'desk',
      conversationId: 'chats/1',
      document: 'chats/1',
      author: 'somebody',
      agentPath: one.callId.replaceAll('.', '/'),
      invocationId: 'desk',
      branch: null,
      branchPath: [],
      authorKind: 'agent',
      at: new Date(index * 1000).toISOString(),
      content: {},
      actions: {},
      ...one,
    })
  }
  return fold.view
}

const starts = (callId: string, content: object = {}, more: Partial<AnyEvent> = {}): Given => ({
  type: 'start',
  kind: 'agent',
  callId,
  content: { message: 'hello', handedFrom: null, ...content },
  ...more,
})
const handedFrom = (source: string) => ({ handedFrom: source })
const says = (callId: string, text: string): Given => ({
  type: 'delta',
  kind: 'agent',
  callId,
  content: { text, attempt: 1 },
})
const ends = (callId: string, text: string): Given => ({
  type: 'end',
  kind: 'agent',
  callId,
  content: { text, output: null, finishReason: 'stop' },
})
const hands: readonly Given[] = [
  starts('desk'),
  says('desk', 'One moment.'),
  { type: 'end', kind: 'model', callId: 'desk', content: { model: 'm/1', usage: null } },
  { type: 'start', kind: 'tool', callId: 'desk.t', content: { name: 'transfer_to_agent', arguments: {} } },
  { type: 'end', kind: 'tool', callId: 'desk.t', content: { result: {} }, actions: { transferToAgent: 'billing' } },
  { type: 'transfer', callId: 'desk', content: { from: 'desk', to: 'billing', returned: false } },
  starts('desk.billing', handedFrom('desk')),
]
const comesBack: Given = { type: 'transfer', callId: 'desk', content: { from: 'billing', to: 'desk', returned: true } }

const words = (calls: readonly CallView[]) => calls.map(({ name, text }) => `${name}: ${text}`)

test('[K07] [Kb33] the text that streams is that of the agent that has control, and is there once', () => {
  assert.deepEqual(words(speakersOf(viewOf(...hands), 'desk')), ['billing: '])
  const streaming = viewOf(...hands, says('desk.billing', 'Your bill'))
  assert.deepEqual(words(speakersOf(streaming, 'desk')), ['billing: Your bill'])
  assert.equal(streaming.calls.get('desk')?.text, '')
  const over = viewOf(...hands, ends('desk.billing', 'Paid.'), ends('desk', 'Paid.'))
  assert.deepEqual(words(speakersOf(over, 'desk')), ['billing: Paid.'])
  assert.deepEqual(over.runs, ['desk'])
})

test('[C33] a call knows who handed over to it, and the tool call to whom', () => {
  const { calls } = viewOf(...hands)
  assert.deepEqual([calls.get('desk')?.handedFrom, calls.get('desk.billing')?.handedFrom], [null, 'desk'])
  assert.deepEqual([calls.get('desk.t')?.transferToAgent, calls.get('desk')?.transferToAgent], ['billing', null])
})

test('[C25] control that comes back is seen, and both have spoken', () => {
  const back = viewOf(...hands, ends('desk.billing', 'Paid.'), comesBack)
  assert.deepEqual([back.calls.get('desk.billing')?.returned, back.calls.get('desk')?.returned], [true, false])
  assert.deepEqual(words(speakersOf(back, 'desk')), ['billing: Paid.', 'desk: '])
  const again = viewOf(
    ...[...hands, ends('desk.billing', 'Paid.'), comesBack, ends('desk', 'It is paid.')],
    ...[starts('desk.billing2', handedFrom('desk')), says('desk.billing2', 'Hm.')],
  )
  assert.deepEqual(words(speakersOf(again, 'desk')), ['billing: Paid.', 'billing2: Hm.'])
})

test('control goes on from target to target, and the first that handed over with a return gets it back', () => {
  const chain = [...hands, starts('desk.billing.clerk', handedFrom('desk.billing'))]
  assert.deepEqual(words(speakersOf(viewOf(...chain), 'desk')), ['clerk: '])
  const over = viewOf(...chain, ends('desk.billing.clerk', 'I did it.'), ends('desk.billing', 'I did it.'), comesBack)
  assert.deepEqual(words(speakersOf(over, 'desk')), ['clerk: I did it.', 'desk: '])
})

test('a message at the call that has control is part of the chat; what the runtime says there is a note', () => {
  const message = (authorKind: unknown, author: string): Given => ({
    type: 'message',
    callId: 'desk.billing',
    authorKind: authorKind as never,
    author,
    content: { author, text: 'And?' },
  })
  const view = viewOf(...hands, message('user', 'user'), message('runtime', 'witan'), message(undefined, 'witan'))
  assert.deepEqual(
    view.messages.map(({ author, rootCallId }) => [author, rootCallId]),
    [['user', 'desk']],
  )
  const note = { code: 'RUNTIME', detail: 'And?' }
  assert.deepEqual(view.calls.get('desk.billing')?.notices, [note, note])
})

test('[K24] steps of a workflow know their index and round, and their branch', () => {
  const at = (index: unknown, round: unknown) => ({ step: { index, round } })
  const view = viewOf(
    starts('desk'),
    starts('desk.draft', at(0, 2)),
    starts('desk.panel', at(1, 0)),
    starts('desk.panel.a', at(0, 0), { branch: 'panel.0', branchPath: ['panel.0'] }),
    starts('desk.odd', at('first', 0), { branch: 7 as never }),
  )
  const seen = [...view.calls.values()].map(({ name, step, branch }) => [name, step, branch])
  assert.deepEqual(seen, [
    ['desk', null, null],
    ['draft', { index: 0, round: 2 }, null],
    ['panel', { index: 1, round: 0 }, null],
    ['a', { index: 0, round: 0 }, 'panel.0'],
    ['odd', null, null],
  ])
})

test('events of an older server, and hand-overs that make no sense, are read all the same', () => {
  const old = { message: 'hello', handedFrom: undefined, step: undefined }
  const view = viewOf(
    starts('desk', old, { actions: undefined as never, authorKind: undefined as never }),
    { type: 'start', kind: 'tool', callId: 'desk.t', content: { name: 'look-up' } },
    { type: 'end', kind: 'tool', callId: 'desk.t', content: { result: 1 }, actions: undefined as never },
    { ...comesBack },
    { ...comesBack, callId: 'nobody' },
    starts('desk.lost', handedFrom('nobody')),
  )
  assert.deepEqual(words(speakersOf(view, 'desk')), ['desk: '])
  assert.deepEqual(speakersOf(view, 'nobody'), [])
  assert.equal(view.calls.get('desk.t')?.transferToAgent, null)
})
