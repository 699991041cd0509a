/** How far a tail reads ahead of whoever reads it, and what its readers share. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import type { Event } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { jsonLength } from '../identity/json-length.ts'
import { boundedRows, type ReadBound } from '../identity/row-page.ts'
import { type Delta, LiveHub } from './live.ts'
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

/** Follows so many entries of so many characters to their end; gives the seqs that came, and how many entries each read gave. */
async function follow(count: number, characters: number) {
  const entries = Array.from({ length: count }, (_, index): Entry => {
    const body = { author: 'user', text: 'x'.repeat(characters) }
    const of = { at: 0, place, job: 'c_1', epoch: 0, appendNo: index }
    return { ...of, seq: index + 1, type: 'message', kind: null, body } as Entry
  })
  const counts: number[] = []
  const stop = new AbortController()
  const source = {
    database: 'default',
    conversation: 'chats/1',
    channel: 'chats/1',
    hub: new LiveHub(),
    open: () => Promise.resolve(),
    read: async (after: number, limit: number, bound: ReadBound) => {
      const read = boundedRows(entries.slice(after, after + limit), bound, ({ body }) => jsonLength(body))
      counts.push(read.length)
      return read
    },
  }
  const seqs: (number | undefined)[] = []
  for await (const { seq } of tail(source, { from: 0, verbose: true, call: null, signal: stop.signal })) {
    seqs.push(seq)
    if (seqs.length === count) stop.abort()
  }
  return { seqs, counts }
}

test('[F12] a tail reads few large entries ahead, and many small ones; all of them come once and in order', async () => {
  const large = await follow(40, 250_000)
  assert.deepEqual(
    large.seqs,
    Array.from({ length: 40 }, (_, index) => index + 1),
  )
  assert.ok(
    large.counts.every((count) => count <= 2),
    large.counts.join(),
  )
  const small = await follow(5_000, 100)
  assert.equal(small.seqs.at(-1), 5_000)
  assert.equal(small.counts[0], 500)
  assert.ok(small.counts.length < 20, small.counts.join())
})

test('[I15] what a tail keeps for a reader that stands still is bounded, where large entries follow small ones too', async () => {
  const entries = Array.from({ length: 60 }, (_, index): Entry => {
    const body = { author: 'user', text: 'x'.repeat(index < 20 ? 10 : 250_000) }
    const of = { at: 0, place, job: 'c_1', epoch: 0, appendNo: index }
    return { ...of, seq: index + 1, type: 'message', kind: null, body } as Entry
  })
  const stop = new AbortController()
  const source = {
    database: 'default',
    conversation: 'chats/1',
    channel: 'chats/1',
    hub: new LiveHub(),
    open: () => Promise.resolve(),
    read: async (after: number, limit: number, bound: ReadBound) =>
      boundedRows(entries.slice(after, after + limit), bound, ({ body }) => jsonLength(body)),
  }
  const held: (() => number)[] = []
  const onTail = (inbox: unknown): void =>
    void held.push(() => (inbox as { readonly heldBytes: () => number }).heldBytes())
  subscribe('witan.tail', onTail)
  const seqs: (number | undefined)[] = []
  let most = 0
  for await (const { seq } of tail(source, { from: 0, verbose: true, call: null, signal: stop.signal })) {
    seqs.push(seq)
    most = Math.max(most, held[0]?.() ?? 0)
    if (seqs.length === entries.length) stop.abort()
  }
  unsubscribe('witan.tail', onTail)
  assert.deepEqual(
    seqs,
    entries.map(({ seq }) => seq),
  )
  assert.ok(most > 250_000 && most < 800_000, `${most} bytes`)
})

/** Reads so many live events of a conversation. */
async function readLive(
  hub: LiveHub,
  {
    conversation,
    verbose,
    count,
  }: { readonly conversation: string; readonly verbose: boolean; readonly count: number },
): Promise<Event[]> {
  const stop = new AbortController()
  const source = { database: 'default', conversation, channel: 'c', hub, open: async () => {}, read: async () => [] }
  const events: Event[] = []
  for await (const event of tail(source, { from: 0, verbose, call: null, signal: stop.signal })) {
    events.push(event)
    if (events.length === count) stop.abort()
  }
  return events
}

test('live readers share one frozen event, see no more than they may, and a fork has its own', async () => {
  const hub = new LiveHub()
  const entryOf = (seq: number, call: string): Entry => {
    const body = { author: 'user', text: `${seq}` }
    const of = { at: 0, place: { ...place, call }, job: 'c_1', epoch: 0, appendNo: seq }
    return { ...of, seq, type: 'message', kind: null, body } as Entry
  }
  const own = { conversation: 'chats/1', verbose: true, count: 3 }
  const reading = [own, own, { ...own, verbose: false, count: 2 }, { ...own, conversation: 'chats/fork' }]
  const all = Promise.all(reading.map((one) => readLive(hub, one)))
  await new Promise((resolve) => setImmediate(resolve))
  const below: Delta = {
    place: { ...place, call: 'c_2', parentCall: 'c_1', invocation: 'c_1.sub.other' },
    text: 'hidden',
    attempt: 1,
    at: 0,
  }
  hub.entries('c', [entryOf(1, 'c_1')])
  hub.delta('c', below)
  hub.entries('c', [entryOf(2, 'c_1')])
  const [one, other, terse, fork] = await all
  assert.deepEqual(one, other)
  for (const [index, event] of (one ?? []).entries()) {
    assert.equal(event, other?.[index])
    assert.ok(Object.isFrozen(event) && Object.isFrozen(event.content))
  }
  assert.deepEqual(
    terse?.map(({ seq }) => seq),
    [1, 2],
  )
  assert.deepEqual(
    fork,
    one?.map((event) => ({ ...event, conversationId: 'chats/fork' })),
  )
})

test('what waits for a slow reader is joined, but never reasoning with text, nor with what begins anew', async () => {
  const hub = new LiveHub()
  const stop = new AbortController()
  const source = {
    database: 'default',
    conversation: 'chats/1',
    channel: 'c',
    hub,
    open: async () => {},
    read: async () => [],
  }
  const events = tail(source, { from: 0, verbose: true, call: null, signal: stop.signal })
  const first = events.next()
  await new Promise((resolve) => setImmediate(resolve))
  const say = (text: string, more: Partial<Delta> = {}) => hub.delta('c', { place, text, attempt: 1, at: 0, ...more })
  for (let count = 0; count < 100; count += 1) say('r', { reasoning: true })
  say('', { reasoning: true, whole: true })
  for (let count = 0; count < 50; count += 1) say('R', { reasoning: true })
  for (let count = 0; count < 50; count += 1) say('t')
  let reasoned = ''
  let said = ''
  let count = 0
  for (let next = first; said.length < 50; next = events.next()) {
    const event = (await next).value as Event & { content: { reasoning?: string; text?: string; snapshot?: true } }
    const { kind, content } = event
    assert.equal(kind, content.reasoning === undefined ? 'agent' : 'reasoning')
    if (content.snapshot === true) reasoned = ''
    reasoned += content.reasoning ?? ''
    said += content.text ?? ''
    count += 1
  }
  stop.abort()
  assert.deepEqual([reasoned, said], ['R'.repeat(50), 't'.repeat(50)])
  assert.ok(count < 75, `${count} events`)
})
