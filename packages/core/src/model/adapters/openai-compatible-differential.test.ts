/** The same exchanges through the real `@ai-sdk/openai-compatible` package and through our adapter: both must see the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { FakeAnswer } from '../../../../../test/support/fake-provider.ts'
import { chunk, createFakeProvider, eventStream, jsonAnswer } from '../../../../../test/support/fake-provider.ts'
import type { Model, ModelReply, ModelRequest } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { aiSdkModel } from './ai-sdk.ts'
import { openaiCompatible } from './openai-compatible.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const tools = [
  { name: 'weather', description: 'Tells the weather.', parameters: schema },
  { name: 'time', description: 'Tells the time.', parameters: { type: 'object', properties: {} } },
]
const plain: ModelRequest = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Wie ist das Wetter in Ås? ☔' },
  ],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}
const requests: Readonly<Record<string, ModelRequest>> = {
  plain,
  'tools, auto': { ...plain, tools, toolChoice: 'auto', temperature: 0 },
  'tools, required': { ...plain, tools, toolChoice: 'required', temperature: 1 },
  'tools, none': { ...plain, tools, toolChoice: 'none' },
  output: { ...plain, output: { name: 'place', schema } },
  history: {
    ...plain,
    tools,
    toolChoice: 'auto',
    messages: [
      ...plain.messages,
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'a', name: 'weather', arguments: '{"city":"Ås"}' },
          { id: 'b', name: 'time', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'a', name: 'weather', content: 'rain' },
      { role: 'tool', toolCallId: 'b', name: 'time', content: '{"hour":7}' },
      { role: 'assistant', content: 'Rain. And once more:', toolCalls: [{ id: 'c', name: 'time', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', name: 'time', content: '' },
      { role: 'assistant', content: 'It is 7.' },
      { role: 'user', content: 'Thanks. And now?' },
    ],
  },
}

const usage = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 16 },
  completion_tokens_details: { reasoning_tokens: 4 },
}
const piece = (index: number, more: Record<string, unknown>) => chunk({ tool_calls: [{ index, ...more }] })
const answers: Readonly<Record<string, FakeAnswer>> = {
  text: eventStream([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Re' }),
    chunk({ content: 'gen ☔' }),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage },
  ]),
  'usage in the last chunk': eventStream([chunk({ content: 'Hi' }), chunk({}, 'stop', usage)]),
  'no usage': eventStream([chunk({ content: 'Hi' }, 'length')]),
  'calls in pieces': eventStream([
    chunk({ content: 'One moment.' }),
    piece(0, { id: 'a', type: 'function', function: { name: 'weather', arguments: '' } }),
    piece(0, { function: { arguments: '{"city":' } }),
    piece(1, { id: 'b', type: 'function', function: { name: 'time', arguments: '{}' } }),
    piece(0, { function: { arguments: '"Ås"}' } }),
    chunk({}, 'tool_calls', usage),
  ]),
  'calls at one index': eventStream([
    piece(0, { id: 'a', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }),
    piece(0, { id: 'b', function: { name: 'weather', arguments: '{"city":"Ås"}' } }),
    chunk({}, 'tool_calls'),
  ]),
  'a call without an index': eventStream([
    chunk({ tool_calls: [{ id: 'a', function: { name: 'weather', arguments: '' } }] }),
    chunk({ tool_calls: [{ function: { arguments: '{"city":"Ås"}' } }] }),
    chunk({}, 'tool_calls'),
  ]),
  'a name that comes after the arguments': eventStream([
    piece(0, { id: 'a', function: { arguments: '{"city":' } }),
    piece(0, { function: { name: 'weather', arguments: '"Ås"}' } }),
    chunk({}, 'tool_calls'),
  ]),
  'a refusal': eventStream([chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' }), chunk({}, 'stop')]),
  'reasoning and text': eventStream([
    chunk({ reasoning_content: 'Hm.' }),
    chunk({ content: 'Yes.' }),
    chunk({}, 'stop', usage),
  ]),
  'an error in the middle': eventStream([chunk({ content: 'Half' }), { error: { message: 'overloaded' } }]),
  'a cut': { ...eventStream([]), chunks: [`data: ${JSON.stringify(chunk({ content: 'Half' }))}\n\n`] },
  'status 429': jsonAnswer({ error: { message: 'Slow down.' } }, { status: 429, headers: { 'retry-after': '3' } }),
  'status 400': jsonAnswer({ error: { message: 'No such tool.' } }, { status: 400 }),
}

async function drive(
  model: Model,
  request: ModelRequest,
): Promise<{ text: string; reply: ModelReply | null; error: ModelCallError | null }> {
  let text = ''
  let reply: ModelReply | null = null
  try {
    for await (const part of model.stream(request, { signal: new AbortController().signal, deltas: true })) {
      if (part.type === 'delta') text += part.text
      else if (part.type === 'reply') reply = part.reply
    }
  } catch (error) {
    assert.ok(error instanceof ModelCallError)
    return { text, reply, error }
  }
  return { text, reply, error: null }
}

async function both(answer: FakeAnswer, request: ModelRequest) {
  const provider = await createFakeProvider([answer])
  const theirs = createOpenAICompatible({
    name: 'fake',
    baseURL: provider.baseUrl,
    apiKey: 'k',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  const their = await drive(aiSdkModel(theirs('fake-1')), request)
  const our = await drive(openaiCompatible({ baseUrl: provider.baseUrl, model: 'fake-1', apiKey: 'k' }), request)
  await provider.close()
  return { their, our, requests: provider.requests }
}

/** What an adapter keeps is in a form of its own. */
function withoutKept(reply: ModelReply | null): Omit<ModelReply, 'kept'> | null {
  if (reply === null) return null
  const { kept: _, ...rest } = reply
  return rest
}

for (const [name, answer] of Object.entries(answers)) {
  test(`the real package and ours read the same: ${name}`, async () => {
    const { their, our } = await both(answer, plain)
    assert.equal(our.text, their.text)
    assert.deepEqual(withoutKept(our.reply), withoutKept(their.reply))
    assert.deepEqual(
      [our.error?.status, our.error?.retryable, our.error?.retryAfterMs],
      [their.error?.status, their.error?.retryable, their.error?.retryAfterMs],
    )
  })
}

for (const [name, request] of Object.entries(requests)) {
  test(`the real package and ours ask the same: ${name}`, async () => {
    const { requests: seen } = await both(eventStream([chunk({ content: 'Hi' }, 'stop')]), request)
    assert.deepEqual(seen[1]?.body, seen[0]?.body)
    assert.equal(seen[1]?.headers.authorization, seen[0]?.headers.authorization)
  })
}
