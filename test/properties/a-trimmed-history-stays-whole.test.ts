/** Whatever is cut: no call is without its result, the system message stands, and nothing hidden comes back in a summary. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { scriptedModel, systemText } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import fc from 'fast-check'
import { z } from 'zod'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { type RandomSystem, randomPlay, randomSystem, toTheEnd, definedBy } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'

const canary = 'cny_4f1c9e77b2'
const key = { name: 'key', sendToModel: false, secret: true, policy: 'forbidModelGeneration' } as const
const condense = 'You condense.'

/** A tool that says the hidden value aloud, in the forms that hidden values come back in. */
const leaky = defineTool({
  name: 'note',
  description: 'Notes.',
  parameters: z.object({}),
  effect: 'none',
  execute: async () => `key ${canary} or ${Buffer.from(canary).toString('base64')}`,
})

type Trim = NonNullable<AgentInput['history']>['trim']

const trims: fc.Arbitrary<Trim> = fc.oneof(
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

async function converse(system: RandomSystem, ways: readonly Trim[]) {
  const play = randomPlay(system.seed)
  const model = scriptedModel((request, turn) =>
    systemText(request) === condense
      ? `${canary} ${request.messages[1]?.content.slice(-200, -60)}`
      : play(request, turn),
  )
  const agents = system.agents.map((one, index) => {
    const trim = ways[index % ways.length] as Trim
    if (one.workflow) return { ...one, parameters: [key] }
    return {
      ...one,
      history: { trim },
      parameters: [key, ...(one.parameters ?? []).filter(({ name }) => name !== 'key')],
    }
  })
  const options = { tools: [leaky], ...definedBy(system), models: { 'play/model': model } }
  const stage = createStage({ agents, plays: {}, options })
  await stage.runtime.start({ agent: 'a', id: 'chats/1', parameters: { key: canary } })
  const results = []
  for (const prompt of ['go', 'again', 'once more', 'and more', 'the last']) {
    results.push(await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt })))
  }
  return { stage, results, requests: model.requests, events: await stage.events('chats/1') }
}

test('[P22] [P21] [E46] [E47] a trimmed history is whole, keeps its system message, and holds nothing hidden', async (context) => {
  let summaries = 0
  let cuts = 0
  const property = fc.asyncProperty(
    randomSystem,
    fc.array(trims, { minLength: 1, maxLength: 3 }),
    async (system, ways) => {
      const { stage, results, requests, events } = await converse(system, ways)
      assertSound(events, system.agents[0]?.limits?.maxDepth ?? 8)
      for (const result of results) assertUsage(result, events)
      for (const request of requests) {
        assertAlternates(request)
        assert.match(systemText(request), /^You (are [a-e]\.|condense\.$)/)
        assert.ok(!JSON.stringify(request).includes(canary), 'P22: a model read a hidden value')
        if (systemText(request) === condense) summaries += 1
      }
      cuts += events.filter(({ type }) => type === 'summary').length
      assert.ok(!JSON.stringify(events.filter(({ type }) => type === 'summary')).includes(canary))
      const { messages } = await stage.runtime.getDocument('chats/1', { limit: 200 })
      const said = messages
        .filter(({ author }) => author === 'user')
        // What a hook wrote stands in place of what was said.
        .map(({ text }) => text.replace(/( checked \d)+$/, ''))
      assert.deepEqual(said, ['go', 'again', 'once more', 'and more', 'the last'], 'the log was cut')
      assert.deepEqual(stage.reports, [])
    },
  )
  const expected = await holds(context, property, 300)
  assert.ok(
    summaries > expected(100) && cuts > summaries,
    `too little was trimmed: ${summaries} summaries, ${cuts} cuts`,
  )
})
