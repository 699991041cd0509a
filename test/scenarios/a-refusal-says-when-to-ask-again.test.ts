/** A refusal whose wait stands in its body: the next request follows after that wait, through both adapters and a real connection. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { aiSdkModel, createRuntime, type Model, openaiCompatible } from '@witan/core'
import { fakeClock } from '../support/clock.ts'
import { chunk, createFakeProvider, jsonAnswer } from '../support/fake-provider.ts'
import { agent, settle } from '../support/stage.ts'

const adapters: Readonly<Record<string, (baseUrl: string) => Model>> = {
  'OpenAI-compatible': (baseUrl) => openaiCompatible({ id: 'play/model', baseUrl, model: 'fake-1' }),
  'AI SDK': (baseURL) => aiSdkModel(createOpenAICompatible({ name: 'fake', baseURL, apiKey: 'key' })('fake-1')),
}

function openai(wait: string) {
  const message = `Rate limit reached for fake-1 in organization org-1 on tokens per min (TPM): Limit 30000, Used 29120, Requested 6880. Please try again in ${wait}. Visit https://platform.openai.com/account/rate-limits to learn more.`
  return { error: { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' } }
}

function google(retryDelay: string) {
  const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` })
  const quota = {
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaValue: '15',
  }
  const details = [
    { ...type('QuotaFailure'), violations: [quota] },
    { ...type('Help'), links: [{ description: 'Limits', url: 'https://ai.google.dev/gemini-api/docs/rate-limits' }] },
    { ...type('RetryInfo'), retryDelay },
  ]
  return { error: { code: 429, message: 'You exceeded your current quota.', status: 'RESOURCE_EXHAUSTED', details } }
}

const long = { maxRetryAfterMs: 600_000, totalMs: 3_600_000 }

const refusals: readonly {
  readonly name: string
  readonly body: unknown
  readonly waitMs: number
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: object
}[] = [
  { name: 'Google `RetryInfo`', body: google('34s'), waitMs: 34_000 },
  { name: 'Google `RetryInfo` in a list, with a fraction', body: [google('7.5s')], waitMs: 7_500 },
  { name: 'OpenAI `12s`', body: openai('12s'), waitMs: 12_000 },
  { name: 'OpenAI `750ms`', body: openai('750ms'), waitMs: 750 },
  { name: 'OpenAI `1.242s`', body: openai('1.242s'), waitMs: 1_242 },
  { name: 'OpenAI `6m0s`, where waits may be that long', body: openai('6m0s'), waitMs: 360_000, retry: long },
  { name: '`retry_after` of a gateway', body: { message: 'Slow down.', retry_after: 9 }, waitMs: 9_000 },
  { name: 'a header before the body', body: openai('12s'), waitMs: 4_000, headers: { 'retry-after': '4' } },
]

/** A runtime whose model is refused once, and every wait that was begun on its clock. */
async function staged(
  name: string,
  answer: { body: unknown; headers?: object | undefined; retry?: object | undefined },
) {
  const headers = { 'content-type': 'application/json', ...answer.headers }
  const provider = await createFakeProvider([
    jsonAnswer(answer.body, { status: 429, headers }),
    jsonAnswer({
      ...chunk({}),
      choices: [{ index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' }],
    }),
  ])
  const clock = fakeClock()
  const waits = new Set<number>()
  const after: typeof clock.after = (ms, run) => {
    waits.add(ms)
    return clock.after(ms, run)
  }
  const model = adapters[name]?.(provider.baseUrl) as Model
  const runtime = createRuntime({
    clock: { ...clock, after },
    random: () => 0,
    agents: [agent('root')],
    models: { 'play/model': model },
    ...(answer.retry === undefined ? {} : { retry: answer.retry }),
  })
  const { run } = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  if (run === null) throw new Error('no run')
  const close = async () => {
    await runtime.close()
    await provider.close()
  }
  return { provider, clock, waits, result: run.result, close }
}

for (const adapter of Object.keys(adapters))
  describe(`[D23] a 429 through the ${adapter} adapter`, () => {
    for (const { name, body, waitMs, headers, retry } of refusals)
      test(`${name}: ${waitMs} ms`, { timeout: 20_000 }, async () => {
        const { provider, clock, waits, result, close } = await staged(adapter, { body, headers, retry })
        while (!waits.has(waitMs)) await settle()
        clock.advance(waitMs - 1)
        await settle()
        assert.equal(provider.requests.length, 1)
        clock.advance(1)
        assert.equal((await result).text, 'Fine.')
        assert.equal(provider.requests.length, 2)
        await close()
      })

    test('OpenAI `6m0s`, which is longer than a run waits, ends the run at once', { timeout: 20_000 }, async () => {
      const { provider, result, close } = await staged(adapter, { body: openai('6m0s') })
      const { status, error } = await result
      assert.equal(status, 'failed')
      assert.equal(error?.code, 'MODEL_CALL_FAILED')
      assert.equal(provider.requests.length, 1)
      await close()
    })
  })
