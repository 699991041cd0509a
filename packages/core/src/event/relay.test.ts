/** What a relay makes of texts from other processes: those of a relay arrive, and any other changes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../identity/clock.ts'
import { type Delta, LiveHub } from './live.ts'
import { createRelay } from './relay.ts'

const clock: Clock = { now: () => 1_000, after: () => () => {} }
const place = {
  call: 'c_1',
  parentCall: null,
  run: 'c_1',
  document: 'chats/1',
  author: 'root',
  agentPath: 'root',
  invocation: 'c_1',
}
const delta = { place, text: 'hello', attempt: 1, at: 5 }

function relayed() {
  const hub = new LiveHub()
  const sent: string[] = []
  const deltas: Delta[] = []
  const relay = createRelay({ hub, clock, send: (_, text) => sent.push(text) })
  hub.join('c', {
    entries() {},
    doubt() {},
    gone: () => assert.fail('nothing is gone'),
    delta: (one) => deltas.push(one),
  })
  sent.length = 0
  return { hub, relay, sent, deltas }
}

test('a text that is no message of a relay changes nothing and throws nothing', () => {
  const { hub, relay, sent, deltas } = relayed()
  const bad = [
    { ...delta, place: null },
    { ...delta, place: { ...place, call: 1 } },
    { ...delta, text: null },
    { ...delta, attempt: '1' },
    { ...delta, at: 9e15 },
    { ...delta, whole: false },
    { reads: false },
    { text: 'no place' },
  ]
  const texts = ['', 'not JSON', 'null', '1', '[]', '{}', '"reads"', '{"__proto__":{"reads":true}}']
  for (const text of [...texts, ...bad.map((one) => JSON.stringify(one))]) relay.received('c', text)
  assert.deepEqual([deltas, sent, hub.texts('c')], [[], [], []])
  assert.equal(hub.isRead('other'), false)
})

test('a piece of text arrives as it is, and a new reader elsewhere is sent the text so far', () => {
  const { hub, relay, sent, deltas } = relayed()
  relay.received('c', JSON.stringify(delta))
  assert.deepEqual(deltas, [delta])
  hub.delta('c', { ...delta, text: ` ${'å'.repeat(1_500)}` })
  assert.deepEqual(sent, [], 'nobody reads elsewhere')
  relay.received('c', '{"reads":true}')
  const parts = sent.map((text) => JSON.parse(text) as Delta)
  assert.equal(parts.map(({ text }) => text).join(''), `hello ${'å'.repeat(1_500)}`)
  assert.deepEqual(
    parts.map(({ whole }) => whole),
    [true, undefined],
  )
  assert.ok(sent.every((text) => Buffer.byteLength(text) < 5_000))
  relay.received('c', '{"reads":true}')
  assert.equal(sent.length, 2, 'a reader that is known is sent nothing again')
})

test('reasoning goes from process to process apart from text, and an earlier version takes it for nothing', () => {
  const { hub, relay, sent, deltas } = relayed()
  const reasoning = { ...delta, reasoning: true } as const
  relay.received('c', '{"reads":true}')
  hub.delta('c', { ...reasoning, text: 'Let me see.' })
  hub.delta('c', { ...delta, text: 'Yes.' })
  assert.deepEqual(
    hub.texts('c').map(({ text, reasoning: is }) => [text, is]),
    [
      ['Let me see.', true],
      ['Yes.', undefined],
    ],
  )
  relay.close()
  const other = relayed()
  other.hub.received('c', { ...reasoning, text: 'Let me see.' })
  other.hub.received('c', { ...delta, text: 'Yes.' })
  other.relay.received('c', '{"reads":true}')
  const messages = other.sent.map((text) => JSON.parse(text) as Record<string, unknown>)
  assert.deepEqual(
    messages.map(({ text, reasoning: words }) => [text, words]),
    [
      [undefined, 'Let me see.'],
      ['Yes.', undefined],
    ],
  )
  deltas.length = 0
  const third = relayed()
  for (const text of other.sent) third.relay.received('c', text)
  assert.deepEqual(
    third.deltas.map(({ text, reasoning: is, whole }) => [text, is, whole]),
    [
      ['Let me see.', true, true],
      ['Yes.', undefined, true],
    ],
  )
  assert.deepEqual(sent, [])
})

test('reasoning that begins anew replaces what another process has of it', () => {
  let flush = () => {}
  const hub = new LiveHub()
  const sent: string[] = []
  const waits: Clock = {
    now: () => 1_000,
    after: (ms, run) => {
      if (ms === 50) flush = run
      return () => {}
    },
  }
  const relay = createRelay({ hub, clock: waits, send: (_, text) => sent.push(text) })
  relay.received('c', '{"reads":true}')
  for (const [text, whole] of [['try 1'], ['', true], ['try '], ['2']] as const)
    hub.delta('c', { ...delta, reasoning: true, text, ...(whole === undefined ? {} : { whole }) })
  flush()
  const there = relayed()
  there.relay.received('c', JSON.stringify({ place, reasoning: 'try 1', attempt: 1, at: 5 }))
  for (const text of sent) there.relay.received('c', text)
  assert.deepEqual(
    there.hub.texts('c').map(({ text }) => text),
    ['try 2'],
  )
})
