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
const entries: Readonly<Record<string, unknown>> = {
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
    const read = entryOf(entryText(entry), 7)
    assert.deepEqual(read, entry)
    assert.equal(JSON.stringify(read.body), JSON.stringify(entry.body))
  })

test('what a run repeats is not stored, and what an earlier version stored is read', () => {
  const entry = { ...(entries['the end of an agent'] as object), ...writer } as Entry
  assert.ok(entryText(entry).length * 1.6 < JSON.stringify(entry).length, entryText(entry))
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
  assert.deepEqual(entryOf(JSON.stringify(old), 7), {
    ...{ type: 'end', kind: 'model', at: 5, job: 'c_1', epoch: 1, appendNo: 2, seq: 7 },
    ...{ body, place: at },
  })
})
