/** What a call cost where nobody gave a price: the table of this version knows common models at their vendors, and says of which date. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { aiSdkModel, createRuntime, type Model, openaiCompatible, priceTable, type RuntimeOptions } from '@witan/core'
import type { UsageCounters } from '@witan/protocol'
import { agent, allEvents } from '../support/stage.ts'

const counts = { input_tokens: 20, cache_creation_input_tokens: 100, cache_read_input_tokens: 50, output_tokens: 8 }

/** A fetch that answers as Anthropic does, or as a server of chat completions. */
const answering = (usage: object): typeof fetch => {
  const said = { content: [{ type: 'text', text: 'Ok.' }], stop_reason: 'end_turn', stop_sequence: null, usage }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001', ...said }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Ok.' }, finish_reason: 'stop' }]
  const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-5-mini-2025-08-07', choices, usage }
  return async (url) => Response.json(String(url).endsWith('/messages') ? message : completion)
}

const claude = aiSdkModel(createAnthropic({ apiKey: 'k', fetch: answering(counts) })('claude-haiku-4-5'))

async function spent(model: Model, options: RuntimeOptions = {}): Promise<readonly [UsageCounters, unknown]> {
  const runtime = createRuntime({ models: { 'play/model': model }, agents: [agent('root')], ...options })
  const { usage, error } = await runtime.conversation('root', { id: 'chats/1' }).run('hello')
  assert.equal(error, null)
  const { totalUsage } = await runtime.getDocument('chats/1')
  assert.deepEqual([totalUsage.costUsd, totalUsage.priceDate], [usage.costUsd, usage.priceDate])
  const events = await allEvents(runtime, 'chats/1')
  const { warnings } = await runtime.agents.get('root')
  assert.equal(
    warnings.some(({ code }) => code === 'PRICE_UNKNOWN'),
    false,
    'no limit in money, no warning',
  )
  await runtime.close()
  return [usage, events.find(({ kind }) => kind === 'model')?.content['usage']]
}

test('[Rb56] a model of a provider package is priced, with what it read from its cache and wrote to it', async () => {
  const [usage, told] = await spent(claude)
  const cost = (20 * 1 + 50 * 0.1 + 100 * 1.25 + 8 * 5) / 1_000_000
  const { date } = priceTable['anthropic'] ?? {}
  assert.deepEqual(
    [usage.inputTokens, usage.cachedInputTokens, usage.cacheWriteTokens, usage.costUsd, usage.priceDate],
    [170, 50, 100, cost, date],
  )
  assert.deepEqual(told, {
    inputTokens: 170,
    outputTokens: 8,
    cachedInputTokens: 50,
    reasoningTokens: 0,
    cacheWriteTokens: 100,
    costUsd: cost,
    priceDate: date,
  })
})

test('[Rb56] a server is priced where it is the vendor itself, and nowhere else', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100 }
  const at = (baseUrl: string) => openaiCompatible({ baseUrl, model: 'gpt-5-mini', fetch: answering(usage) })
  const [own] = await spent(at('https://api.openai.com/v1'))
  assert.equal(own.costUsd, (1000 * 0.25 + 100 * 2) / 1_000_000)
  for (const other of [
    'http://127.0.0.1:11434/v1',
    'https://api.openai.com.example/v1',
    'https://openrouter.ai/api/v1',
  ]) {
    const [elsewhere] = await spent(at(other))
    assert.deepEqual([elsewhere.costUsd, elsewhere.priceDate], [null, undefined], other)
  }
})

test('[Rb56] a price of its own stands before the table, another table in its place, and none where there is none', async () => {
  const models = { 'claude-haiku-4-5': { inputPerMillion: 2, outputPerMillion: 2 } }
  const priced = { ...claude, price: { inputPerMillion: 3, outputPerMillion: 3 } }
  const [own] = await spent(priced)
  assert.deepEqual([own.costUsd, own.priceDate], [(178 * 3) / 1_000_000, undefined])
  const prices = { anthropic: { date: '2030-02-03', models } }
  const [replaced] = await spent(claude, { prices })
  assert.deepEqual([replaced.costUsd, replaced.priceDate], [(178 * 2) / 1_000_000, '2030-02-03'])
  for (const none of [null, {}, { openai: { date: '2030-02-03', models } }]) {
    const [unknown] = await spent(claude, { prices: none })
    assert.deepEqual([unknown.costUsd, unknown.priceDate], [null, undefined])
  }
})

test('[D13] a limit in money holds for a model of the table, and warns for another one', async () => {
  const fetch = answering({ prompt_tokens: 1_000_000, completion_tokens: 0 })
  const openai = createOpenAI({ apiKey: 'k', fetch })
  const limits = { maxCostUsd: 0.2 }
  const runtime = createRuntime({
    models: { 'o/known': aiSdkModel(openai.chat('gpt-5-mini')), 'o/odd': aiSdkModel(openai.chat('odd')) },
    agents: ['known', 'odd'].map((id) => ({ ...agent(id, { limits }), model: `o/${id}` })),
  })
  await runtime.ready
  const codes = async (id: string) => (await runtime.agents.get(id)).warnings.map(({ code }) => code)
  assert.deepEqual([await codes('known'), await codes('odd')], [[], ['PRICE_UNKNOWN']])
  const { usage } = await runtime.conversation('known').run('hello')
  assert.equal(usage.costUsd, 0.25)
  await runtime.close()
})
