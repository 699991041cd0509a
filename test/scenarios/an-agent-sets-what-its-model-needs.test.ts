/** Settings of a model that an agent or its connection makes: how much it may write, its provider's own options, and who stands behind it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { aiSdkModel, createRuntime, ModelCallError, openaiCompatible, type RuntimeOptions } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { scriptedModel } from '@witan/core/testing'
import { chunk, createFakeProvider, eventStream, type FakeAnswer, jsonAnswer } from '../support/fake-provider.ts'
import { agent, allEvents } from '../support/stage.ts'
import { anthropic } from '../support/vendors/anthropic.ts'
import { loop, openVendor } from '../support/vendors/tape.ts'

const fine = eventStream([chunk({ content: 'Fine.' }), chunk({}, 'stop')])

async function ask(options: RuntimeOptions) {
  const runtime = createRuntime({ retry: { tries: 2, baseMs: 1 }, ...options })
  const result = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
  const events = await allEvents(runtime, 'chats/1')
  const notices = events.flatMap(({ type, content }) =>
    type === 'notice' ? [[content['code'], content['detail']]] : [],
  )
  const models = events.flatMap(({ kind, content }) => (kind === 'model' ? [content['model']] : []))
  await runtime.close()
  return { result, notices, models }
}

describe('what an agent sets', () => {
  test('[F08] reaches our own connection, in front of what the connection says', async () => {
    const provider = await createFakeProvider([fine])
    const local = {
      kind: 'openai-compatible',
      baseUrl: provider.baseUrl,
      maxOutputTokens: 100,
      providerOptions: { openaiCompatible: { top_k: 5, seed: 1 }, anthropic: { x: 1 } },
    } as const
    const set = {
      maxOutputTokens: 50,
      providerOptions: { openaiCompatible: { seed: 2, chat_template_kwargs: { a: true } } },
    }
    await ask({ connections: { local }, agents: [{ ...agent('root', set), model: 'local/m' }] })
    await ask({ connections: { local }, agents: [{ ...agent('root'), model: 'local/m' }] })
    await ask({
      connections: { local: { kind: local.kind, baseUrl: local.baseUrl } },
      agents: [{ ...agent('root'), model: 'local/m' }],
    })
    await provider.close()
    const settings = provider.requests.map(({ body }) => [
      body['max_tokens'],
      body['seed'],
      body['top_k'],
      body['chat_template_kwargs'],
    ])
    assert.deepEqual(settings, [
      [50, 2, 5, { a: true }],
      [100, 1, 5, undefined],
      [undefined, undefined, undefined, undefined],
    ])
  })

  test('[F08] goes by the newer name of a limit once the server has asked for it', async () => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    const provider = await createFakeProvider([jsonAnswer({ error: { message } }, { status: 400 }), fine])
    const model = openaiCompatible({ baseUrl: provider.baseUrl, model: 'm', maxOutputTokens: 50 })
    for (const _ of [1, 2]) {
      const { result } = await ask({ models: { 'play/model': model }, agents: [agent('root')] })
      assert.equal(result.text, 'Fine.', result.error?.detail)
    }
    await provider.close()
    assert.deepEqual(
      provider.requests.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']]),
      [
        [50, undefined],
        [undefined, 50],
        [undefined, 50],
      ],
    )
  })

  test('[F08] reaches a model of the AI SDK: thoughts are switched on, and the prompt is cached', async () => {
    const vendor = await openVendor(anthropic(), loop.slice(2))
    const model = aiSdkModel(createAnthropic({ baseURL: vendor.baseUrl, apiKey: 'k' })('claude-sonnet-4-5'), {
      maxOutputTokens: 9000,
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    })
    const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } }
    const { result } = await ask({ models: { 'play/model': model }, agents: [agent('root', { providerOptions })] })
    await vendor.close()
    assert.equal(result.text, 'Rain everywhere.')
    const [body] = vendor.bodies
    assert.deepEqual(body?.thinking, { type: 'enabled', budget_tokens: 1024 })
    assert.equal(body?.max_tokens, 9000 + 1024)
    assert.match(JSON.stringify(body), /"cache_control":\{"type":"ephemeral"\}/)
  })

  test('is refused by name where the connection writes it itself', async () => {
    const runtime = createRuntime({ models: { 'play/model': scriptedModel(() => 'ok') } })
    for (const key of ['messages', 'stream', 'tools', 'model', 'max_tokens', 'max_completion_tokens']) {
      const providerOptions = { openaiCompatible: { [key]: 1 } }
      await assert.rejects(
        runtime.agents.save(agent('root', { providerOptions })),
        (error) => isWitanError(error) && error.message.includes(`\`${key}\``),
      )
      assert.throws(
        () => openaiCompatible({ baseUrl: 'http://127.0.0.1:1/v1', model: 'm', providerOptions }),
        (error) => isWitanError(error) && error.code === 'CONFIG_INVALID' && error.message.includes(`\`${key}\``),
      )
    }
    await runtime.close()
  })
})

describe('models behind an agent’s own', () => {
  const refused = (status: number, message = 'No.'): FakeAnswer => jsonAnswer({ error: { message } }, { status })
  const failures: readonly (readonly [string, FakeAnswer, number])[] = [
    ['is busy', refused(503), 2],
    ['has a wrong key', refused(401), 1],
    ['has nothing left to spend', refused(402), 1],
  ]
  for (const [what, answer, tries] of failures) {
    test(`are asked where it ${what}, and each change is recorded`, async () => {
      const provider = await createFakeProvider([answer])
      const { result, notices, models } = await ask({
        models: {
          'play/model': openaiCompatible({ baseUrl: provider.baseUrl, model: 'm', id: 'first' }),
          'play/second': {
            id: 'second',
            stream: () => failing(new ModelCallError('Gone.', { retryable: true, mayHaveCost: false })),
          },
          'play/third': scriptedModel(() => 'Third.', { id: 'third' }),
        },
        agents: [agent('root', { fallbacks: ['play/second', 'play/third'] })],
      })
      await provider.close()
      assert.deepEqual([result.text, provider.requests.length], ['Third.', tries])
      const repeated = Array<string>(tries - 1).fill('MODEL_RETRIED')
      assert.deepEqual(
        notices.map(([code]) => code),
        [...repeated, 'MODEL_FALLBACK', 'MODEL_RETRIED', 'MODEL_FALLBACK'],
      )
      assert.match(String(notices.at(-1)?.[1]), /^`second` is not available, `third` is asked: Gone\./)
      assert.deepEqual(models, ['third'])
    })
  }

  test('are not asked where a model refuses what it was asked', async () => {
    const provider = await createFakeProvider([refused(400, 'Bad tool.')])
    const second = scriptedModel(() => 'Second.', { id: 'second' })
    const { result } = await ask({
      models: { 'play/model': openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' }), 'play/second': second },
      agents: [agent('root', { fallbacks: ['play/second'] })],
    })
    await provider.close()
    assert.deepEqual([result.error?.code, second.requests.length], ['MODEL_CALL_FAILED', 0])
  })

  test('an empty list means none', async () => {
    const gone = new ModelCallError('Gone.', { retryable: false })
    const { result, notices } = await ask({
      models: { 'play/model': { id: 'first', stream: () => failing(gone) } },
      agents: [agent('root', { fallbacks: [] })],
    })
    assert.equal(result.error?.code, 'MODEL_CALL_FAILED')
    assert.deepEqual(
      notices.map(([code]) => code),
      ['USAGE_INCOMPLETE'],
    )
  })

  test('must be there when the agent is saved', async () => {
    const runtime = createRuntime({ models: { 'play/model': scriptedModel(() => 'ok') } })
    await assert.rejects(
      runtime.agents.save(agent('root', { fallbacks: ['play/nobody'] })),
      (error) => isWitanError(error) && error.code === 'MODEL_UNKNOWN' && error.path === 'fallbacks.0',
    )
    await runtime.close()
  })
})

function failing(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}

test('a warning of a provider is a notice, once in a run for each text', async () => {
  const vendor = await openVendor(anthropic())
  const model = aiSdkModel(createAnthropic({ baseURL: vendor.baseUrl, apiKey: 'k' })('claude-sonnet-4-5'))
  const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } }
  const { result, notices } = await ask({
    models: { 'play/model': model },
    agents: [agent('root', { temperature: 0.5, providerOptions, queries: [] })],
  })
  await vendor.close()
  assert.equal(result.status, 'completed')
  assert.ok(result.usage.modelCalls >= 3)
  const warnings = notices.filter(([code]) => code === 'MODEL_WARNING')
  assert.deepEqual(
    warnings.map(([, detail]) => detail),
    ['temperature is not supported: temperature is not supported when thinking is enabled'],
  )
})
