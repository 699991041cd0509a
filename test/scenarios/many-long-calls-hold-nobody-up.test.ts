/** Calls whose checks are long, many in one reply or in many runs at once: each turn of the event loop does a few of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toolResults } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'
import { assertCheap } from '../support/cpu.ts'

/** References that branch twenty times: one check of them does all the work that a check may do. */
const chain = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` }
      return [`d${index}`, index === 19 ? { type: 'string' } : { anyOf: [next, next] }]
    }),
  ),
}
const plain = { type: 'object', properties: { a: {} } }
const many = 40

/** One call of `act` for each of so many, and then an answer. */
const acting = (count: number) => (request: Parameters<typeof toolResults>[0]) =>
  toolResults(request).length > 0
    ? 'Done.'
    : { toolCalls: Array.from({ length: count }, () => ({ name: 'act', arguments: { a: 1 } })) }

const kinds = [
  { what: 'arguments against a schema', action: chain, approvals: [] },
  { what: 'conditions of approvals', action: plain, approvals: [{ tool: 'act', when: chain }] },
]

for (const { what, action, approvals } of kinds) {
  const actor = (id: string) => ({
    id,
    actions: [{ name: 'act', description: 'Acts.', parametersSchema: action }],
    approvals,
  })

  test(`${many} calls of one reply: ${what}`, async () => {
    const stage = createStage({ agents: [actor('one')], plays: { one: acting(many) } })
    await stage.ask('one', 'Warm up.')
    const { result } = await assertCheap({ longest: 100 }, () => stage.ask('one', 'Act.'))
    assert.equal(result.interruptions.length, approvals.length === 0 ? 0 : many)
  })

  test(`one call each of ${many} runs at once: ${what}`, async () => {
    const stage = createStage({ agents: [actor('one')], plays: { one: acting(1) } })
    await stage.ask('one', 'Warm up.')
    await assertCheap({ longest: 100 }, () => Promise.all(Array.from({ length: many }, () => stage.ask('one', 'Act.'))))
  })
}

test('the answers of many runs at once, each against the schema of an output', async () => {
  const answer = { id: 'one', outputSchema: { ...chain, required: ['a'] } }
  const stage = createStage({ agents: [answer], plays: { one: () => '{"a":1}' } })
  await stage.ask('one', 'Warm up.')
  await assertCheap({ longest: 100 }, () =>
    Promise.all(Array.from({ length: many }, () => stage.ask('one', 'Answer.'))),
  )
})
