/** What the real packages of vendors give for reasoning is shown, streamed and plain, and changes no request. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible } from '@witan/core'
import { defaultSettingsMiddleware, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { agent, until } from '../support/stage.ts'
import { ownDialects, type Peer, peers } from '../support/vendors/peers.ts'
import { type Dialect, loop, openVendor } from '../support/vendors/tape.ts'

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  execute: ({ city }) => `rain in ${city}`,
})

interface Shown {
  /** By attempt, joined. */
  readonly live: readonly string[]
  readonly stored: readonly string[]
  readonly text: string
  readonly requests: readonly unknown[]
}

interface Way {
  readonly showReasoning: boolean
  readonly streamed: boolean
}

/** One run of the tape. */
async function play(
  dialect: Dialect,
  modelAt: (baseUrl: string) => Model,
  { showReasoning, streamed }: Way,
): Promise<Shown> {
  const vendor = await openVendor(dialect)
  const runtime = createRuntime({
    models: { 'play/model': modelAt(vendor.baseUrl) },
    agents: [agent('root', { tools: ['weather'], showReasoning })],
    tools: [weather],
    retry: { tries: 1 },
  })
  const live: string[] = []
  const leave = new AbortController()
  const read = async () => {
    for await (const event of runtime.followEvents('chats/1', { signal: leave.signal }))
      if (event.type === 'delta' && event.kind === 'reasoning')
        live[event.content.attempt - 1] = `${live[event.content.attempt - 1] ?? ''}${event.content.reasoning}`
  }
  try {
    await runtime.start({ agent: 'root', id: 'chats/1' })
    const reading = streamed ? read() : null
    await until(() => true)
    const { text } = await (await runtime.run('chats/1', { prompt: 'How is the weather?' })).result
    await until(() => true)
    leave.abort()
    await reading
    const { messages } = await runtime.getDocument('chats/1', { detail: 'full' })
    const stored = messages.flatMap(({ reasoning }) => reasoning ?? [])
    return { live, stored, text, requests: vendor.bodies.map((body) => dialect.history(body)) }
  } finally {
    await Promise.all([runtime.close(), vendor.close()])
  }
}

function modelOf({ model, providerOptions = {} }: Peer, baseUrl: string): Model {
  const middleware = defaultSettingsMiddleware({ settings: { providerOptions: providerOptions as never } })
  return aiSdkModel(wrapLanguageModel({ model: model(baseUrl), middleware }))
}

const thoughts = loop.map(({ thought }) => thought)

/** These keep their thoughts to themselves, sealed or not sent at all. */
const silent: readonly string[] = ['Anthropic, sealed', 'Gemini 3 over chat completions', 'OpenAI chat completions']

async function hold(dialect: Dialect, modelAt: (baseUrl: string) => Model, expected: readonly string[]) {
  for (const streamed of [true, false]) {
    const on = await play(dialect, modelAt, { showReasoning: true, streamed })
    const off = await play(dialect, modelAt, { showReasoning: false, streamed })
    assert.deepEqual([on.text, on.stored], ['Rain everywhere.', expected], `streamed ${streamed}`)
    assert.deepEqual(on.live, streamed ? expected : [])
    assert.deepEqual([off.live, off.stored, off.text], [[], [], 'Rain everywhere.'])
    assert.deepEqual(on.requests, off.requests, 'what goes back is the same')
  }
}

describe('the thoughts of a tape, through the real packages', () => {
  for (const peer of peers)
    test(`${peer.dialect.name}, aiSdkModel`, () =>
      hold(peer.dialect, (baseUrl) => modelOf(peer, baseUrl), silent.includes(peer.dialect.name) ? [] : thoughts))
  for (const dialect of ownDialects)
    test(`${dialect.name}, openaiCompatible`, () =>
      hold(
        dialect,
        (baseUrl) => openaiCompatible({ baseUrl, model: 'thinker' }),
        silent.includes(dialect.name) ? [] : thoughts,
      ))
})
