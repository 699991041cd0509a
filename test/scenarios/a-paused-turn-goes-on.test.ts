/** A provider may pause in the middle of a turn while a tool of its own works: the turn goes on in the same reply, plain and streamed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { aiSdkModel, createRuntime, type Runtime } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import { agent, allEvents } from '../support/stage.ts'
import { type Dialect, events, halves, type Json, openVendor, type Step } from '../support/vendors/tape.ts'

const usage = { input_tokens: 10, output_tokens: 5 }
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null }

/** A step with a sign is paused: signed thoughts, words, and a search that the provider runs. */
function contentOf({ thought, sign, text }: Step): Json[] {
  if (sign === '') return [{ type: 'text', text }]
  return [
    { type: 'thinking', thinking: thought, signature: sign },
    { type: 'text', text },
    { type: 'server_tool_use', id: `srv_${sign}`, name: 'web_search', input: { query: 'rain' } },
  ]
}

const reasonOf = ({ sign }: Step) => (sign === '' ? 'end_turn' : 'pause_turn')

function deltasOf(block: Json): Json[] {
  if (block.type === 'text') return halves(block.text as string).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking')
    return [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ]
  return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
}

function opened(block: Json): Json {
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} }
}

const pausing: Dialect = {
  name: 'pausing',
  plain: (step) => ({ ...head, content: contentOf(step), stop_reason: reasonOf(step), usage }),
  stream: (step) =>
    events([
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 0 } },
      },
      ...contentOf(step).flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: opened(block) },
        ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: reasonOf(step), stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]),
  history: (body) => body.messages,
  refusal: () => null,
  wordsOf: () => ({}),
}

const step = (text: string, sign = ''): Step => ({ text, sign, thought: sign === '' ? '' : 'I look.', calls: [] })

/** Reads a conversation, so that its model streams. */
async function readDeltas(runtime: Runtime, signal: AbortSignal): Promise<readonly AnyEvent[]> {
  const deltas: AnyEvent[] = []
  for await (const event of runtime.followEvents('chats/1', { signal, verbose: true }))
    if (event.type === 'delta') deltas.push(event as AnyEvent)
  return deltas
}

async function run(baseURL: string, isStreamed: boolean) {
  const model = aiSdkModel(createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5'))
  const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root')], retry: { tries: 1 } })
  await runtime.start({ agent: 'root', id: 'chats/1' })
  const reading = new AbortController()
  const reader = isStreamed ? readDeltas(runtime, reading.signal) : Promise.resolve([])
  const result = await (await runtime.run('chats/1', { prompt: 'hello' })).result
  reading.abort()
  const deltas = await reader
  const stored = await allEvents(runtime, 'chats/1')
  await runtime.close()
  return { result, deltas, stored }
}

describe('[C37] a turn that its provider paused', () => {
  for (const isStreamed of [false, true]) {
    const way = isStreamed ? 'streamed' : 'plain'
    test(`${way}: goes on in the same reply with all that was said, and every request is counted`, async () => {
      const tape = [step('I search. ', 'a'), step('And again. ', 'b'), step('It rains.')]
      const vendor = await openVendor(pausing, tape)
      const { result, deltas, stored } = await run(vendor.baseUrl, isStreamed)
      await vendor.close()
      const text = 'I search. And again. It rains.'
      assert.equal(result.text, text, result.error?.detail)
      const { modelCalls, inputTokens, outputTokens } = result.usage
      assert.deepEqual([modelCalls, inputTokens, outputTokens], [1, 30, 15])
      assert.deepEqual(
        vendor.bodies.map(({ messages }) => (messages as Json[]).slice(1)),
        [
          [],
          [{ role: 'assistant', content: contentOf(tape[0] as Step) }],
          [{ role: 'assistant', content: [...contentOf(tape[0] as Step), ...contentOf(tape[1] as Step)] }],
        ],
      )
      if (isStreamed) assert.equal(deltas.map(({ content }) => content['text']).join(''), text)
      assert.equal(stored.filter(({ type, kind }) => type === 'end' && kind === 'model').length, 1)
    })

    test(`${way}: one that pauses without end is stopped`, async () => {
      const vendor = await openVendor(pausing, [step('Again. ', 'a')])
      const { result } = await run(vendor.baseUrl, isStreamed)
      await vendor.close()
      assert.equal(vendor.bodies.length, 17)
      assert.equal(result.text, 'Again. '.repeat(17), result.error?.detail)
    })
  }
})
