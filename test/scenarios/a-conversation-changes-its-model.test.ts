/** A conversation whose model changes sends the next one nothing that the last one was marked with: between turns, and in the middle of one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aiSdkModel, createRuntime, defineTool, type Model, openaiCompatible, type Runtime } from '@witan/core'
import { z } from 'zod'
import { isWhole } from '../support/seeds.ts'
import { agent } from '../support/stage.ts'
import { ownDialects, peers } from '../support/vendors/peers.ts'
import { type Dialect, loop, openVendor, type Vendor } from '../support/vendors/tape.ts'

/** A model and the vendor behind it. */
interface Way {
  readonly name: string
  readonly dialect: Dialect
  model(baseUrl: string): Model
}

const ways: readonly Way[] = [
  ...peers.map(({ dialect, model, providerOptions = {} }) => {
    const { provider, modelId } = model('http://127.0.0.1:1')
    const options = { providerOptions: providerOptions as never }
    return { name: `${provider}/${modelId}`, dialect, model: (baseUrl: string) => aiSdkModel(model(baseUrl), options) }
  }),
  ...ownDialects.map((dialect) => ({
    name: `ours ${dialect.name}`,
    dialect,
    model: (baseUrl: string) => openaiCompatible({ baseUrl, model: 'thinker' }),
  })),
]

/** The parts that mark a reply of the tape: what was thought, and how it was signed. */
const marks = /sign-\d|Two cities|And Paris|All rain/

/** Takes whatever it gets: the AI SDK says in each vendor's own way that nothing of its own can come back. */
const lenient = (dialect: Dialect): Dialect => ({ ...dialect, refusal: () => null })

const settings = { tools: ['weather'], fallbacks: ['play/other'] }

function open(models: Readonly<Record<string, Model>>, look: (city: string) => Promise<void>): Runtime {
  const weather = defineTool({
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    effect: 'none',
    async execute({ city }) {
      await look(city)
      return `rain in ${city}`
    },
  })
  return createRuntime({ models, agents: [agent('root', settings)], tools: [weather], retry: { tries: 1 } })
}

/** Runs a scene with two vendors; the second gives the last answer of the tape. */
async function play(
  [first, second]: readonly [Way, Way],
  scene: (runtime: Runtime, vendors: { readonly one: Vendor; readonly two: Vendor }) => Promise<void>,
  look: (city: string, one: Vendor) => Promise<void> = async () => {},
): Promise<void> {
  const one = await openVendor(first.dialect)
  const two = await openVendor(lenient(second.dialect), loop.slice(2))
  const models = { 'play/model': first.model(one.baseUrl), 'play/other': second.model(two.baseUrl) }
  const runtime = open(models, (city) => look(city, one))
  await scene(runtime, { one, two })
  assert.doesNotMatch(JSON.stringify(two.bodies), marks)
  await Promise.all([runtime.close(), one.close().catch(() => null), two.close()])
}

/** Each vendor behind the one before it; with all tests behind every other one. */
const pairs = ways.flatMap((one, at) =>
  (isWhole ? ways.filter((other) => other !== one) : [ways[(at + 1) % ways.length] as Way]).map(
    (other) => [one, other] as const,
  ),
)

describe('[E45] a conversation that changes its model sends nothing foreign', () => {
  for (const way of ways) {
    test(`between turns, to ${way.name} (${way.dialect.name})`, async () => {
      for (const pair of pairs.filter(([, second]) => second === way)) {
        await play(pair, async (runtime, { one, two }) => {
          const chat = runtime.conversation('root', { id: 'chats/1' })
          assert.equal((await chat.run('Rain?')).text, 'Rain everywhere.', one.refusals.join('\n'))
          await runtime.agents.save({ ...agent('root', settings), model: 'play/other' })
          const result = await chat.run('And now?')
          assert.equal(result.text, 'Rain everywhere.', `from ${pair[0].name}: ${result.error?.detail}`)
          assert.deepEqual([one.bodies.length, two.bodies.length], [3, 1])
          // All three replies stand there, as anybody's: words, and calls with their results.
          for (const words of [/Let me look\./, /rain in Oslo/, /rain in Paris/, /Rain everywhere\./])
            assert.match(JSON.stringify(two.bodies[0]), words)
        })
      }
    })

    test(`in the middle of a turn, to ${way.name} (${way.dialect.name})`, async () => {
      for (const pair of pairs.filter(([, second]) => second === way)) {
        const gone = async (city: string, one: Vendor) => (city === 'Oslo' ? one.close() : undefined)
        await play(
          pair,
          async (runtime, { one, two }) => {
            const result = await runtime.conversation('root', { id: 'chats/1' }).run('Rain?')
            assert.equal(result.text, 'Rain everywhere.', `from ${pair[0].name}: ${result.error?.detail}`)
            assert.deepEqual([one.bodies.length, two.bodies.length], [1, 1])
            assert.match(JSON.stringify(two.bodies[0]), /rain in Rome/)
          },
          gone,
        )
      }
    })
  }
})
