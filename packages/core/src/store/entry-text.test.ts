/** Entries as they are stored: short where they are as the engine makes them, and always read as they were. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { entryOf, entryText } from './entry-text.ts'

const place = {
  ...{ call: 'c_1', parentCall: null, run: 'c_1', document: 'chats/1', author: 'root', agentPath: 'root' },
  invocation: 'c_1',
}
const writer = { seq: 7, at: 1_795_981_945_221, job: 'c_1', epoch: 1, appendNo: 2 }
const counters = {
  ...{ modelCalls: 2, toolCalls: 0, inputTokens: 40, outputTokens: 20, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ totalTokens: 60, costUsd: null, complete: true },
}
const call = { inputTokens: 40, outputTokens: null, cachedInputTokens: 0, reasoningTokens: 0 }
const child = { ...place, call: 'c_2', parentCall: 'c_1', invocation: 'c_1.sub.a', agentPath: 'root/a', author: 'a' }
const runBody = {
  ...{ agent: 'root', revision: 1, toolCallId: null, message: 'Hi.', parameters: {}, generated: null, map: {} },
  ...{ history: 'agent', revisions: { a: 1 }, ordered: true, initial: [], hidden: false, originRunId: null },
}
const callBody = {
  ...{
    agent: 'a',
    message: 'Hi.',
    generated: null,
    map: {},
    history: 'agent',
    revision: 1,
    parameters: {},
    revisions: {},
  },
  ...{ initial: [], hidden: false, originRunId: null, toolCallId: 'call_1' },
}
const reply = {
  ...{ model: 'm', usage: call, finishReason: 'stop', text: 'Hi.', toolCalls: [], taken: 0, startedAt: writer.at - 40 },
  ...{ attempt: 1, offered: true, accepted: true, digest: 'a.b.c' },
}
const run = (body: object) => ({ type: 'start', kind: 'agent', body: { ...runBody, ...body }, place })
const replied = (body: object) => ({ type: 'end', kind: 'model', body: { ...reply, ...body }, place: child })
const entries: Readonly<Record<string, unknown>> = {
  'a run': run({}),
  'a run with a principal': run({ principal: { id: 'user:a', roles: [] } }),
  'a run with parameters': run({ parameters: { a: [] }, initial: [{}], originRunId: 'c_0', hidden: true }),
  'a run whose usual values are others': run({ map: [], initial: {}, history: '', ordered: false, generated: {} }),
  'a run with a field in another place': { type: 'start', kind: 'agent', body: { z: 1, ...runBody }, place },
  'a call of a sub-agent': { type: 'start', kind: 'agent', body: callBody, place: child },
  'a reply': replied({}),
  'a reply that was asked for by another name': {
    type: 'end',
    kind: 'model',
    body: { model: 'm', asked: 'n', ...Object.fromEntries(Object.entries(reply).slice(1)) },
    place: child,
  },
  'a reply with what was read': replied({ readUpTo: 3, kept: { by: 'x', parts: [1] } }),
  'a reply that began later than it ended': replied({ startedAt: writer.at + 7 }),
  'a reply that began between two milliseconds': replied({ startedAt: writer.at - 0.3 }),
  'a reply that began nowhere': replied({ startedAt: null }),
  'a reply that was not accepted': replied({ accepted: false }),
  'a last reply': replied({ offered: false }),
  'a start of a tool': {
    type: 'start',
    kind: 'tool',
    body: { name: 't', toolCallId: 'x', arguments: null, bound: [] },
    place: child,
  },
  'an end of a tool': {
    type: 'end',
    kind: 'tool',
    body: { result: { a: 1 }, truncated: false, bound: ['x'] },
    place: child,
  },
  'an end with other work': {
    ...{ type: 'end', kind: 'agent', place: child },
    body: {
      text: '',
      output: {},
      finishReason: 'length',
      usage: { ...counters, byAgent: {} },
      backgroundTasks: ['c_4'],
    },
  },
  'a call that begins with the sign of a short one': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, call: '_2' },
  },
  'a parent that begins with it': { type: 'notice', kind: null, body: {}, place: { ...child, parentCall: '_2' } },
  'a run that begins with it': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, run: '_', invocation: '.a' },
  },
  'calls without a sign': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, call: 'a', run: 'b', parentCall: '' },
  },
  'a document of another conversation': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, document: 'chats/2/a' },
  },
  'a second document of an agent': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, document: 'chats/1/a~2' },
  },
  'a path without names': { type: 'notice', kind: null, body: {}, place: { ...child, agentPath: '/', author: '' } },
  'no path': { type: 'notice', kind: null, body: {}, place: { ...child, agentPath: '', author: '' } },
  'a branch and a view': { type: 'notice', kind: null, body: {}, place: { ...child, branches: [] }, view: {} },
  'a body that is a list': { type: 'notice', kind: null, body: [1], place: { ...child, call: '_2' } },
  'a message': { type: 'message', kind: null, body: { author: 'user', text: 'Hi.' }, place },
  'the end of an agent': {
    type: 'end',
    kind: 'agent',
    body: { text: 'x', usage: { ...counters, byAgent: { root: counters } }, z: 1 },
    place,
  },
  'the end of an agent with a price': {
    type: 'end',
    kind: 'agent',
    body: { usage: { ...counters, costUsd: 1, priceDate: 'x', byAgent: {} } },
    place,
  },
  'the end of a model call': { type: 'end', kind: 'model', body: { model: 'm', usage: call, text: '' }, place: child },
  'the end of a model call that cost': {
    type: 'end',
    kind: 'model',
    body: { usage: { ...call, costUsd: 1 } },
    place: child,
  },
  'the end of a model call without usage': { type: 'end', kind: 'model', body: { usage: null }, place: child },
  'the end of a tool with a list': { type: 'end', kind: 'tool', body: { result: [1], usage: [1] }, place: child },
  'a branch': { type: 'notice', kind: null, body: {}, place: { ...child, branches: ['a'] } },
  'a view': { type: 'notice', kind: null, body: {}, place: child, view: { by: 'w', upTo: 3 } },
  'an invocation with a dot': { type: 'notice', kind: null, body: {}, place: { ...child, invocation: '.sub.a' } },
  'an invocation of another run': { type: 'notice', kind: null, body: {}, place: { ...child, invocation: 'c_12.sub' } },
  'a call of another job': {
    type: 'notice',
    kind: null,
    body: {},
    place: { ...child, run: 'c_9', parentCall: 'c_9', invocation: 'c_9.sub.b' },
  },
}

for (const [name, fields] of Object.entries(entries))
  test(`${name} is read as it was stored`, () => {
    const entry = { ...(fields as object), ...writer } as Entry
    const read = entryOf(entryText(entry, 'chats/1'), 7, 'chats/1')
    assert.deepEqual(read, entry)
    assert.equal(JSON.stringify(read.body), JSON.stringify(entry.body))
  })

test('a text says nothing that is the same in every call', () => {
  const entry = { ...(entries['a reply'] as object), ...writer } as Entry
  const text = `["end","model",${writer.at},"c_1",[1,2,"_2",0,"root/a"],[2,"m",[40,null],"stop","Hi.",[],0,40,1,"a.b.c"]]`
  assert.equal(entryText({ ...entry, place: { ...child, document: 'chats/1/a' } }, 'chats/1'), text)
})

test('what a run repeats is not stored, and what an earlier version stored is read', () => {
  const entry = { ...(entries['the end of an agent'] as object), ...writer } as Entry
  assert.ok(entryText(entry, 'chats/1').length * 1.6 < JSON.stringify(entry).length)
  const { body, place: at } = { body: { usage: call }, place: child }
  const old = [
    'end',
    'model',
    5,
    'c_1',
    1,
    2,
    at.call,
    'c_1',
    'c_1',
    at.document,
    at.author,
    at.agentPath,
    at.invocation,
    body,
  ]
  assert.deepEqual(entryOf(JSON.stringify(old), 7, 'chats/1'), {
    ...{ type: 'end', kind: 'model', at: 5, job: 'c_1', epoch: 1, appendNo: 2, seq: 7 },
    ...{ body, place: at },
  })
})
