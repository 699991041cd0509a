/** The encoder against a parser written by others, and what happens to slow readers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { encodeComment, encodeFrame, type StreamEnd, streamResponse } from './sse.ts'
import { unreadBytes } from './unread.ts'
import { holds } from '../../../test/support/seeds.ts'

function parse(chunks: readonly string[]): EventSourceMessage[] {
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => messages.push(event) })
  for (const chunk of chunks) parser.feed(chunk)
  return messages
}

const lines = fc.array(
  fc.constantFrom('\r', '\n', '\r\n', ' ', ':', '\0', '\ufeff', '\ud800', 'data: x', 'é', '😀', '\u2028', 'a'),
)

test('any data survives the encoder, line breaks as LF, whatever the chunks', async (context) => {
  await holds(
    context,
    fc.property(fc.array(lines, { minLength: 1 }), fc.integer({ min: 1, max: 7 }), (texts, size) => {
      const whole = texts
        .map((text, index) => encodeFrame({ id: String(index), event: 'start', data: text.join('') }))
        .join(encodeComment('ping'))
      const chunks = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const messages = parse(chunks)
      const wanted = texts.map((text) => text.join('').replace(/\r\n|\r|\n/g, '\n'))
      assert.deepEqual(
        messages.map((message) => message.data),
        wanted,
      )
      assert.deepEqual(
        messages.map((message) => message.id),
        texts.map((_, index) => String(index)),
      )
    }),
    100,
  )
})

test('JSON data is one line, so it arrives byte for byte', async (context) => {
  await holds(
    context,
    fc.property(fc.jsonValue(), (value) => {
      const [message] = parse([encodeFrame({ event: 'x', data: JSON.stringify(value) })])
      assert.equal(message?.data, JSON.stringify(value))
      assert.equal(message?.id, undefined)
    }),
    100,
  )
})

test('an id or a name of two lines is a mistake of ours', () => {
  assert.throws(() => encodeFrame({ id: '1\n2', data: '' }))
  assert.throws(() => encodeComment('a\rb'))
})

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue() && tries < 1_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(isTrue())
}

const limits = { pingMs: 60_000, maxQueuedBytes: 1_000, stallMs: 20, minBytes: 100 }

interface Ends {
  readonly ends: StreamEnd[]
  readonly ended: Promise<void>
  readonly onEnd: (end: StreamEnd) => void
}

function collectEnds(): Ends {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ends: StreamEnd[] = []
  return { ends, ended: promise, onEnd: (end) => resolve(void ends.push(end)) }
}

async function* endless(signal: AbortSignal, sent: { count: number }): AsyncGenerator<string> {
  while (!signal.aborted) {
    sent.count++
    yield encodeFrame({ data: 'x'.repeat(92) })
  }
}

test('a stuck reader stops its source at the limit and is ended with a comment', async () => {
  const { ends, ended, onEnd } = collectEnds()
  const sent = { count: 0 }
  const stop = new AbortController().signal
  const response = streamResponse((signal) => endless(signal, sent), { stop, onEnd, limits })
  const reader = response.body?.getReader()
  assert.equal(sent.count, 0, 'nothing is read before the reader reads')
  await reader?.read()
  await ended
  assert.deepEqual(ends, ['slow'])
  assert.ok(sent.count <= 13, `${sent.count} frames of 100 bytes for a limit of 1000`)
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), ': slow_consumer\n\n')
  assert.equal((await reader?.read())?.done, true)
})

test('a reader that keeps reading gets everything and is never cut', async () => {
  const { ends, onEnd } = collectEnds()
  async function* source(): AsyncGenerator<string> {
    for (let index = 0; index < 500; index++) yield encodeFrame({ id: String(index), data: 'x'.repeat(50) })
  }
  const response = streamResponse(source, { stop: new AbortController().signal, onEnd, limits })
  const messages = parse([await response.text()])
  assert.equal(messages.length, 500)
  assert.deepEqual(ends, ['done'])
})

test('sixteen streams whose readers take nothing hold no more than the bound; those who took nothing for longest are cut off', async () => {
  const { ends, onEnd } = collectEnds()
  const stop = new AbortController()
  const most = { ...limits, stallMs: 60_000, mostBytes: 8_000 }
  let held = 0
  const readers = []
  for (let index = 0; index < 16; index += 1) {
    const sent = { count: 0 }
    const response = streamResponse((signal) => endless(signal, sent), { stop: stop.signal, onEnd, limits: most })
    const reader = response.body?.getReader()
    await reader?.read()
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      held = Math.max(held, unreadBytes())
    }
    readers.push(reader)
  }
  assert.ok(held > 6_000 && held <= most.mostBytes, `${held} bytes`)
  assert.ok(ends.length >= 8, `${ends.length} were cut off`)
  assert.deepEqual([...new Set(ends)], ['slow'])
  const last = Buffer.from((await readers[0]?.read())?.value ?? []).toString()
  assert.equal(last, ': slow_consumer\n\n')
  assert.match(Buffer.from((await readers[15]?.read())?.value ?? []).toString(), /^data: x/)
  await Promise.all(readers.map((reader) => reader?.cancel()))
  assert.equal(unreadBytes(), 0)
})

test('who does not take the rest of a stream that has ended is disconnected', async () => {
  const { ends, onEnd } = collectEnds()
  async function* source(): AsyncGenerator<string> {
    for (let index = 0; index < 5; index += 1) yield encodeFrame({ data: 'x'.repeat(92) })
  }
  const cut = Promise.withResolvers<void>()
  const stop = new AbortController().signal
  const response = streamResponse(source, { stop, onEnd, limits, destroy: cut.resolve })
  const reader = response.body?.getReader()
  await reader?.read()
  assert.ok(unreadBytes() > 0)
  await until(() => unreadBytes() === 0)
  assert.deepEqual(ends, ['done'])
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), ': slow_consumer\n\n')
})

test('leaving and stopping end the source', async () => {
  for (const how of ['disconnected', 'stopped'] as const) {
    const { ends, onEnd } = collectEnds()
    const stop = new AbortController()
    const seen: AbortSignal[] = []
    async function* source(signal: AbortSignal): AsyncGenerator<string> {
      seen.push(signal)
      yield encodeFrame({ data: 'first' })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const reader = streamResponse(source, { stop: stop.signal, onEnd, limits }).body?.getReader()
    await reader?.read()
    if (how === 'disconnected') await reader?.cancel()
    else stop.abort()
    assert.deepEqual(ends, [how])
    assert.equal(seen[0]?.aborted, true)
    if (how === 'stopped') assert.equal((await reader?.read())?.done, true)
  }
})

test('a waiting reader is pinged; a source that fails ends the stream without its words', async () => {
  const quick = { ...limits, pingMs: 5 }
  async function* waiting(signal: AbortSignal): AsyncGenerator<string> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    yield ''
  }
  const stop = new AbortController().signal
  const reader = streamResponse(waiting, { stop, limits: quick }).body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), ': ping\n\n')
  await reader?.cancel()
  async function* failing(): AsyncGenerator<string> {
    yield encodeFrame({ data: 'first' })
    throw new Error('secret')
  }
  const { ends, onEnd } = collectEnds()
  assert.equal(await streamResponse(failing, { stop, onEnd, limits }).text(), 'data: first\n\n')
  assert.deepEqual(ends, ['failed'])
})
