/** How far a tail reads ahead of whoever reads it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { LiveHub } from './live.ts'
import { tail } from './tail.ts'

const place = {
  call: 'c_1',
  parentCall: null,
  run: 'c_1',
  document: 'chats/1',
  author: 'root',
  agentPath: 'root',
  invocation: 'c_1',
}

/** Follows so many entries of so many characters to their end; gives the seqs that came, and how many entries each read was to give. */
async function follow(count: number, characters: number) {
  const entries = Array.from({ length: count }, (_, index): Entry => {
    const body = { author: 'user', text: 'x'.repeat(characters) }
    const of = { at: 0, place, job: 'c_1', epoch: 0, appendNo: index }
    return { ...of, seq: index + 1, type: 'message', kind: null, body } as Entry
  })
  const limits: number[] = []
  const stop = new AbortController()
  const source = {
    conversation: 'chats/1',
    channel: 'chats/1',
    hub: new LiveHub(),
    open: () => Promise.resolve(),
    read: async (after: number, limit: number) => {
      limits.push(limit)
      return entries.slice(after, after + limit)
    },
  }
  const seqs: (number | undefined)[] = []
  for await (const { seq } of tail(source, { from: 0, verbose: true, call: null, signal: stop.signal })) {
    seqs.push(seq)
    if (seqs.length === count) stop.abort()
  }
  return { seqs, limits }
}

test('[F12] a tail reads few large entries ahead, and many small ones; all of them come once and in order', async () => {
  const large = await follow(40, 250_000)
  assert.deepEqual(
    large.seqs,
    Array.from({ length: 40 }, (_, index) => index + 1),
  )
  assert.ok(
    large.limits.slice(1).every((limit) => limit <= 2),
    large.limits.join(),
  )
  const small = await follow(5_000, 100)
  assert.equal(small.seqs.at(-1), 5_000)
  assert.equal(small.limits.at(-1), 500)
  assert.ok(small.limits.length < 20, small.limits.join())
})
