/** Tests of the adapter for AI SDK models beyond the conformance kit: types, errors, conversion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { APICallError, LoadAPIKeyError } from '@ai-sdk/provider'
import { isWitanError } from '@witan/protocol'
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import type { ModelMessage } from '../message.ts'
import type { Model, ModelReply, ModelRequest } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { aiSdkModel } from './ai-sdk.ts'
import type { AiSdkCall, AiSdkLanguageModel } from './ai-sdk-types.ts'

// The real types must fit ours, and what we pass must fit theirs; a failure here is a failure of the type check.
type Fits<From extends To, To> = From
export type RealModelsFit = Fits<LanguageModelV2 | LanguageModelV3 | LanguageModelV4, AiSdkLanguageModel>
type Written<Options> = Pick<Options, keyof Options & keyof AiSdkCall>
export type CallFits = Fits<
  Omit<AiSdkCall, 'tools' | 'responseFormat'>,
  Omit<Written<LanguageModelV4CallOptions>, 'tools' | 'responseFormat'>
>

const messages: readonly ModelMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: 'Well',
    toolCalls: [
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'f', arguments: 'no JSON' },
    ],
  },
  { role: 'tool', toolCallId: 'a', name: 'f', content: 'one' },
  { role: 'tool', toolCallId: 'b', name: 'f', content: 'two' },
]
const tools = [{ name: 'f', description: 'Does it.', parameters: { type: 'object' } }]
const request: ModelRequest = {
  messages,
  tools,
  toolChoice: 'auto',
  temperature: null,
  reasoningEffort: null,
  output: null,
}

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: undefined, reasoning: undefined },
}
const stop = { unified: 'stop', raw: undefined } as const

async function last(model: Model, deltas: boolean, asked = request): Promise<ModelReply> {
  let reply: ModelReply | undefined
  for await (const part of model.stream(asked, { signal: new AbortController().signal, deltas })) {
    if (part.type === 'reply') reply = part.reply
  }
  assert.ok(reply)
  return reply
}

const failing = (error: unknown) => aiSdkModel(new MockLanguageModelV4({ doGenerate: () => Promise.reject(error) }))

function streaming(parts: readonly LanguageModelV4StreamPart[]): Model {
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
  return aiSdkModel(new MockLanguageModelV4({ doStream: { stream } }))
}

async function errorOf(model: Model, deltas: boolean): Promise<ModelCallError> {
  const error: unknown = await last(model, deltas).then(
    () => assert.fail('no error'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ModelCallError)
  return error
}

test('the prompt is that of the AI SDK: results of one reply in one message, arguments parsed', async () => {
  const mock = new MockLanguageModelV4({ doGenerate: { content: [], finishReason: stop, usage, warnings: [] } })
  const model = aiSdkModel(mock)
  await last(model, false)
  await last(model, false)
  const [first, second] = mock.doGenerateCalls
  const result = (toolCallId: string, value: string) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'f',
    output: { type: 'text', value },
  })
  const called = (toolCallId: string, input: unknown) => ({ type: 'tool-call', toolCallId, toolName: 'f', input })
  assert.deepEqual(first?.prompt, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Well' }, called('a', { x: 1 }), called('b', {})] },
    { role: 'tool', content: [result('a', 'one'), result('b', 'two')] },
  ])
  assert.deepEqual(first?.tools, [
    { type: 'function', name: 'f', description: 'Does it.', inputSchema: { type: 'object' } },
  ])
  assert.deepEqual(second?.tools, first?.tools)
  assert.deepEqual(second?.prompt[2], first?.prompt[2])
})

test('the plain call is used where nobody reads deltas, the stream where somebody does', async () => {
  const mock = new MockLanguageModelV4({
    doGenerate: { content: [{ type: 'text', text: 'plain' }], finishReason: stop, usage, warnings: [] },
    doStream: {
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'text-delta', id: '1', delta: 'streamed' })
          controller.enqueue({ type: 'finish', finishReason: stop, usage })
          controller.close()
        },
      }),
    },
  })
  assert.equal((await last(aiSdkModel(mock), false)).text, 'plain')
  assert.equal((await last(aiSdkModel(mock), true)).text, 'streamed')
})

test('what the provider did itself is no call of ours, and structured text is taken where a schema was asked for', async () => {
  const content = [
    { type: 'text', text: 'Draft.' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true },
    { type: 'tool-call', toolCallId: 'b', toolName: 'f', input: '' },
  ] as const
  const doGenerate = { content: [...content], finishReason: stop, usage, warnings: [], structuredOutputText: '{"x":1}' }
  const model = aiSdkModel(new MockLanguageModelV4({ doGenerate }))
  const free = await last(model, false)
  assert.deepEqual(
    [free.text, free.toolCalls, free.finishReason],
    ['Draft.', [{ id: 'b', name: 'f', arguments: '{}' }], 'tool_calls'],
  )
  const shaped = await last(model, false, { ...request, output: { name: 'out', schema: {} } })
  assert.equal(shaped.text, '{"x":1}')
})

test('the word of an API error counts, and the conversation it carries is not kept', async () => {
  const api = (more: object) =>
    new APICallError({ message: 'Slow down.', url: 'http://x', requestBodyValues: { secret: 'prompt' }, ...more })
  const limited = await errorOf(failing(api({ statusCode: 429, responseHeaders: { 'retry-after': '3' } })), false)
  assert.deepEqual([limited.status, limited.retryable, limited.retryAfterMs], [429, true, 3_000])
  assert.match(limited.message, /Slow down\./)
  assert.equal(limited.cause, undefined)
  const final = await errorOf(failing(api({ statusCode: 500, isRetryable: false })), false)
  assert.deepEqual([final.status, final.retryable], [500, false])
  const broken = await errorOf(
    failing(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })),
    false,
  )
  assert.deepEqual([broken.status, broken.retryable], [null, true])
  assert.equal((await errorOf(failing(new TypeError('x is undefined')), false)).retryable, false)
  const unset = await errorOf(failing(new LoadAPIKeyError({ message: 'The key is missing.' })), false)
  assert.deepEqual([unset.trouble, unset.mayHaveCost], ['access', false])
})

test('an error part, an end without a finish, and an interruption end the call', async () => {
  const text: LanguageModelV4StreamPart = { type: 'text-delta', id: '1', delta: 'Half' }
  const wrong: LanguageModelV4StreamPart = { type: 'error', error: { message: 'overloaded', code: 503 } }
  const cut: LanguageModelV4StreamPart = {
    type: 'finish',
    finishReason: { unified: 'interrupted', raw: undefined },
    usage,
  }
  for (const parts of [[wrong], [], [cut]]) {
    assert.equal((await errorOf(streaming(parts), true)).retryable, true)
    assert.equal((await errorOf(streaming([text, ...parts]), true)).retryable, false)
  }
  assert.equal((await errorOf(streaming([wrong]), true)).status, 503)
})

test('a reply of more than a million characters ends the call, plain or streamed', async () => {
  const half = 'x'.repeat(500_000)
  const text: LanguageModelV4StreamPart = { type: 'text-delta', id: '1', delta: half }
  const called = (input: string) => ({ type: 'tool-call', toolCallId: 'a', toolName: 'f', input }) as const
  const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: stop, usage }
  assert.equal((await last(streaming([text, called(half), finish]), true)).text, half)
  for (const parts of [
    [text, text, { ...text, delta: 'x' }],
    [text, called(`${half}x`), finish],
  ])
    assert.match((await errorOf(streaming(parts), true)).message, /wrote more than 1000000 characters/)
  const content = [{ type: 'text', text: `${half}${half}x` } as const]
  const plain = new MockLanguageModelV4({ doGenerate: { content, finishReason: stop, usage, warnings: [] } })
  assert.equal((await errorOf(aiSdkModel(plain), false)).retryable, false)
})

test('a reply of more than 10,000 calls ends the call, plain or streamed', async () => {
  const calls = (times: number) =>
    Array.from(
      { length: times },
      (_, at) => ({ type: 'tool-call', toolCallId: `${at}`, toolName: 'f', input: '{}' }) as const,
    )
  const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: stop, usage }
  assert.equal((await last(streaming([...calls(10_000), finish]), true)).toolCalls.length, 10_000)
  const result = { content: calls(10_001), finishReason: stop, usage, warnings: [] }
  const plain = aiSdkModel(new MockLanguageModelV4({ doGenerate: result }))
  for (const error of [await errorOf(streaming([...calls(10_001), finish]), true), await errorOf(plain, false)]) {
    assert.match(error.message, /asked for more than 10000 calls of tools in one reply/)
    assert.equal(error.retryable, false)
  }
})

test('ids and names of calls of more than a million characters end the call, plain or streamed', async () => {
  const half = 'x'.repeat(500_000)
  const call = (toolCallId: string, toolName: string) =>
    ({ type: 'tool-call', toolCallId, toolName, input: '{}' }) as const
  const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: stop, usage }
  assert.equal((await last(streaming([call(half, half), finish]), true)).toolCalls.length, 1)
  for (const calls of [
    [call(`${half}${half}x`, 'f')],
    [call('a', `${half}${half}`)],
    [call(half, 'f'), call(half, 'f')],
  ]) {
    const plain = new MockLanguageModelV4({ doGenerate: { content: calls, finishReason: stop, usage, warnings: [] } })
    const endless = [...calls, { type: 'text-delta', id: '1', delta: 'x' } as const]
    for (const error of [
      await errorOf(streaming([...calls, finish]), true),
      await errorOf(streaming(endless), true),
      await errorOf(aiSdkModel(plain), false),
    ]) {
      assert.match(error.message, /more than 1000000 characters in the ids and names of the calls of one reply/)
      assert.equal(error.retryable, false)
    }
  }
})

test('an ending that no provider named is a stream that stopped, unless tokens were counted', async () => {
  const text: LanguageModelV4StreamPart = { type: 'text-delta', id: '1', delta: 'Half' }
  const counted = (total: number | undefined) => ({
    inputTokens: { ...usage.inputTokens, total },
    outputTokens: { ...usage.outputTokens, total },
  })
  const ending = (raw: string | undefined, total: number | undefined): LanguageModelV4StreamPart => {
    return { type: 'finish', finishReason: { unified: 'other', raw }, usage: counted(total) }
  }
  assert.match((await errorOf(streaming([text, ending(undefined, undefined)]), true)).message, /in the middle/)
  assert.match((await errorOf(streaming([text, ending('insufficient_system_resource', 3)]), true)).message, /middle/)
  assert.equal((await last(streaming([text, ending(undefined, 3)]), true)).text, 'Half')
  assert.equal((await last(streaming([text, ending('eos', undefined)]), true)).text, 'Half')
})

test('what is no model of V2 to V4 is refused at once', () => {
  for (const wrong of ['openai/gpt-5', null, { specificationVersion: 'v1' }]) {
    assert.throws(
      () => aiSdkModel(wrong as unknown as AiSdkLanguageModel),
      (error) => isWitanError(error) && error.code === 'CONFIG_INVALID',
    )
  }
})

test('an abort while the stream is being opened closes the stream that comes too late', async () => {
  const controller = new AbortController()
  const reason = new Error('stop')
  const cancelled = Promise.withResolvers<void>()
  const stream = new ReadableStream<LanguageModelV4StreamPart>({ cancel: () => cancelled.resolve() })
  const late = Promise.withResolvers<void>()
  const model = aiSdkModel(new MockLanguageModelV4({ doStream: () => late.promise.then(() => ({ stream })) }))
  const first = model.stream(request, { signal: controller.signal, deltas: true })[Symbol.asyncIterator]().next()
  setImmediate(() => controller.abort(reason))
  await assert.rejects(first, (error) => error === reason)
  late.resolve()
  await cancelled.promise
})

test('how much to think is told to a model of V4, and to none before it [F08]', async () => {
  const done = { content: [], finishReason: stop, usage, warnings: [] }
  const asked = { ...request, reasoningEffort: 'low' } as const
  const mock = new MockLanguageModelV4({ doGenerate: done })
  await last(aiSdkModel(mock), false, asked)
  await last(aiSdkModel(mock), false)
  assert.deepEqual(
    mock.doGenerateCalls.map(({ reasoning }) => reasoning),
    ['low', undefined],
  )
  const earlier = new MockLanguageModelV3({ doGenerate: done })
  await last(aiSdkModel(earlier), false, asked)
  assert.ok(!('reasoning' in (earlier.doGenerateCalls[0] ?? assert.fail())))
})

test('[Rb56] what was written to a cache is counted in each specification, and is part of the input', async () => {
  const flat = { inputTokens: 20, outputTokens: 8, totalTokens: 28, cachedInputTokens: 50 }
  const anthropic = { anthropic: { cacheCreationInputTokens: 100 } }
  const broken = {
    inputTokens: { total: 170, noCache: 20, cacheRead: 50, cacheWrite: 100 },
    outputTokens: { total: 8, text: 8, reasoning: undefined },
  }
  const given: readonly (readonly ['v2' | 'v3' | 'v4', object, object | undefined, readonly unknown[]])[] = [
    ['v2', flat, anthropic, [170, 50, 100]],
    ['v2', flat, { anthropic: { cacheCreationInputTokens: null } }, [70, 50, undefined]],
    ['v2', flat, { openai: {} }, [20, 50, undefined]],
    ['v3', broken, undefined, [170, 50, 100]],
    ['v4', broken, anthropic, [170, 50, 100]],
  ]
  for (const [specificationVersion, told, providerMetadata, wanted] of given) {
    const finish = { finishReason: specificationVersion === 'v2' ? 'stop' : stop, usage: told, providerMetadata }
    const model = aiSdkModel({
      specificationVersion,
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => ({ content: [], ...finish, warnings: [] }) as never,
      doStream: async () => ({ stream: ReadableStream.from([{ type: 'finish', ...finish }]) }) as never,
    })
    for (const deltas of [false, true]) {
      const { usage: counted } = await last(model, deltas)
      const parts = [counted?.inputTokens, counted?.cachedInputTokens, counted?.cacheWriteTokens]
      assert.deepEqual(parts, wanted, `${specificationVersion}, deltas ${deltas}`)
    }
  }
})
