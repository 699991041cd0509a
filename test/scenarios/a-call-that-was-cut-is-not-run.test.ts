/** [C37] How a reply ended is looked at before its calls: what was cut inside a call runs nothing, through each adapter. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible } from '@witan/core'
import { z } from 'zod'
import { chunk, createFakeProvider, eventStream, type FakeAnswer, jsonAnswer } from '../support/fake-provider.ts'
import { agent } from '../support/stage.ts'

interface Row {
  readonly name: string
  /** The arguments of each call of the first reply, as they came, and how the server says that it ended. */
  readonly calls: readonly string[]
  readonly finish: string
  /** How often the tool runs, and how the run ends. */
  readonly runs: number
  readonly end: string
}

const rows: readonly Row[] = [
  { name: 'before its arguments', calls: [''], finish: 'length', runs: 0, end: 'MODEL_OUTPUT_LIMIT' },
  { name: 'in its arguments', calls: ['{"city":"Os'], finish: 'length', runs: 0, end: 'MODEL_OUTPUT_LIMIT' },
  { name: 'as an empty object', calls: ['{}'], finish: 'length', runs: 0, end: 'MODEL_OUTPUT_LIMIT' },
  {
    name: 'in the second call',
    calls: ['{"city":"Oslo"}', '{"ci'],
    finish: 'length',
    runs: 0,
    end: 'MODEL_OUTPUT_LIMIT',
  },
  { name: 'by a filter', calls: ['{"city":"Oslo"}'], finish: 'content_filter', runs: 0, end: 'MODEL_REFUSED' },
  { name: 'by a filter, unfinished', calls: ['{"city":'], finish: 'content_filter', runs: 0, end: 'MODEL_REFUSED' },
  { name: 'after a complete call', calls: ['{"city":"Oslo"}'], finish: 'length', runs: 1, end: 'done' },
  { name: 'not at all, without arguments', calls: [''], finish: 'tool_calls', runs: 1, end: 'done' },
  { name: 'not at all, with a word for any end', calls: ['{"city":"Oslo"}'], finish: 'stop', runs: 1, end: 'done' },
]

function answerOf({ calls, finish }: Row, isStream: boolean): FakeAnswer {
  const tool_calls = calls.map((args, index) => {
    return { index, id: `call-${index}`, type: 'function', function: { name: 'look', arguments: args } }
  })
  return said({ role: 'assistant', content: null, tool_calls }, finish, isStream)
}

function said(message: object, finish_reason: string, isStream: boolean): FakeAnswer {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  if (isStream) return eventStream([chunk(message), chunk({}, finish_reason, usage)])
  const choices = [{ index: 0, message, finish_reason }]
  return jsonAnswer({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage })
}

/** The same model, which always streams. */
function streaming(model: Model): Model {
  return { ...model, stream: (request, call) => model.stream(request, { ...call, deltas: true }) }
}

const own = (baseUrl: string) => openaiCompatible({ baseUrl, model: 'm' })
const sdk = (baseURL: string) => aiSdkModel(createOpenAI({ baseURL, apiKey: 'k' }).chat('m'))
const ways: Readonly<Record<string, { readonly isStream: boolean; readonly model: (baseUrl: string) => Model }>> = {
  'our connection, streamed': { isStream: true, model: own },
  'our connection, plain': { isStream: false, model: own },
  'the AI SDK, streamed': { isStream: true, model: (baseUrl) => streaming(sdk(baseUrl)) },
  'the AI SDK, plain': { isStream: false, model: sdk },
}

/** One run over these replies: what it came to, how often its tool ran, and how often its model was asked. */
async function played(replies: Parameters<typeof createFakeProvider>[0], model: (baseUrl: string) => Model) {
  let runs = 0
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ city: z.string().optional() }),
    effect: 'once',
    execute: () => {
      runs += 1
      return 'seen'
    },
  })
  const provider = await createFakeProvider(replies)
  const runtime = createRuntime({
    models: { 'play/model': model(provider.baseUrl) },
    agents: [agent('root', { tools: ['look'] })],
    tools: [look],
    retry: { tries: 1 },
  })
  const { text, error } = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
  await runtime.close()
  await provider.close()
  return { end: error?.code ?? text, runs, requests: provider.requests.length }
}

for (const [way, { isStream, model }] of Object.entries(ways)) {
  describe(`[C37] over ${way}, a reply that was cut`, () => {
    for (const row of rows) {
      test(row.name, async () => {
        const done = said({ role: 'assistant', content: 'done' }, 'stop', isStream)
        const { end, runs } = row
        const requests = end === 'done' ? 2 : 1
        assert.deepEqual(await played([answerOf(row, isStream), done], model), { end, runs, requests })
      })
    }
  })
}

test('[C37] a call without arguments in a stream that names no ending is not run with none', async () => {
  const tool_calls = [{ index: 0, id: 'call-0', function: { name: 'look', arguments: '' } }]
  const replies = [eventStream([chunk({ tool_calls })]), eventStream([chunk({ content: 'done' }, 'stop')])]
  assert.deepEqual(await played(replies, own), { end: 'done', runs: 0, requests: 2 })
})
