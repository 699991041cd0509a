/** Tests of the request body: exactly what OpenAI's chat completions expect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelMessage } from '../message.ts'
import type { ModelRequest } from '../model.ts'
import { requestBody } from './openai-compatible-request.ts'

const plain: ModelRequest = {
  messages: [],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}
const bodyOf = (more: Partial<ModelRequest>): unknown => JSON.parse(requestBody('m', { ...plain, ...more }))
const head = { model: 'm', stream: true, stream_options: { include_usage: true } }

const messages: readonly ModelMessage[] = [
  { role: 'system', content: 'Be "brief".\n' },
  { role: 'user', content: 'Hi \u2028 \uD800 ☔' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'f', arguments: '{ "x" : 1 }' }] },
  { role: 'tool', toolCallId: 'c1', name: 'f', content: 'one' },
  { role: 'assistant', content: 'And', toolCalls: [{ id: 'c2', name: 'f', arguments: 'not JSON' }] },
  { role: 'tool', toolCallId: 'c2', name: 'f', content: '{"error":"no"}' },
  { role: 'assistant', content: 'Done.', toolCalls: [] },
]

test('messages are exactly those of OpenAI', () => {
  const called = (id: string, args: string) => ({ id, type: 'function', function: { name: 'f', arguments: args } })
  assert.deepEqual(bodyOf({ messages }), {
    ...head,
    messages: [
      { role: 'system', content: 'Be "brief".\n' },
      { role: 'user', content: 'Hi \u2028 \uD800 ☔' },
      { role: 'assistant', content: null, tool_calls: [called('c1', '{ "x" : 1 }')] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'assistant', content: 'And', tool_calls: [called('c2', '{}')] },
      { role: 'tool', tool_call_id: 'c2', content: '{"error":"no"}' },
      { role: 'assistant', content: 'Done.' },
    ],
  })
})

test('tools go with their choice, and without tools neither is sent [T12]', () => {
  const parameters = { type: 'object', properties: {} }
  const tools = [
    { name: 'f', description: 'Does it.', parameters },
    { name: 'g', description: '', parameters },
  ]
  const wire = [
    { type: 'function', function: { name: 'f', description: 'Does it.', parameters } },
    { type: 'function', function: { name: 'g', parameters } },
  ]
  assert.deepEqual(bodyOf({ tools, toolChoice: 'required' }), {
    ...head,
    messages: [],
    tools: wire,
    tool_choice: 'required',
  })
  assert.deepEqual(bodyOf({ toolChoice: 'required' }), { ...head, messages: [] })
})

test('how much to think is sent by name, and only where it is set [F08]', () => {
  for (const effort of ['none', 'minimal', 'low', 'medium', 'high'] as const) {
    assert.deepEqual(bodyOf({ reasoningEffort: effort }), { ...head, messages: [], reasoning_effort: effort })
  }
})

test('a schema is strict only where OpenAI would take it as strict', () => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const open = {
    type: 'object',
    properties: { a: closed, b: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  }
  for (const [schema, strict] of [
    [closed, true],
    [open, false],
    [{ type: 'array', items: open }, false],
    [{ ...closed, properties: { a: { oneOf: [] } } }, false],
    [{ ...closed, type: ['object', 'null'], additionalProperties: true }, false],
  ] as const) {
    const expected = { type: 'json_schema', json_schema: { name: 'out', schema, strict } }
    assert.deepEqual(bodyOf({ output: { name: 'out', schema }, temperature: 0.5 }), {
      ...head,
      messages: [],
      temperature: 0.5,
      response_format: expected,
    })
  }
})

test('a message is converted once', () => {
  let reads = 0
  const message = Object.defineProperty({ role: 'user' }, 'content', {
    enumerable: true,
    get: () => {
      reads += 1
      return 'Hi'
    },
  }) as ModelMessage
  const first = requestBody('m', { ...plain, messages: [message] })
  assert.equal(requestBody('m', { ...plain, messages: [message] }), first)
  assert.equal(reads, 1)
})
