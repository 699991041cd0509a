/** A thinking model gets its own replies back whole: what the AI SDK's own loop sends in the second and third request of a tape, Witan sends. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible, type Runtime } from '@witan/core'
import {
  defaultSettingsMiddleware,
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai'
import { z } from 'zod'
import { agent } from '../support/stage.ts'
import { ownDialects, type Peer, peers } from '../support/vendors/peers.ts'
import { type Dialect, type Json, openVendor } from '../support/vendors/tape.ts'

const prompt = 'How is the weather in Oslo, Rome and Paris?'
const weatherIn = (city: string) => `rain in ${city}`

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  execute: ({ city }) => weatherIn(city),
})

type Way = 'plain' | 'streamed'

/** What a vendor was asked by a loop, without what says nothing of the conversation. */
async function asked(dialect: Dialect, loop: (baseUrl: string) => Promise<string>): Promise<readonly unknown[]> {
  const vendor = await openVendor(dialect)
  try {
    assert.equal(await loop(vendor.baseUrl), 'Rain everywhere.', vendor.refusals.join('\n'))
    assert.deepEqual(vendor.refusals, [])
    assert.equal(vendor.bodies.length, 3)
    return vendor.bodies.map((body) => dialect.history(body))
  } finally {
    await vendor.close()
  }
}

/** The model of a peer, which thinks because its caller says so. */
function modelOf({ model, providerOptions = {} }: Peer, baseUrl: string) {
  const middleware = defaultSettingsMiddleware({ settings: { providerOptions: providerOptions as never } })
  return wrapLanguageModel({ model: model(baseUrl), middleware })
}

/** The AI SDK's own loop. */
async function theirLoop(peer: Peer, baseUrl: string, way: Way): Promise<string> {
  const options = {
    model: modelOf(peer, baseUrl),
    instructions: 'You are root.',
    prompt,
    stopWhen: isStepCount(5),
    maxRetries: 0,
    tools: {
      weather: tool({
        inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
        execute: ({ city }) => weatherIn(city),
      }),
    },
  }
  if (way === 'plain') return (await generateText(options)).text
  return await streamText(options).text
}

/** Reads a conversation as it goes on, so that its models stream; counts the pieces. */
async function readDeltas(runtime: Runtime, signal: AbortSignal): Promise<number> {
  let count = 0
  for await (const event of runtime.followEvents('chats/1', { signal, verbose: true }))
    if (event.type === 'delta') count += 1
  return count
}

async function ourLoop(model: Model, way: Way): Promise<string> {
  const definition = agent('root', { tools: ['weather'] })
  const runtime = createRuntime({
    models: { 'play/model': model },
    agents: [definition],
    tools: [weather],
    retry: { tries: 1 },
  })
  try {
    if (way === 'plain') return (await runtime.conversation('root').run(prompt)).text
    await runtime.start({ agent: 'root', id: 'chats/1' })
    const reading = new AbortController()
    const pieces = readDeltas(runtime, reading.signal)
    const { text } = await (await runtime.run('chats/1', { prompt })).result
    reading.abort()
    assert.ok((await pieces) > 1, 'the reply was streamed')
    return text
  } finally {
    await runtime.close()
  }
}

describe('the loop of two calls at once, one more, and an answer', () => {
  for (const way of ['plain', 'streamed'] as const) {
    for (const peer of peers) {
      test(`${peer.dialect.name}, ${way}: each request is the one of the AI SDK`, async () => {
        const theirs = await asked(peer.dialect, (baseUrl) => theirLoop(peer, baseUrl, way))
        const ours = await asked(peer.dialect, (baseUrl) => ourLoop(aiSdkModel(modelOf(peer, baseUrl)), way))
        assert.deepEqual(ours, theirs)
      })
    }
    for (const dialect of ownDialects) {
      test(`${dialect.name}, ${way}: our own connection gives back what came`, async () => {
        const seen = await asked(dialect, (baseUrl) => ourLoop(openaiCompatible({ baseUrl, model: 'thinker' }), way))
        assert.equal((seen[2] as Json[]).length, 7)
      })
    }
  }
})
