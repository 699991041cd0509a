/** How far a tool call has come reaches those who read now, in this process and in others; nothing of it is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../identity/clock.ts'
import { type Delta, LiveHub } from './live.ts'
import { toDeltaEvent } from './project.ts'
import { createRelay } from './relay.ts'

const place = {
  call: 'c_2',
  parentCall: 'c_1',
  run: 'c_1',
  document: 'chats/1',
  author: 'root',
  agentPath: 'root',
  invocation: 'c_1',
}
const steps = [1, 2, 3].map((progress): Delta => {
  const message = progress === 2 ? null : `step ${progress}`
  return { place, text: '', attempt: 0, at: 5, progress: { progress, total: 3, message } }
})

function readBy(hub: LiveHub): Delta[] {
  const deltas: Delta[] = []
  hub.join('c', { entries() {}, doubt() {}, gone() {}, delta: (one) => deltas.push(one) })
  return deltas
}

test('progress reaches readers as an event of its tool call, and whoever comes later is told nothing', () => {
  const hub = new LiveHub()
  const deltas = readBy(hub)
  for (const one of steps) hub.delta('c', one)
  assert.deepEqual(deltas, steps)
  assert.deepEqual(hub.texts('c'), [])
  const event = toDeltaEvent(steps[0] as Delta, 'chats/1', false)
  assert.deepEqual([event.type, event.kind, event.callId], ['delta', 'tool', 'c_2'])
  assert.deepEqual(event.content, { progress: 1, total: 3, message: 'step 1' })
})

test('of the progress of one call between two notifications other processes get the last', () => {
  const due: (() => void)[] = []
  const clock: Clock = {
    now: () => 1_000,
    after: (_, run) => {
      due.push(run)
      return () => {}
    },
  }
  const hub = new LiveHub()
  const sent: string[] = []
  const relay = createRelay({ hub, clock, send: (_, text) => sent.push(text) })
  relay.received('c', '{"reads":true}')
  due.length = 0
  for (const one of steps) hub.delta('c', one)
  for (const run of due) run()
  assert.equal(sent.length, 1)

  const other = new LiveHub()
  const deltas = readBy(other)
  createRelay({ hub: other, clock, send: () => {} }).received('c', sent[0] ?? '')
  assert.deepEqual(deltas, steps.slice(2))
})
