/** The exchanges of a run: what readers get of very much. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { exchangesOf } from './exchange-view.ts'

test('[Tb27] of many long messages the first are shown whole, and of the others the beginning', async () => {
  const ends = { id: 'x', protocol: 'talk', revision: 1, initiator: 'a', responder: 'b', state: null, finished: false }
  const messages = Array.from({ length: 40 }, (_, seq) => {
    const text = seq === 39 ? 'Short.' : 'x'.repeat(500_000)
    const exchange = { ...ends, name: 'ask', isReply: false, body: { text } }
    return { seq, type: 'message', place: { run: 'r' }, job: 'j', body: { author: 'a', exchange } } as unknown as Entry
  })
  const [exchange] = await exchangesOf(ReadableStream.from(messages), 'r')
  const bodies = exchange?.messages.map(({ body }) => body) ?? []
  assert.equal(bodies.length, 40)
  assert.equal((bodies[0] as { text: string }).text.length, 500_000)
  assert.match(String(bodies[20]), /^\{"text":"x+ \[cut: 1000 of 500011 characters\]$/)
  assert.deepEqual(bodies[39], { text: 'Short.' })
  assert.ok(JSON.stringify(exchange).length < 4_200_000)
})
