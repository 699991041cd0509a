/** A provider may not take back what it gave: stored items are deleted after a month, a signature is of another key. The conversation goes on without. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { aiSdkModel, createRuntime, type Runtime } from '@witan/core'
import { agent } from '../support/stage.ts'
import { anthropic } from '../support/vendors/anthropic.ts'
import { openaiResponses } from '../support/vendors/openai-responses.ts'
import { type Dialect, type Json, openVendor, type Step } from '../support/vendors/tape.ts'

const step = (number: number): Step => ({
  thought: `Thought ${number}.`,
  sign: `sign-${number}`,
  text: `Answer ${number}.`,
  calls: [],
})
const tape = [step(1), step(2), step(3), step(4), step(5)]

interface Forgetting {
  readonly dialect: Dialect
  /** How the vendor refuses what it gave in the first two answers. */
  readonly words: string
  model(baseURL: string): LanguageModelV4
}

const vendors: readonly Forgetting[] = [
  {
    dialect: openaiResponses({ stored: true }),
    words: "Item with id 'rs_sign-1' not found.",
    model: (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-5'),
  },
  {
    dialect: anthropic(),
    words: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    model: (baseURL) => createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5'),
  },
]

async function readOn(runtime: Runtime, signal: AbortSignal): Promise<void> {
  for await (const _ of runtime.followEvents('chats/1', { signal, verbose: true }));
}

describe('what a provider does not take back', () => {
  for (const { dialect, words, model } of vendors) {
    for (const way of ['plain', 'streamed'] as const) {
      test(`${dialect.name}, ${way}: is left out once it was refused, and later replies go back whole`, async () => {
        let hasForgotten = false
        const forgetting: Dialect = {
          ...dialect,
          refusal: (body) => (hasForgotten && /sign-[12]/.test(JSON.stringify(body)) ? words : null),
        }
        // The third request is refused, so the fourth step is the third answer.
        const vendor = await openVendor(forgetting, tape)
        const runtime = createRuntime({
          models: { 'play/model': aiSdkModel(model(vendor.baseUrl)) },
          agents: [agent('root')],
          retry: { tries: 1 },
        })
        await runtime.start({ agent: 'root', id: 'chats/1' })
        const leave = new AbortController()
        const reading = way === 'streamed' ? readOn(runtime, leave.signal) : null
        const texts: string[] = []
        for (const prompt of ['one', 'two', 'three', 'four']) {
          hasForgotten = prompt === 'three' || prompt === 'four'
          const result = await (await runtime.run('chats/1', { prompt })).result
          texts.push(result.error?.detail ?? result.text)
        }
        leave.abort()
        await Promise.all([reading, runtime.close(), vendor.close()])
        assert.deepEqual(texts, ['Answer 1.', 'Answer 2.', 'Answer 4.', 'Answer 5.'])
        assert.deepEqual(vendor.refusals, [words], 'it is not asked with them again')
        const last = JSON.stringify(vendor.bodies.at(-1))
        for (const said of [/Answer 1\./, /Answer 2\./, /sign-4/]) assert.match(last, said)
      })
    }
  }

  test('any other refusal stands, and no second request is made', async () => {
    const strict: Dialect = {
      ...anthropic(),
      refusal: ({ messages }) => ((messages as Json[]).length > 1 ? 'messages: too many tools' : null),
    }
    const vendor = await openVendor(strict, tape)
    const model = aiSdkModel(createAnthropic({ baseURL: vendor.baseUrl, apiKey: 'k' })('claude-sonnet-4-5'))
    const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root')], retry: { tries: 1 } })
    const chat = runtime.conversation('root', { id: 'chats/1' })
    await chat.run('one')
    const { error } = await chat.run('two')
    await Promise.all([runtime.close(), vendor.close()])
    assert.deepEqual([error?.code, vendor.bodies.length], ['MODEL_CALL_FAILED', 2])
  })
})
