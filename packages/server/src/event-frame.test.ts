/** A frame that readers share says what one of their own would. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyEvent, WitanError } from '@witan/protocol'
import fc from 'fast-check'
import { eventFrame, lastFrame } from './event-frame.ts'
import { encodeFrame } from './sse.ts'
import { holds } from '../../../test/support/seeds.ts'

function eventOf(text: string, seq?: number): AnyEvent {
  const place = { callId: 'c_1', parentCallId: null, rootCallId: 'c_1', conversationId: 'chats/1', document: 'chats/1' }
  const who = {
    author: 'root',
    agentPath: 'root',
    invocationId: 'c_1',
    branch: null,
    branchPath: [],
    authorKind: 'agent' as const,
  }
  const event = { type: 'delta', kind: 'agent', ...place, ...who, at: '', content: { text }, actions: {} } as AnyEvent
  return seq === undefined ? event : { seq, ...event }
}

/** As it was before frames were shared. */
function ownFrame(event: AnyEvent): string {
  const data = JSON.stringify(event)
  return encodeFrame(
    event.seq === undefined ? { event: event.type, data } : { id: String(event.seq), event: event.type, data },
  )
}

test('the bytes are those of a frame of one’s own, frozen or not, the first time and the next', async (context) => {
  await holds(
    context,
    fc.property(fc.string({ unit: 'binary' }), fc.option(fc.nat(), { nil: undefined }), (text, seq) => {
      const event = eventOf(text, seq)
      assert.equal(eventFrame(event).toString(), Buffer.from(ownFrame(event)).toString())
      Object.freeze(event)
      for (let times = 0; times < 2; times += 1)
        assert.equal(eventFrame(event).toString(), Buffer.from(ownFrame(event)).toString())
    }),
    100,
  )
})

test('a frozen event is encoded once for all its readers; one that may change is encoded anew', () => {
  const shared = Object.freeze(eventOf('hello', 1))
  assert.equal(eventFrame(shared), eventFrame(shared))
  const own = eventOf('hello', 1)
  assert.notEqual(eventFrame(own), eventFrame(shared))
  assert.notEqual(eventFrame(own), eventFrame(own))
  own.content['text'] = 'changed'
  assert.match(eventFrame(own).toString(), /changed/)
})

test('what is kept is bounded: many frames, or a large one, push out those before', () => {
  const first = Object.freeze(eventOf('first', 1))
  const frame = eventFrame(first)
  for (let seq = 2; seq <= 70; seq += 1) eventFrame(Object.freeze(eventOf('next', seq)))
  assert.notEqual(eventFrame(first), frame)
  const large = Object.freeze(eventOf('x'.repeat(1_000_001), 80))
  assert.notEqual(eventFrame(large), eventFrame(large))
  const [one, other] = [81, 82].map((seq) => Object.freeze(eventOf('x'.repeat(600_000), seq))) as [AnyEvent, AnyEvent]
  const kept = eventFrame(one)
  eventFrame(other)
  assert.notEqual(eventFrame(one), kept)
})

test('a reader whose events went back, or whose process is too old, gets a last frame with the seq to go on from; no other error becomes one', () => {
  const went = new WitanError('EVENT_ID_AHEAD', 'Events are lost.', { details: { from: 40 } })
  const data = 'data: {"from":40,"detail":"Events are lost."}'
  assert.equal(lastFrame(went), `id: 40\nevent: went_back\n${data}\n\n`)
  assert.equal(lastFrame(went, 43), lastFrame(went))
  const old = new WitanError('SCHEMA_TOO_NEW', 'Events are lost.', { details: { from: 40 } })
  assert.equal(lastFrame(old, 43), `id: 40\nevent: taken_over\n${data}\n\n`)
  assert.equal(lastFrame(new WitanError('SCHEMA_TOO_NEW', 'Events are lost.'), 40), lastFrame(old))
  for (const other of [
    new Error('broken'),
    new WitanError('EVENT_ID_AHEAD', 'Not there.'),
    new WitanError('SCHEMA_TOO_NEW', 'Not told.'),
    new WitanError('INTERNAL', 'x'),
  ])
    assert.equal(lastFrame(other), null)
})
