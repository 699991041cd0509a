/** Tests of what an AI SDK reply leaves for the next request: its order, what the provider did itself, and when it is left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4Content, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { MockLanguageModelV4 } from 'ai/test'
import type { AssistantMessage } from '../message.ts'
import type { ModelReply, ModelRequest } from '../model.ts'
import { aiSdkModel } from './ai-sdk.ts'

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: undefined, reasoning: undefined },
}
const finishReason = { unified: 'stop', raw: undefined } as const
const marked = (id: string) => ({ providerMetadata: { vendor: { id } } })
const optioned = (id: string) => ({ providerOptions: { vendor: { id } } })

function modelOf(content: LanguageModelV4Content[], modelId = 'thinker') {
  return new MockLanguageModelV4({ modelId, doGenerate: { content, finishReason, usage, warnings: [] } })
}

function requestWith(message: AssistantMessage): ModelRequest {
  const messages = [{ role: 'user', content: 'Hi' }, message, { role: 'user', content: 'And?' }] as const
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}

async function ask(mock: MockLanguageModelV4, request: ModelRequest): Promise<ModelReply> {
  for await (const part of aiSdkModel(mock).stream(request, { signal: new AbortController().signal, deltas: false }))
    if (part.type === 'reply') return part.reply
  return assert.fail('no reply')
}

/** The model's own message in the request that follows a reply, changed on the way. */
async function returned(
  content: LanguageModelV4Content[],
  change: (message: AssistantMessage) => AssistantMessage = (message) => message,
): Promise<LanguageModelV4Prompt[number]['content'] | undefined> {
  const mock = modelOf(content)
  const { text, toolCalls, kept } = await ask(mock, requestWith({ role: 'assistant', content: 'earlier' }))
  const message = { role: 'assistant', content: text, toolCalls, ...(kept === undefined ? {} : { kept }) } as const
  await ask(mock, requestWith(change(JSON.parse(JSON.stringify(message)))))
  return mock.doGenerateCalls[1]?.prompt[1]?.content
}

const whole: LanguageModelV4Content[] = [
  { type: 'reasoning', text: 'First.', ...marked('r1') },
  { type: 'text', text: 'I search. ', ...marked('t1') },
  { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: '{"q":"rain"}', providerExecuted: true },
  { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', result: [{ page: 1 }], ...marked('s1') },
  { type: 'tool-result', toolCallId: 's2', toolName: 'web_search', result: { code: 'busy' }, isError: true },
  { type: 'custom', kind: 'vendor.note', ...marked('c1') },
  { type: 'text', text: 'Now you.' },
  { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"x":1}', ...marked('a') },
  { type: 'reasoning', text: '' },
  { type: 'tool-call', toolCallId: 'b', toolName: 'f', input: '{}' },
]

test('parts come back in their order, with their marks, and what the provider did itself among them', async () => {
  assert.deepEqual(await returned(whole), [
    { type: 'reasoning', text: 'First.', ...optioned('r1') },
    { type: 'text', text: 'I search. ', ...optioned('t1') },
    { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: { q: 'rain' }, providerExecuted: true },
    {
      type: 'tool-result',
      toolCallId: 's1',
      toolName: 'web_search',
      output: { type: 'json', value: [{ page: 1 }] },
      ...optioned('s1'),
    },
    {
      type: 'tool-result',
      toolCallId: 's2',
      toolName: 'web_search',
      output: { type: 'error-json', value: { code: 'busy' } },
    },
    { type: 'custom', kind: 'vendor.note', ...optioned('c1') },
    { type: 'text', text: 'Now you.' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { x: 1 }, ...optioned('a') },
    { type: 'reasoning', text: '' },
    { type: 'tool-call', toolCallId: 'b', toolName: 'f', input: {} },
  ])
})

const plain = [
  { type: 'text', text: 'I search. Now you.' },
  { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { x: 1 } },
  { type: 'tool-call', toolCallId: 'b', toolName: 'f', input: {} },
]

test('words and arguments are those of the message, whatever was taken out of them', async () => {
  const content = (await returned(whole, (message) => ({ ...message, content: 'I [hidden].' }))) as object[]
  const texts = content.filter((part) => 'type' in part && part.type === 'text')
  assert.deepEqual(texts, [{ type: 'text', text: 'I [hidden].', ...optioned('t1') }])
})

test('of another model, with other calls, or in a form that nobody wrote, they are left out', async () => {
  const withParts = (parts: unknown) => (message: AssistantMessage) => {
    return { ...message, kept: { by: message.kept?.by ?? '', parts } }
  }
  const changes: ((message: AssistantMessage) => AssistantMessage)[] = [
    (message) => ({ ...message, kept: { by: 'another', parts: message.kept?.parts } }),
    withParts(null),
    withParts([null]),
    withParts([{ type: 'secret' }]),
    withParts([{ type: 'call', toolCallId: 'a' }]),
    withParts([{ type: 'text', length: 3 }]),
  ]
  for (const change of changes) assert.deepEqual(await returned(whole, change), plain)
  const other = (message: AssistantMessage): AssistantMessage => ({
    ...message,
    toolCalls: [{ id: 'z', name: 'f', arguments: '{}' }],
  })
  assert.deepEqual(await returned(whole, other), [
    plain[0],
    { type: 'tool-call', toolCallId: 'z', toolName: 'f', input: {} },
  ])
})

test('a reply of nothing but text and calls keeps nothing', async () => {
  const mock = modelOf([
    { type: 'text', text: 'Look.' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{}' },
  ])
  const reply = await ask(mock, requestWith({ role: 'assistant', content: 'earlier' }))
  assert.ok(!('kept' in reply))
})
