/** With cut histories, files and hidden values: what is computed is what the models got but for masked values, and it is the same where the log is imported. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, memoryStore, type ModelRequest, type Store } from '@witan/core'
import { exportStore, exportText, importInto, readExport } from '@witan/core/export'
import { scriptedModel, systemText } from '@witan/core/testing'
import type { AgentInput, Prompt } from '@witan/protocol'
import fc from 'fast-check'
import { z } from 'zod'
import { assertAsked, modelCallsOf } from '../support/asked.ts'
import { fakeClock } from '../support/clock.ts'
import { randomPlay, type RandomSystem, randomSystem, toTheEnd, definedBy } from '../support/random-system.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage } from '../support/stage.ts'

const secret = 'cny_4f1c9e77b2'
const later = 'Reykjavik-7741'
const condense = 'You condense.'
const key = { name: 'key', sendToModel: false, secret: true, policy: 'forbidModelGeneration' } as const

/** A tool that says the hidden value aloud. */
const leaky = defineTool({
  name: 'note',
  description: 'Notes.',
  parameters: z.object({}),
  effect: 'none',
  execute: async () => `key ${secret} or ${later}`,
})

type Trim = NonNullable<AgentInput['history']>['trim']

const trims: fc.Arbitrary<Trim | null> = fc.oneof(
  fc.constant(null),
  fc.record({
    kind: fc.constant('summarize' as const),
    maxTokensBefore: fc.integer({ min: 8, max: 60 }),
    maxTokensAfter: fc.integer({ min: 4, max: 8 }),
    beginningPrompt: fc.constant(condense),
  }),
  fc.record({
    kind: fc.constant('truncate' as const),
    messagesBefore: fc.integer({ min: 3, max: 8 }),
    messagesAfter: fc.integer({ min: 1, max: 3 }),
  }),
)

const file = (name: string, mediaType: string, text: string) =>
  ({ type: 'file', name, mediaType, data: Buffer.from(text).toString('base64') }) as const

/** What a person says: values that are hidden, and files. */
const prompts: readonly Prompt[] = [
  `my key is ${secret}`,
  [
    { type: 'text', text: 'read this' },
    file('a.txt', 'text/plain', `in ${later}`),
    file('b.png', 'image/png', 'pixels'),
  ],
  `again, in ${later}`,
  'and more',
]

function stagedOn(
  store: Store,
  { system, ways }: { readonly system: RandomSystem; readonly ways: readonly (Trim | null)[] },
) {
  const play = randomPlay(system.seed)
  const model = scriptedModel((request, turn) => (systemText(request) === condense ? 'in short' : play(request, turn)))
  const agents = system.agents.map((one, index): AgentDraft => {
    const more = (one.parameters ?? []).filter(({ name }) => name !== 'key')
    const parameters = index % 2 === 0 ? [key, { name: 'later' }, ...more] : [key, ...more]
    const trim = ways[index % ways.length] ?? null
    return one.workflow || trim === null ? { ...one, parameters } : { ...one, parameters, history: { trim } }
  })
  const options = { tools: [leaky], ...definedBy(system), models: { 'play/model': model }, store }
  const stage = createStage({ agents, plays: {}, options: { ...options, clock: fakeClock() } })
  return { stage, requests: model.requests as readonly ModelRequest[] }
}

/** The store in another one, by the lines of an export. */
async function imported(from: Store): Promise<Store> {
  async function* lines() {
    for await (const line of exportStore(from, await from.listDatabases())) yield exportText(line)
  }
  const to = outliving(memoryStore())
  await to.open()
  const take = importInto(to)
  for await (const item of readExport(lines())) await take(item)
  return to
}

const hide = (text: string) => text.replaceAll(secret, '[hidden]').replaceAll(later, '[hidden]')
const isAnswer = (request: ModelRequest) => systemText(request) !== condense

test('what is computed is what each model got but for hidden values, and the same where the log is imported', async (context) => {
  let [compared, masked, files] = [0, 0, 0]
  const property = fc.asyncProperty(
    randomSystem,
    fc.array(trims, { minLength: 1, maxLength: 3 }),
    async (system, ways) => {
      const store = outliving(memoryStore())
      const { stage, requests } = stagedOn(store, { system, ways })
      const { runtime } = stage
      await runtime
        .start({ agent: 'a', id: 'chats/1', parameters: { key: secret, later, made: 'm' } })
        .catch(() => runtime.start({ agent: 'a', id: 'chats/1', parameters: { key: secret, later } }))
      for (const prompt of prompts) await toTheEnd(runtime, await (await runtime.run('chats/1', { prompt })).result)
      await runtime.start({ agent: 'a', id: 'chats/1', parameters: { later: { value: later, sendToModel: false } } })
      const calls = await modelCallsOf(runtime, 'chats/1')
      const text = JSON.stringify(calls)
      assert.ok(!text.includes(secret) && !text.includes(later), 'a hidden value is shown')
      const counted = assertAsked(calls, requests, { hide, isAnswer })
      compared += counted.calls
      masked += counted.masked
      files += calls.filter(({ request }) => request?.messages.some(({ attached }) => attached !== undefined)).length
      await runtime.close()
      const elsewhere = stagedOn(await imported(store), { system, ways }).stage.runtime
      assert.deepEqual(await modelCallsOf(elsewhere, 'chats/1'), calls)
      await elsewhere.close()
    },
  )
  const expected = await holds(context, property, { all: 120, quick: 25 })
  assert.ok(compared > expected(600) && masked > expected(200), `only ${compared} were compared, ${masked} were masked`)
  assert.ok(files > expected(40), `only ${files} have files`)
  context.diagnostic(`${compared} model calls, ${masked} masked, ${files} with files`)
})
