/** Tests of the adapter against a server that misbehaves on demand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { chunk, createFakeProvider, eventStream, jsonAnswer } from '../../../../../test/support/fake-provider.ts'
import { call, failure, hello, play, raw, request, withoutDone } from '../../../../../test/support/compatible-call.ts'
import { type OpenAICompatibleOptions, openaiCompatible } from './openai-compatible.ts'

const key = 'sk-very-secret-0123456789'

test('a key is sent as a bearer token, and nothing without one', async () => {
  const open = await play(eventStream(hello))
  assert.equal(open.provider.requests[0]?.headers.authorization, undefined)
  const keyed = await play(eventStream(hello), { apiKey: key, headers: { 'x-team': 'blue' } })
  const headers = keyed.provider.requests[0]?.headers
  assert.deepEqual(
    [headers?.authorization, headers?.['x-team'], headers?.['content-type']],
    [`Bearer ${key}`, 'blue', 'application/json'],
  )
})

test('a stream is read whatever it calls itself', async () => {
  const { chunks } = eventStream(hello)
  for (const type of ['text/event-stream; charset=utf-8', 'application/json', 'text/plain']) {
    const { reply } = await play({ chunks, headers: { 'content-type': type } })
    assert.deepEqual([reply?.text, reply?.model], ['Hello', 'fake-1'])
  }
})

test('a plain reply is read whatever it calls itself', async () => {
  const choices = [{ message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop' }]
  for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
    const { reply, deltas } = await play(jsonAnswer({ choices }, { headers: { 'content-type': type } }))
    assert.deepEqual([reply?.text, deltas, reply?.usage, reply?.model], ['Hello', ['Hello'], null, null])
  }
})

test('a stream without [DONE], with keep-alives, or without a last line end is whole', async () => {
  assert.equal((await play(withoutDone(eventStream(hello)))).reply?.text, 'Hello')
  const lines = hello.map((value) => `: ping\r\n\r\ndata: ${JSON.stringify(value)}`).join('\r\n\r\n')
  assert.equal((await play(raw(...lines))).reply?.text, 'Hello')
})

test('[DONE] without a finish reason is an end', async () => {
  const { reply } = await play(eventStream(hello.slice(0, 2)))
  assert.deepEqual([reply?.text, reply?.finishReason], ['Hello', 'stop'])
})

test('bytes cut inside a character make no difference', async () => {
  const bytes = new TextEncoder().encode(eventStream([chunk({ content: 'Ås ☔ 👩‍🚀' }, 'stop')]).chunks.join(''))
  const { reply, deltas } = await play(raw(...[...bytes].map((byte) => Uint8Array.of(byte))))
  assert.equal(reply?.text, 'Ås ☔ 👩‍🚀')
  assert.equal(deltas.join(''), reply.text)
})

test('usage comes with its own chunk, in the last one, or in all of them', async () => {
  const usage = { prompt_tokens: 9, completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 3 } }
  const expected = { inputTokens: 9, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 3 }
  const streams = [
    [...hello, { choices: [], usage }],
    [chunk({ content: 'Hello' }, 'stop', usage)],
    [chunk({ content: 'Hello' }, null, { prompt_tokens: 9, completion_tokens: 1 }), chunk({}, 'stop', usage)],
  ]
  for (const documents of streams) assert.deepEqual((await play(eventStream(documents))).reply?.usage, expected)
  const odd = { prompt_tokens: null, completion_tokens: -1, prompt_tokens_details: null }
  const { reply } = await play(eventStream([chunk({ content: 'x' }, 'stop', odd)]))
  assert.deepEqual(reply?.usage, { inputTokens: null, outputTokens: null, cachedInputTokens: 0, reasoningTokens: 0 })
})

test('[Rb56] what a cache was read and written for is found under each name that servers have for it', async () => {
  const counts = { prompt_tokens: 90, completion_tokens: 4 }
  const told: readonly (readonly [object, number, number | undefined])[] = [
    [{ prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 } }, 20, 30], // OpenAI, OpenRouter
    [{ prompt_tokens_details: { cached_tokens: 20, cache_creation_input_tokens: 30 } }, 20, 30], // Qwen
    [{ prompt_tokens_details: { cached_tokens: 20 }, cache_creation_input_tokens: 30 }, 20, 30], // LiteLLM
    [{ prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 70 }, 20, undefined], // DeepSeek
    [{ cached_tokens: 20 }, 20, undefined], // Moonshot
    [{ num_cached_tokens: 20, cache_creation_input_tokens: 0 }, 20, undefined], // Mistral
    [{ prompt_tokens_details: { cached_tokens: 'many', cache_write_tokens: -1 } }, 0, undefined],
  ]
  for (const [parts, read, written] of told) {
    const { reply } = await play(eventStream([chunk({ content: 'x' }, 'stop', { ...counts, ...parts })]))
    const { usage } = reply ?? {}
    assert.deepEqual([usage?.inputTokens, usage?.cachedInputTokens, usage?.cacheWriteTokens], [90, read, written])
    assert.equal('cacheWriteTokens' in (usage ?? {}), written !== undefined, 'an entry does not grow for nothing')
  }
})

test('finish reasons are those of the contract, and calls count more than the word stop', async () => {
  const tool_calls = [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }]
  const table = [
    [{ content: 'x' }, 'stop', 'stop'],
    [{ content: 'x' }, 'length', 'length'],
    [{ content: 'x' }, 'content_filter', 'content_filter'],
    [{ content: 'x' }, 'content_filter: RECITATION', 'content_filter'],
    [{ content: '' }, 'PROHIBITED_CONTENT', 'content_filter'], // Google
    [{ content: '' }, 'refusal', 'content_filter'], // Anthropic
    [{ content: 'x' }, 'model_length', 'length'], // Mistral
    [{ content: 'x' }, 'MAX_TOKENS', 'length'],
    [{ content: 'x' }, 'constructor', 'stop'],
    [{ content: 'x' }, 'eos', 'stop'],
    [{ content: 'x' }, 'tool_calls', 'stop'],
    [{ refusal: 'No.' }, 'stop', 'content_filter'],
    [{ tool_calls }, 'stop', 'tool_calls'],
    [{ tool_calls }, 'function_call', 'tool_calls'],
    [{ tool_calls }, 'length', 'length'],
    [{ content: [{ type: 'text', text: 'x' }], reasoning_content: 'hm' }, 'stop', 'stop'],
  ] as const
  for (const [delta, told, expected] of table) {
    assert.equal((await play(eventStream([chunk(delta, told)]))).reply?.finishReason, expected)
  }
})

test('a call without an id gets one that the conversation does not have', async () => {
  const tool_calls = [
    { index: 0, function: { name: 'f' } },
    { index: 1, function: { name: 'f' } },
  ]
  const { reply } = await play(eventStream([chunk({ tool_calls }, 'tool_calls')]))
  assert.deepEqual(reply?.toolCalls, [
    { id: 'call_0', name: 'f', arguments: '{}' },
    { id: 'call_1', name: 'f', arguments: '{}' },
  ])
})

test('a refusal is an error with the words of the server, its status and its wish, and never the key', async () => {
  const bodies = [
    { error: { message: `Key ${key} is over its limit.` } },
    { error: `Key ${key} is over its limit.` },
    [{ error: { message: `Key ${key} is over its limit.` } }],
    { detail: [{ msg: `Key ${key} is over its limit.` }] },
  ]
  for (const body of bodies) {
    const headers = { 'content-type': 'application/json', 'retry-after': '7' }
    const error = failure(await play(jsonAnswer(body, { status: 429, headers }), { apiKey: key }))
    assert.deepEqual([error.status, error.retryable, error.retryAfterMs], [429, true, 7_000])
    assert.match(error.message, /answered 429: Key \[secret\] is over its limit\.$/)
    assert.ok(!JSON.stringify([error, String(error.stack), String(error.cause)]).includes(key))
  }
})

test('what may pass is retryable, and nothing else', async () => {
  const table = {
    400: false,
    401: false,
    403: false,
    404: false,
    408: true,
    409: true,
    422: false,
    425: true,
    429: true,
    500: true,
    529: true,
  }
  for (const [status, retryable] of Object.entries(table)) {
    const error = failure(await play({ status: Number(status), chunks: ['<html>Oops</html>'] }))
    assert.deepEqual([error.status, error.retryable, error.message.includes('<')], [Number(status), retryable, false])
  }
})

test('a redirect is not followed', async () => {
  const error = failure(await play({ status: 307, headers: { location: 'http://127.0.0.1:1/' }, chunks: [] }))
  assert.deepEqual([error.status, error.retryable], [307, false])
  assert.match(error.message, /baseUrl/)
})

test('an error in the middle ends the call after the text that came before it', async () => {
  const wrong = { error: { message: 'overloaded', code: 503 } }
  const { chunks } = eventStream([chunk({ content: 'Half' }), wrong])
  const late = await play(raw(chunks.join('')))
  assert.deepEqual([late.deltas.join(''), failure(late).retryable, failure(late).status], ['Half', false, 503])
  const early = await play(eventStream([wrong]))
  assert.deepEqual([failure(early).retryable, failure(early).status], [true, 503])
  assert.match(failure(early).message, /overloaded/)
  const refused = await play(jsonAnswer({ error: { message: 'bad tool', type: 'invalid_request_error' } }))
  assert.equal(failure(refused).retryable, false)
  const old = await play(eventStream([{ object: 'error', message: 'too long', code: 400 }]))
  assert.deepEqual([failure(old).retryable, failure(old).status], [false, 400])
})

test('a stream that is cut before its finish reason is an error, retryable only while no text was given', async () => {
  for (const end of ['proper', 'break'] as const) {
    const early = failure(await play({ ...withoutDone(eventStream([chunk({ role: 'assistant' })])), end }))
    assert.equal(early.retryable, true)
    const late = await play({ ...withoutDone(eventStream(hello.slice(0, 2))), end })
    assert.deepEqual([late.deltas.join(''), failure(late).retryable, failure(late).trouble], ['Hello', false, 'break'])
  }
  assert.equal(failure(await play(raw())).retryable, true)
})

test('a reply that the server gave up is an error, whatever came of it', async () => {
  for (const reason of ['insufficient_system_resource', 'network_error']) {
    const early = failure(await play(eventStream([chunk({}, reason)])))
    assert.deepEqual([early.retryable, early.mayHaveCost], [true, true])
    const late = failure(await play(eventStream([chunk({ content: 'Half' }), chunk({}, reason)])))
    assert.equal(late.retryable, false)
    assert.match(late.message, new RegExp(reason))
  }
})

test('a connection that breaks after the finish reason leaves a whole reply', async () => {
  const { reply } = await play({ ...withoutDone(eventStream(hello)), end: 'break' })
  assert.deepEqual([reply?.text, reply?.usage], ['Hello', null])
})

test('what is no chat completion says so', async () => {
  assert.match(failure(await play(raw('<!doctype html><p>Welcome'))).message, /web page.*baseUrl/)
  assert.match(failure(await play(raw('data: {"choices":[\n\n'))).message, /not JSON/)
  assert.match(failure(await play(raw('Not found'))).message, /in the middle/)
})

test('a server that cannot be reached is a retryable error that names the reason', async () => {
  const gone = await createFakeProvider([])
  await gone.close()
  const error = failure(await call({ baseUrl: gone.baseUrl, apiKey: key }))
  assert.deepEqual([error.status, error.retryable], [null, true])
  assert.match(error.message, /127\.0\.0\.1:\d+ could not be reached.*ECONNREFUSED/)
})

test('a connection is used again once its reply has ended', async () => {
  const provider = await createFakeProvider([eventStream(hello)])
  const texts: unknown[] = []
  for (let time = 0; time < 8; time += 1) {
    texts.push((await call({ baseUrl: provider.baseUrl }, time > 0)).reply?.text)
    await provider.idle()
  }
  await provider.close()
  assert.deepEqual(texts, Array(8).fill('Hello'))
  // The server may see the end of a reply before the client does, so a second connection is allowed.
  assert.ok(provider.connections() <= 2, String(provider.connections()))
})

test('a call that is left or aborted ends its connection', async () => {
  const provider = await createFakeProvider([{ ...withoutDone(eventStream(hello.slice(0, 1))), end: 'hang' }])
  const model = openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' })
  for await (const part of model.stream(request, { signal: new AbortController().signal, deltas: true })) {
    assert.deepEqual(part, { type: 'delta', text: 'Hel' })
    break
  }
  await provider.idle()
  const controller = new AbortController()
  const stream = model.stream(request, { signal: controller.signal, deltas: true })[Symbol.asyncIterator]()
  await stream.next()
  controller.abort(new Error('stop'))
  await assert.rejects(stream.next(), /stop/)
  await provider.idle()
  await provider.close()
})

test('an address or a header that can never work is refused at once, without its value', () => {
  const make = (options: Partial<OpenAICompatibleOptions>) => () =>
    openaiCompatible({ baseUrl: 'http://localhost/v1', model: 'm', ...options })
  for (const baseUrl of ['', 'localhost:11434/v1', 'ftp://user:pw@x/v1', 'http://user:pw@localhost/v1']) {
    assert.throws(
      make({ baseUrl }),
      (error) => isWitanError(error) && error.code === 'CONFIG_INVALID' && !error.message.includes('pw'),
    )
  }
  assert.throws(
    make({ apiKey: `${key}\nx` }),
    (error) => isWitanError(error) && error.cause === undefined && !error.message.includes(key),
  )
  assert.equal(make({})().id, 'localhost/m')
  assert.equal(make({ id: 'local/qwen3' })().id, 'local/qwen3')
})
