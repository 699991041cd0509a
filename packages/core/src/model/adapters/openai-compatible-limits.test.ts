/** How long a reply may take and how long it may be, and what of an error is read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chunk,
  createFakeProvider,
  type FakeAnswer,
  eventStream,
  jsonAnswer,
} from '../../../../../test/support/fake-provider.ts'
import { failure, hello, play, raw, request, withoutDone } from '../../../../../test/support/compatible-call.ts'
import { openaiCompatible } from './openai-compatible.ts'

const key = 'sk-very-secret-0123456789'

test('silence ends the call, before the reply and in it; a slow reader is no silence', async () => {
  const before = failure(await play({ ...eventStream([]), chunks: [], end: 'hang' }, { timeoutMs: 30 }))
  assert.match(before.message, /nothing of its reply for 30 ms/)
  assert.equal(before.retryable, true)
  const timeoutMs = 2_000 // long enough for whatever is sent, also on a machine that is busy
  const line = `data: ${JSON.stringify(chunk({ content: 'x'.repeat(60) }, 'stop'))}\n\ndata: [DONE]\n\n`
  const [middle, after, slow, dripping] = await Promise.all([
    play({ ...withoutDone(eventStream(hello.slice(0, 1))), end: 'hang' }, { timeoutMs }),
    play({ ...withoutDone(eventStream(hello)), end: 'hang' }, { timeoutMs }),
    readSlowly({ timeoutMs, pauseMs: 2_500 }),
    play({ chunks: line.match(/.{1,4}/gs) ?? [], paceMs: 50 }, { timeoutMs }),
  ])
  assert.deepEqual([middle.deltas, failure(middle).retryable], [['Hel'], false])
  assert.equal(after.reply?.text, 'Hello')
  assert.equal(slow, 'Hello')
  assert.equal(dripping.reply?.text, 'x'.repeat(60))
})

test('what says nothing of a reply does not keep a call alive', { timeout: 30_000 }, async () => {
  const nothings = [
    ': ping\n\n',
    ':\n',
    '\n',
    'event: ping\nid: 1\nretry: 5\n\n',
    'data:\n\n',
    'data: \n\n',
    '  \n',
    ': half',
  ]
  const endless = (chunks: readonly string[], again = nothings): FakeAnswer => ({ chunks, endless: again, paceMs: 2 })
  const documents = (some: readonly unknown[]) => some.map((one) => `data: ${JSON.stringify(one)}\n\n`)
  const timeoutMs = 300
  const [before, padded, middle, tail] = await Promise.all([
    play(endless([]), { timeoutMs }),
    play(endless([], [' ', '\n']), { timeoutMs }),
    play(endless(documents(hello.slice(0, 1))), { timeoutMs }),
    play(endless(documents(hello)), { timeoutMs }),
  ])
  for (const one of [before, padded]) {
    assert.match(failure(one).message, /nothing of its reply for 300 ms/)
    assert.equal(failure(one).retryable, true)
  }
  assert.deepEqual([middle.deltas, failure(middle).retryable], [['Hel'], false])
  assert.equal(tail.reply?.text, 'Hello')
})

test('a reply that goes on and on ends at the limit for the whole call', { timeout: 30_000 }, async () => {
  const empty = `data: ${JSON.stringify(chunk({}))}\n\n`
  const error = failure(await play({ chunks: [], endless: [empty], paceMs: 2 }, { totalTimeoutMs: 300 }))
  assert.match(error.message, /took more than 300 ms/)
  assert.deepEqual([error.retryable, error.trouble, error.mayHaveCost], [false, 'time', true])
  const long = await play(
    { chunks: [], endless: ['data: ', '{', '"a":', '1', '}\n'], paceMs: 2 },
    { totalTimeoutMs: 300 },
  )
  assert.match(failure(long).message, /took more than 300 ms/)
})

/** The text of a reply whose reader takes its time over the first piece. */
async function readSlowly({ timeoutMs, pauseMs }: { readonly timeoutMs: number; readonly pauseMs: number }) {
  const provider = await createFakeProvider([eventStream(hello, { paceMs: 2 })])
  const model = openaiCompatible({ baseUrl: provider.baseUrl, model: 'm', timeoutMs })
  let text = ''
  let hasPaused = false
  for await (const part of model.stream(request, { signal: new AbortController().signal, deltas: true })) {
    if (part.type === 'reply') text = part.reply.text
    else if (!hasPaused) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    hasPaused = true
  }
  await provider.close()
  return text
}

test('a document of more than ten megabytes ends the call; a stream of small ones may have more', async () => {
  const piece = 'x'.repeat(1_000_000)
  const error = failure(await play(raw('data: {"x":"', ...Array.from({ length: 12 }, () => piece), '"}\n\n')))
  assert.equal(error.retryable, false)
  assert.match(error.message, /more than 10485760 bytes/)
  const thought = eventStream([...Array.from({ length: 12 }, () => chunk({ reasoning_content: piece })), ...hello])
  assert.equal((await play(thought)).reply?.text, 'Hello')
  const endless = { chunks: [], endless: [`data: ${JSON.stringify(chunk({ reasoning_content: piece }))}\n\n`] }
  assert.match(failure(await play(endless)).message, /more than 67108864 bytes/)
})

test('a reply of more than a million characters ends the call, also where tool calls have them', async () => {
  const half = 'x'.repeat(500_000)
  const called = (text: string) =>
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: text } }] })
  const whole = await play(eventStream([chunk({ content: half }), called(half), ...hello.slice(-1)]))
  assert.equal(whole.reply?.text.length, half.length)
  const error = failure(await play(eventStream([chunk({ content: half }), called(`${half}x`)])))
  assert.equal(error.retryable, false)
  assert.match(error.message, /wrote more than 1000000 characters/)
})

test('a reply of more than 10,000 calls ends the call, plain or streamed', async () => {
  const one = { id: 'a', function: { name: 'f', arguments: '{}' } }
  const calls = (times: number) => Array.from({ length: times }, () => one)
  const plain = (times: number) =>
    jsonAnswer({ choices: [{ message: { tool_calls: calls(times) }, finish_reason: 'tool_calls' }] })
  const streamed = (times: number) =>
    eventStream([chunk({ tool_calls: calls(5_000) }), chunk({ tool_calls: calls(times - 5_000) }), ...hello.slice(-1)])
  for (const answer of [plain, streamed]) {
    assert.equal((await play(answer(10_000))).reply?.toolCalls.length, 10_000)
    const error = failure(await play(answer(10_001)))
    assert.equal(error.retryable, false)
    assert.match(error.message, /asked for more than 10000 calls of tools in one reply/)
  }
})

test('a long error is cut before it is cleaned, and no part of a key is left at the cut', async () => {
  const space = ' '.repeat(65_536)
  for (let shown = 1; shown <= key.length; shown += 1) {
    const text = `So:${space.slice(3 + shown)}${key} and more`
    for (const answer of [jsonAnswer({ error: { message: text } }), raw(`{${text}`)])
      assert.match(failure(await play(answer, { apiKey: key })).message, /: \{?So:$/)
  }
})

test('JSON with too many values or keys is not parsed, in either form of a reply', async () => {
  const many = `{"choices":[${'{},'.repeat(100_000)}{}]}`
  const keys = `{"choices":[{"delta":{${Array.from({ length: 10_001 }, (_, at) => `"key${at}":0`).join()}}}]}`
  for (const [text, words] of [
    [many, /sent JSON that is too large to read: it has more than 100000 values/],
    [keys, /more than 10000 different keys/],
  ] as const)
    for (const chunks of [[text], [`data: ${text}\n\n`], [`data: ${text.slice(0, 15)}\ndata: ${text.slice(15)}\n\n`]]) {
      const error = failure(await play({ chunks }))
      assert.match(error.message, words)
      assert.equal(error.retryable, false)
    }
})

test('thoughts that are too long or have very many keys are read in time and not kept; the rest of the reply is', {
  timeout: 10_000,
}, async () => {
  /** A hundred in each document. */
  const details = (count: number, one: (at: number) => object) =>
    Array.from({ length: count / 100 }, (_, page) => {
      const some = Array.from({ length: 100 }, (__, at) => ({ index: 0, ...one(100 * page + at) }))
      return chunk({ content: 'x', reasoning_details: some })
    })
  const words = 'a'.repeat(10_000)
  const kinds: readonly [documents: readonly Record<string, unknown>[], isKept: boolean][] = [
    [details(20_000, (at) => ({ [`key${at}`]: at })), false],
    [details(300, () => ({ text: words })), false],
    [Array.from({ length: 300 }, () => chunk({ content: 'x', reasoning_content: words })), false],
    [details(20_000, () => ({ text: 'word' })), true],
    [details(100, () => ({ text: words })), true],
  ]
  for (const [documents, isKept] of kinds) {
    const { reply } = await play(eventStream([...documents, chunk({}, 'stop')]))
    assert.equal(reply?.text, 'x'.repeat(documents.length))
    assert.equal(reply?.kept?.parts !== null, isKept)
  }
})

test('a reply whose calls have more than a million characters of ids and names ends the call', async () => {
  const name = 'n'.repeat(200_000)
  const calls = (some: readonly object[]) => eventStream([chunk({ tool_calls: some }), chunk({}, 'tool_calls')])
  const many = Array.from({ length: 6 }, (_, index) => ({ index, id: `${index}`, function: { name, arguments: '{}' } }))
  assert.match(failure(await play(calls(many))).message, /1000000 characters in the ids and names of the calls/)
  assert.match(
    failure(await play(calls(many.map((one) => ({ ...one, id: name + one.index, function: { name: 'f' } }))))).message,
    /ids and names/,
  )
  // A server that repeats them with each piece has not written more.
  const again = Array.from({ length: 5_000 }, () => ({
    index: 0,
    id: 'a'.repeat(300),
    function: { name: 'f', arguments: '[' },
  }))
  assert.equal((await play(calls(again))).reply?.toolCalls.length, 1)
})
