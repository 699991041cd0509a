/** Every ending of a model call: what it is called, how often the model was asked, and what a person is told to do. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aiSdkModel, createRuntime, type Model, openaiCompatible } from '@witan/core'
import type { RunResult } from '@witan/protocol'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { chunk, createFakeProvider, eventStream, type FakeAnswer, jsonAnswer } from '../support/fake-provider.ts'
import { type AgentDraft, agent, allEvents } from '../support/stage.ts'
import { google } from '../support/vendors/google.ts'
import { type Dialect, type Json, openVendor, type Step } from '../support/vendors/tape.ts'

const said = (text: string, finish = 'stop'): FakeAnswer =>
  eventStream([chunk(text === '' ? {} : { content: text }), chunk({}, finish)])
const called = (name: string): FakeAnswer => {
  const tool_calls = [{ index: 0, id: 'call-1', function: { name, arguments: '{}' } }]
  return eventStream([chunk({ tool_calls }), chunk({}, 'tool_calls')])
}
const refused = (status: number, error: object): FakeAnswer => jsonAnswer({ error }, { status })
const tooLong = refused(400, { message: 'This is too much.', code: 'context_length_exceeded' })

interface Row {
  readonly name: string
  readonly answers: readonly FakeAnswer[]
  readonly agent?: Omit<AgentDraft, 'id'>
  /** The code of the failure, or the text of the answer. */
  readonly end: string
  readonly requests: number
  readonly hint?: RegExp
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const force: Omit<AgentDraft, 'id'> = { toolMode: 'force', actions: [{ name: 'Ask' }] }
const connection = /^Look at the connection/

const rows: readonly Row[] = [
  {
    name: 'an empty reply that was filtered',
    answers: [said('', 'content_filter')],
    end: 'MODEL_REFUSED',
    requests: 1,
  },
  {
    name: 'a refusal in place of an answer with a schema',
    answers: [eventStream([chunk({ refusal: 'I will not.' }), chunk({}, 'stop')])],
    agent: { outputSchema: schema },
    end: 'MODEL_REFUSED',
    requests: 1,
  },
  {
    name: 'an empty reply at its limit',
    answers: [said('', 'length')],
    end: 'MODEL_OUTPUT_LIMIT',
    requests: 1,
    hint: /maxOutputTokens/,
  },
  { name: 'words up to the limit', answers: [said('Half a', 'length')], end: 'Half a', requests: 1 },
  { name: 'words that were filtered', answers: [said('Well,', 'content_filter')], end: 'Well,', requests: 1 },
  { name: 'an empty reply, and then one', answers: [said(''), said('Here.')], end: 'Here.', requests: 2 },
  { name: 'two empty replies', answers: [said('')], end: 'MODEL_REPLY_INVALID', requests: 2 },
  {
    name: 'a request beyond the context',
    answers: [tooLong],
    end: 'MODEL_CONTEXT_EXCEEDED',
    requests: 1,
    hint: /`history`/,
  },
  {
    name: 'nothing left to spend',
    answers: [refused(429, { message: 'You exceeded your current quota.', code: 'insufficient_quota' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: /plan/,
  },
  {
    name: 'too many requests',
    answers: [refused(429, { message: 'Slow down.' }), said('Now.')],
    end: 'Now.',
    requests: 2,
  },
  {
    name: 'a wrong key',
    answers: [refused(401, { message: 'Who?' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: connection,
  },
  {
    name: 'a wrong name',
    answers: [refused(404, { message: 'No such model.' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: connection,
  },
  {
    name: 'a wrong key, answered as a bad request',
    answers: [refused(400, { message: 'API key not valid. Please pass a valid API key.' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: connection,
  },
  {
    name: 'a request that a gateway flagged',
    answers: [refused(403, { message: 'Your input was flagged by moderation.' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: /^Read what the provider says/,
  },
  { name: 'an empty reply that was blocked', answers: [said('', 'SAFETY')], end: 'MODEL_REFUSED', requests: 1 },
  { name: 'a reply that was given up', answers: [said('', 'error')], end: 'MODEL_CALL_FAILED', requests: 3 },
  {
    name: 'a reply that was given up, and then one',
    answers: [said('', 'insufficient_system_resource'), said('Here.')],
    end: 'Here.',
    requests: 2,
  },
  {
    name: 'a request that is refused',
    answers: [refused(400, { message: 'Bad tool.' })],
    end: 'MODEL_CALL_FAILED',
    requests: 1,
    hint: /^Read what the provider says/,
  },
  {
    name: 'a provider that is down',
    answers: [refused(503, { message: 'Busy.' })],
    end: 'MODEL_CALL_FAILED',
    requests: 3,
    hint: /^Try again later/,
  },
  { name: 'force, and words twice', answers: [said('No.')], agent: force, end: 'MODEL_REPLY_INVALID', requests: 2 },
  { name: 'force, and nothing twice', answers: [said('')], agent: force, end: 'MODEL_REPLY_INVALID', requests: 2 },
  {
    name: 'force, words, and then a call',
    answers: [said('Well.'), called('Ask')],
    agent: force,
    end: '',
    requests: 2,
  },
  {
    name: 'force, and a filter',
    answers: [said('', 'content_filter')],
    agent: force,
    end: 'MODEL_REFUSED',
    requests: 1,
  },
]

async function run(model: Model, draft: Omit<AgentDraft, 'id'>): Promise<RunResult> {
  const runtime = createRuntime({
    models: { 'play/model': model },
    agents: [agent('root', draft)],
    retry: { tries: 3, baseMs: 1 },
  })
  const result = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
  await runtime.close()
  return result
}

describe('a model call', () => {
  const ways: Readonly<Record<string, (baseUrl: string) => Model>> = {
    'our connection': (baseUrl) => openaiCompatible({ baseUrl, model: 'm' }),
    'the AI SDK': (baseURL) => aiSdkModel(createOpenAI({ baseURL, apiKey: 'k' }).chat('m')),
  }
  for (const row of rows) {
    for (const [way, model] of Object.entries(ways)) {
      test(`[C37] [E28] over ${way}: ${row.name}`, async () => {
        const plain = way === 'the AI SDK'
        const provider = await createFakeProvider(plain ? row.answers.map(asPlain) : row.answers)
        const result = await run(model(provider.baseUrl), row.agent ?? {})
        await provider.close()
        assert.equal(result.error?.code ?? result.text, row.end, result.error?.detail)
        assert.equal(provider.requests.length, row.requests)
        if (row.hint !== undefined) assert.match(result.error?.hint ?? '', row.hint)
        else assert.doesNotMatch(result.error?.hint ?? '', connection)
      })
    }
  }
})

test('[E28] words before a call that the provider could not read are no answer', async () => {
  const ending: Dialect = {
    ...google({ strict: false }),
    plain: ({ text, sign }) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: sign, index: 0 }],
      usageMetadata: { promptTokenCount: 1, totalTokenCount: 2 },
    }),
  }
  const step = (text: string, sign: string): Step => ({ text, sign, thought: '', calls: [] })
  const broken = step('I look it up.', 'MALFORMED_FUNCTION_CALL')
  for (const [tape, end] of [
    [[broken, step('It rains.', 'STOP')], 'It rains.'],
    [[broken], 'MODEL_REPLY_INVALID'],
  ] as const) {
    const vendor = await openVendor(ending, tape)
    const model = createGoogle({ baseURL: vendor.baseUrl, apiKey: 'k' })('gemini-3-pro-preview')
    const result = await run(aiSdkModel(model), { actions: [{ name: 'Ask' }] })
    await vendor.close()
    assert.deepEqual([result.error?.code ?? result.text, vendor.bodies.length], [end, 2])
    const contents = vendor.bodies[1]?.contents as readonly Json[]
    assert.deepEqual(
      contents.map(({ role }) => role),
      ['user', 'model', 'user'],
    )
  }
})

/** A streamed answer as one document, for a caller that does not stream. */
function asPlain(answer: FakeAnswer): FakeAnswer {
  if (answer.status !== undefined) return answer
  const message: Json = { role: 'assistant', content: null }
  let finish_reason: unknown = null
  for (const line of answer.chunks.join('').split('\n\n')) {
    if (!line.startsWith('data: {')) continue
    const [choice] = (JSON.parse(line.slice(6)) as { choices: [{ delta: Json; finish_reason: unknown }] }).choices
    Object.assign(message, choice.delta)
    finish_reason = choice.finish_reason
  }
  const calls = message.tool_calls as readonly Json[] | undefined
  if (calls !== undefined) message.tool_calls = calls.map((call) => ({ ...call, type: 'function' }))
  if (message.refusal !== undefined) Object.assign(message, { content: message.refusal })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return jsonAnswer({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason }],
    usage,
  })
}

test('[C37] a call that was written as text is named in a notice, and not run', async () => {
  const texts = [
    '<tool_call>\n{"name": "Ask", "arguments": {}}\n</tool_call>',
    '```json\n{"name": "Ask", "arguments": {}}\n```',
    '{"tool": "Ask", "parameters": {}}',
  ]
  for (const [at, text] of texts.entries()) {
    for (const draft of [force, { actions: [{ name: 'Ask' }] }]) {
      const provider = await createFakeProvider([said(text)])
      const runtime = createRuntime({
        models: { 'play/model': openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' }) },
        agents: [agent('root', draft)],
      })
      const result = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
      const details = (await allEvents(runtime, 'chats/1')).flatMap(({ type, content }) =>
        type === 'notice' ? [content] : [],
      )
      await Promise.all([runtime.close(), provider.close()])
      const notice = {
        code: 'TOOL_CALL_MISSING',
        detail: 'The model of `root` wrote a tool call as text, which is not run.',
      }
      assert.deepEqual(details, draft === force ? [notice, notice] : [notice], `${at}`)
      assert.equal(result.error?.code ?? null, draft === force ? 'MODEL_REPLY_INVALID' : null)
    }
  }
})

describe('[Rb38] a history that is too long for its model', () => {
  const summarize = { kind: 'summarize', maxTokensBefore: 1000 } as const

  async function converse(draft: Omit<AgentDraft, 'id'>, answers: readonly FakeAnswer[]) {
    const provider = await createFakeProvider(answers)
    const runtime = createRuntime({
      models: { 'play/model': openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' }) },
      agents: [agent('root', draft)],
      retry: { tries: 1 },
    })
    const chat = runtime.conversation('root', { id: 'chats/1' })
    await chat.run('the first question')
    const result = await chat.run('the second question')
    await Promise.all([runtime.close(), provider.close()])
    const asked = provider.requests.map(({ body }) => body.messages as readonly { content: string }[])
    return { result, asked }
  }

  test('is summed up, and the call is made once more', async () => {
    const answers = [said('one', 'length'), tooLong, said('They met.'), said('two')]
    const { result, asked } = await converse({ history: { trim: summarize } }, answers)
    assert.deepEqual([result.text, asked.length], ['two', 4])
    assert.match(asked[3]?.at(-1)?.content ?? '', /They met\.\n\nthe second question$/)
    assert.equal(result.usage.modelCalls, 2)
  })

  test('is cut where nothing takes its place', async () => {
    const trim = { kind: 'truncate', messagesBefore: 100 } as const
    const { result, asked } = await converse({ history: { trim } }, [said('one'), tooLong, said('two')])
    assert.deepEqual([result.text, asked.length, asked[2]?.length], ['two', 3, 2])
  })

  test('is read for its summary only as far as the model can', async () => {
    const answers = [said('x'.repeat(4000)), tooLong, tooLong, tooLong, said('They met.'), said('two')]
    const { result, asked } = await converse({ history: { trim: summarize } }, answers)
    assert.equal(result.text, 'two')
    const sizes = asked.slice(1, 5).map((messages) => messages.at(-1)?.content.length ?? 0)
    for (const [at, size] of sizes.slice(1).entries()) assert.ok(size < (sizes[at] ?? 0) * 0.7, String(sizes))
    assert.match(asked[4]?.at(-1)?.content ?? '', /characters are left out here/)
  })

  test('fails the call where it may not be trimmed, and where that does not help', async () => {
    const plain = await converse({}, [said('one'), tooLong])
    assert.deepEqual([plain.result.error?.code, plain.asked.length], ['MODEL_CONTEXT_EXCEEDED', 2])
    const trimmed = await converse({ history: { trim: summarize } }, [said('one'), tooLong, said('They met.'), tooLong])
    assert.deepEqual([trimmed.result.error?.code, trimmed.asked.length], ['MODEL_CONTEXT_EXCEEDED', 4])
  })
})
