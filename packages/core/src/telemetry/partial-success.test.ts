/** What a collector's answer says of the spans that it did not take, in both encodings, and answers that say nothing. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sendOtlp } from './otlp.ts'
import { rejectedSpans } from './partial-success.ts'
import type { Parcel } from './parcel-queue.ts'

const json = (text: string) => rejectedSpans(Buffer.from(text), 'application/json; charset=utf-8')
const protobuf = (hex: string) => rejectedSpans(Buffer.from(hex, 'hex'), 'application/x-protobuf')

test('[E80] the spans that a collector did not take are read from its answer', () => {
  assert.equal(json('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}'), 3)
  assert.equal(json('{"partialSuccess":{"rejectedSpans":3}}'), 3)
  // field 1 (length 11): field 1 = 300, field 2 = "too old"
  assert.equal(protobuf('0a0c08ac021207746f6f206f6c64'), 300)
  // an unknown field before it, and the message before the number
  assert.equal(protobuf('12017a0a0b1207746f6f206f6c640803'), 3)
})

test('[E80] an answer that says nothing, or nothing sound, counts none', () => {
  const silent = ['', '{}', 'null', '[]', 'no', '{"partialSuccess":null}', '{"partialSuccess":{"rejectedSpans":"-1"}}']
  silent.push('{"partialSuccess":{"rejectedSpans":"1e400"}}', '{"partialSuccess":{"rejectedSpans":{}}}')
  for (const text of silent) assert.equal(json(text), 0, text)
  const odd = ['', '0a00', '0a02', '0a0208', 'ff'.repeat(40), '0a7f0803', '0b', '0a0a08ffffffffffffffffff01', '0803']
  for (const hex of odd) assert.equal(protobuf(hex), 0, hex)
})

test('[E80] a request that is taken in part counts as sent, and never more spans than it had as not taken', async () => {
  const answer = '{"partialSuccess":{"rejectedSpans":"7"}}'
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(answer))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
  const { promise: said, resolve: leftOut } = Promise.withResolvers<number>()
  const target = { url, headers: {}, protocol: 'http/json' as const, timeoutMs: 5_000, resource: [], leftOut }
  const parcel: Parcel = { group: '', count: 2, bytes: 2, data: '{}', summary: null }
  const sent = await sendOtlp(target, [parcel, parcel], new AbortController().signal)
  assert.deepEqual([sent, await said], [{ kind: 'taken' }, 4])
  server.close()
  server.closeAllConnections()
})
