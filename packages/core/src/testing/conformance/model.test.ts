/** Runs the conformance kit of models over every implementation. */
import { describe } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import { aiSdkModel } from '../../model/adapters/ai-sdk.ts'
import { openaiCompatible } from '../../model/adapters/openai-compatible.ts'
import type { Model } from '../../model/model.ts'
import { ModelCallError } from '../../model/model.ts'
import type { FakeAnswer, FakeRequest } from '../../../../../test/support/fake-provider.ts'
import { chunk, createFakeProvider, eventStream, jsonAnswer } from '../../../../../test/support/fake-provider.ts'
import type { ScriptedReply } from '../scripted-model.ts'
import { scriptedModel } from '../scripted-model.ts'
import type { Asked, ModelHarness, ModelUnderTest, Play } from './model.ts'
import { testModel } from './model.ts'

type Reply = Extract<Play, { type: 'reply' }>

// over HTTP: our own adapter, streamed and plain, and the real package of the AI SDK

function overHttp(name: string, connect: (baseUrl: string) => Model, answer: (play: Play) => FakeAnswer): ModelHarness {
  const open = async (plays: readonly Play[]): Promise<ModelUnderTest> => {
    const provider = await createFakeProvider(plays.map(answer))
    return {
      model: connect(provider.baseUrl),
      asked: () => provider.requests.map(askedOverHttp),
      close: () => provider.close(),
    }
  }
  return { name, open }
}

function askedOverHttp({ body }: FakeRequest): Asked {
  const read = body as {
    messages: { role: string }[]
    tools?: { function: { name: string } }[]
    tool_choice?: string
    temperature?: number
    response_format?: { json_schema: { schema: unknown } }
  }
  return {
    roles: read.messages.map(({ role }) => role),
    tools: (read.tools ?? []).map((tool) => tool.function.name),
    toolChoice: read.tool_choice ?? null,
    temperature: read.temperature ?? null,
    schema: read.response_format?.json_schema.schema ?? null,
  }
}

function streamedAnswer(play: Play): FakeAnswer {
  if (play.type === 'refuse') return jsonAnswer({ error: { message: play.message } }, { status: play.status })
  const texts = (play.pieces ?? []).map((content) => chunk({ content }))
  if (play.type !== 'reply') {
    const { chunks } = eventStream(texts)
    return { ...eventStream([]), chunks: chunks.slice(0, -1), end: play.type }
  }
  const calls = (play.toolCalls ?? []).flatMap((call, index) => {
    const half = Math.ceil(call.arguments.length / 2)
    const begin = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
    const parts = [call.arguments.slice(0, half), call.arguments.slice(half)]
    return [begin, ...parts.map((text) => ({ index, function: { arguments: text } }))].map((piece) =>
      chunk({ tool_calls: [piece] }),
    )
  })
  const usage = wireUsage(play)
  const tail = usage === undefined ? [] : [{ ...chunk({}), choices: [], usage }]
  return eventStream([
    chunk({ role: 'assistant', content: '' }),
    ...texts,
    ...calls,
    chunk({}, wireFinish(play)),
    ...tail,
  ])
}

function plainAnswer(play: Play): FakeAnswer {
  // A plain answer has no pieces: what breaks off or hangs can only be a stream.
  if (play.type !== 'reply') return streamedAnswer(play)
  const tool_calls = (play.toolCalls ?? []).map((call) => {
    return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }
  })
  const message = {
    role: 'assistant',
    content: (play.pieces ?? []).join(''),
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  }
  const choices = [{ index: 0, message, finish_reason: wireFinish(play) }]
  return jsonAnswer({ id: 'chatcmpl-1', object: 'chat.completion', model: 'fake-1', choices, usage: wireUsage(play) })
}

function wireFinish(play: Reply): string {
  return play.finishReason ?? (play.toolCalls === undefined ? 'stop' : 'tool_calls')
}

function wireUsage({ usage }: Reply): unknown {
  if (usage === undefined || usage === null) return undefined
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}

const ours = (baseUrl: string) => openaiCompatible({ baseUrl, model: 'fake-1', apiKey: 'sk-test-key' })
testModel(overHttp('openai-compatible, streamed', ours, streamedAnswer))
testModel(overHttp('openai-compatible, plain', ours, plainAnswer))

function real(baseUrl: string): Model {
  const provider = createOpenAICompatible({
    name: 'fake',
    baseURL: baseUrl,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  return aiSdkModel(provider('fake-1'))
}

// The package calls plainly without deltas and streams with them, so its server answers as it was asked.
function realHarness(): ModelHarness {
  const open = async (plays: readonly Play[]): Promise<ModelUnderTest> => {
    const [plain, streamed] = await Promise.all([
      createFakeProvider(plays.map(plainAnswer)),
      createFakeProvider(plays.map(streamedAnswer)),
    ])
    const [one, many] = [real(plain.baseUrl), real(streamed.baseUrl)]
    return {
      model: { id: one.id, stream: (request, call) => (call.deltas ? many : one).stream(request, call) },
      asked: () => [...streamed.requests, ...plain.requests].map(askedOverHttp),
      close: async () => {
        await Promise.all([plain.close(), streamed.close()])
      },
    }
  }
  return { name: 'ai-sdk over @ai-sdk/openai-compatible', open }
}
testModel(realHarness())

// the mocks of the AI SDK

type MockPart = { readonly type: string } & Record<string, unknown>

function mocked(name: string, version: 'v2' | 'v3' | 'v4'): ModelHarness {
  const open = (plays: readonly Play[]): Promise<ModelUnderTest> => {
    const calls: LanguageModelV4CallOptions[] = []
    const begin = (options: LanguageModelV4CallOptions): Play => {
      calls.push(options)
      return plays[Math.min(calls.length, plays.length) - 1] as Play
    }
    const generate = async (options: LanguageModelV4CallOptions) => {
      const play = begin(options)
      if (play.type === 'refuse') throw refusal(play)
      if (play.type !== 'reply') return await new Promise<never>(() => undefined)
      const content = [{ type: 'text', text: (play.pieces ?? []).join('') }, ...mockCalls(play)]
      return { content, ...mockEnd(play, version), warnings: [], response: { modelId: 'mock-1' } }
    }
    const stream = async (options: LanguageModelV4CallOptions) => {
      const play = begin(options)
      if (play.type === 'refuse') throw refusal(play)
      return { stream: mockStream(play, version) }
    }
    return Promise.resolve({
      model: aiSdkModel(mockModel(version, generate, stream)),
      asked: () => calls.map(askedMock),
      close: () => Promise.resolve(),
    })
  }
  return { name, open }
}

function mockModel(
  version: 'v2' | 'v3' | 'v4',
  generate: unknown,
  stream: unknown,
): LanguageModelV2 | LanguageModelV3 | LanguageModelV4 {
  const doGenerate = generate as LanguageModelV4['doGenerate'] &
    LanguageModelV3['doGenerate'] &
    LanguageModelV2['doGenerate']
  const doStream = stream as LanguageModelV4['doStream'] & LanguageModelV3['doStream'] & LanguageModelV2['doStream']
  if (version === 'v4') return new MockLanguageModelV4({ doGenerate, doStream })
  if (version === 'v3') return new MockLanguageModelV3({ doGenerate, doStream })
  return { specificationVersion: 'v2', provider: 'mock', modelId: 'v2', supportedUrls: {}, doGenerate, doStream }
}

function mockStream(play: Exclude<Play, { type: 'refuse' }>, version: 'v2' | 'v3' | 'v4'): ReadableStream<MockPart> {
  return new ReadableStream<MockPart>({
    async start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] })
      controller.enqueue({ type: 'text-start', id: '1' })
      for (const delta of play.pieces ?? []) controller.enqueue({ type: 'text-delta', id: '1', delta })
      if (play.type === 'hang') return
      if (play.type === 'break') {
        await turn()
        controller.enqueue({ type: 'error', error: { message: 'overloaded', code: 503 } })
        return controller.close()
      }
      controller.enqueue({ type: 'text-end', id: '1' })
      for (const call of mockCalls(play)) controller.enqueue(call)
      controller.enqueue({ type: 'finish', ...mockEnd(play, version) })
      controller.close()
    },
  })
}

function mockCalls(play: Reply): MockPart[] {
  return (play.toolCalls ?? []).map((call) => {
    return { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: call.arguments }
  })
}

function mockEnd(play: Reply, version: 'v2' | 'v3' | 'v4'): Record<string, unknown> {
  const unified = wireFinish(play).replace('_', '-')
  const { usage } = play
  const [input, output] = [usage?.inputTokens ?? undefined, usage?.outputTokens ?? undefined]
  const [cached, reasoning] = [usage?.cachedInputTokens, usage?.reasoningTokens]
  if (version === 'v2') {
    const flat = {
      inputTokens: input,
      outputTokens: output,
      totalTokens: undefined,
      cachedInputTokens: cached,
      reasoningTokens: reasoning,
    }
    return { finishReason: unified, usage: flat }
  }
  const inputTokens = { total: input, noCache: undefined, cacheRead: cached, cacheWrite: undefined }
  const outputTokens = { total: output, text: undefined, reasoning }
  return { finishReason: { unified, raw: undefined }, usage: { inputTokens, outputTokens } }
}

function refusal({ status, message }: Extract<Play, { type: 'refuse' }>): APICallError {
  return new APICallError({ message, url: 'http://mock', requestBodyValues: {}, statusCode: status })
}

function askedMock(call: LanguageModelV4CallOptions): Asked {
  return {
    roles: call.prompt.map(({ role }) => role),
    tools: (call.tools ?? []).map(({ name }) => name),
    toolChoice: call.toolChoice?.type ?? null,
    temperature: call.temperature ?? null,
    schema: call.responseFormat?.type === 'json' ? (call.responseFormat.schema ?? null) : null,
  }
}

testModel(mocked('ai-sdk over a V2 model', 'v2'))
testModel(mocked('ai-sdk over MockLanguageModelV3', 'v3'))
testModel(mocked('ai-sdk over MockLanguageModelV4', 'v4'))

// the scripted model

function scriptedReply(play: Play): ScriptedReply {
  if (play.type === 'refuse') {
    const { status, message } = play
    return {
      error: new ModelCallError(message, {
        status,
        retryable: status === 408 || status === 409 || status === 429 || status >= 500,
      }),
    }
  }
  const deltas = play.pieces ?? []
  if (play.type === 'hang') return { deltas, hang: true }
  if (play.type === 'break') return { deltas, error: new Error('cut') }
  const { toolCalls = [], usage = null, finishReason } = play
  return { deltas, toolCalls, usage, ...(finishReason === undefined ? {} : { finishReason }) }
}

describe('the scripted model', () => {
  testModel({
    name: 'scripted model',
    open: (plays) => {
      let at = 0
      const model = scriptedModel(() => {
        at += 1
        return scriptedReply(plays[Math.min(at, plays.length) - 1] as Play)
      })
      const asked = (): readonly Asked[] =>
        model.requests.map((request) => ({
          roles: request.messages.map(({ role }) => role),
          tools: request.tools.map(({ name }) => name),
          toolChoice: request.toolChoice,
          temperature: request.temperature,
          schema: request.output?.schema ?? null,
        }))
      return Promise.resolve({ model, asked, close: () => Promise.resolve() })
    },
  })
})
