/** What a view makes of reasoning: apart from the text, summed over model calls, and void with its attempt. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyEvent } from '@witan/protocol'
import { createConversationFold } from './conversation-fold.ts'

type Given = readonly [type: string, content?: object, kind?: AnyEvent['kind']]

/** Events of one call, a second apart. */
function callOf(...given: readonly Given[]) {
  const fold = createConversationFold()
  let seq = 0
  for (const [index, [type, content = {}, kind = null]] of given.entries()) {
    if (type !== 'delta') seq += 1
    fold.take({
      ...(type === 'delta' ? {} : { seq }),
      type,
      kind,
      callId: 'a',
      parentCallId: null,
      rootCallId: 'a',
      conversationId: 'chats/1',
      document: 'chats/1',
      author: 'root',
      agentPath: 'root',
      invocationId: 'a',
      branch: null,
      branchPath: [],
      authorKind: 'agent' as const,
      at: new Date(index * 1000).toISOString(),
      content,
      actions: {},
    } as AnyEvent)
  }
  return fold.view.calls.get('a') ?? assert.fail('no call')
}

const starts: Given = ['start', { message: 'Go' }, 'agent']
const reasons = (reasoning: unknown, attempt = 1, more: object = {}): Given => [
  'delta',
  { reasoning, attempt, ...more },
  'reasoning',
]
const says = (text: string, attempt = 1, more: object = {}): Given => ['delta', { text, attempt, ...more }, 'agent']
const replies: Given = ['end', { model: 'm', usage: null, finishReason: 'stop' }, 'model']
const ends: Given = ['end', { text: 'Done.', output: null, finishReason: 'stop' }, 'agent']

test('reasoning is never part of the text, and ends with the first piece of text', () => {
  const before = callOf(starts, reasons('Let me '), reasons('see.'))
  assert.deepEqual([before.text, before.reasoned?.text], ['', 'Let me see.'])
  assert.equal(before.reasoned?.since, new Date(1000).toISOString())
  const call = callOf(starts, reasons('Let me '), reasons('see.'), says('Yes'), says('.'))
  assert.deepEqual([call.text, call.reasoned], ['Yes.', { text: 'Let me see.', settled: 0, ms: 2000, since: null }])
})

test('that of several model calls is put together, with an empty line between them', () => {
  const call = callOf(starts, reasons('One.'), replies, reasons('Two.', 2), says('Yes.', 2), replies, ends)
  assert.deepEqual(call.reasoned, { text: 'One.\n\nTwo.', settled: 10, ms: 2000, since: null })
  assert.equal(call.text, 'Done.')
})

test('a snapshot and a higher attempt replace what the present model call reasoned, and no more', () => {
  const words = (...given: readonly Given[]) => callOf(starts, reasons('One.'), replies, ...given).reasoned?.text
  assert.equal(words(reasons('Two', 2), reasons('Two, all of it.', 2, { snapshot: true })), 'One.\n\nTwo, all of it.')
  assert.equal(words(reasons('try 1', 2), reasons('', 2, { snapshot: true }), reasons('try 2', 2)), 'One.\n\ntry 2')
  assert.equal(words(reasons('lost', 2), reasons('again', 9)), 'One.\n\nagain')
  assert.equal(words(reasons('lost', 2), says('Yes.', 9)), 'One.')
  assert.equal(words(reasons('new', 9), reasons('late', 2)), 'One.\n\nnew')
})

test('text of a higher attempt replaces the text also behind its own reasoning', () => {
  const call = callOf(starts, says('Half'), reasons('Again.', 2), says('Whole', 2))
  assert.equal(call.text, 'Whole')
})

test('who comes late gets both snapshots', () => {
  const call = callOf(
    starts,
    reasons('Let me see.', 3, { snapshot: true }),
    says('Ye', 3, { snapshot: true }),
    says('s', 3),
  )
  assert.deepEqual([call.text, call.reasoned?.text], ['Yes', 'Let me see.'])
})

test('a call that shows no reasoning has none, and nothing that a server sends throws', () => {
  assert.equal(callOf(starts, says('Yes.'), replies, ends).reasoned, null)
  for (const odd of [7, null, {}, [], undefined]) assert.equal(callOf(starts, reasons(odd)).reasoned?.text, '')
  const call = callOf(starts, ['delta', { reasoning: 'x' }, 'reasoning'], ends, reasons('late', 5))
  assert.deepEqual([call.reasoned?.text, call.reasoned?.since], ['x', null])
})
