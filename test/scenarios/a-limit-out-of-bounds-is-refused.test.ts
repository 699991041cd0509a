/** Every limit there is, with what is no limit: of agents, of a conversation, of the runtime. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createRuntime, defineAgent, type Runtime } from '@witan/core'
import { limitsSchema } from '@witan/protocol/schemas'
import { agent, createStage, type Stage } from '../support/stage.ts'

const wrong: readonly unknown[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e12, '5', true, [1]]
const limits = Object.keys(limitsSchema.shape)

/** Money comes in parts, everything else in whole numbers. */
const wrongFor = (limit: string) => wrong.filter((value) => limit !== 'maxCostUsd' || value !== 1.5)
/** The bounds that the text must name: the least and the most. */
const names = (limit: string) => {
  const bounds = limit === 'maxCostUsd' ? 'a number above 0, at most \\d+' : 'an integer 1–\\d+'
  return new RegExp(`^limits\\.${limit} must be ${bounds}\\.$`)
}

describe('what is no limit [E33]', () => {
  let stage: Stage
  let runtime: Runtime
  before(() => {
    stage = createStage({ agents: [{ id: 'plain' }], plays: { plain: () => 'ok' } })
    runtime = stage.runtime
  })
  after(() => runtime.close())

  test('[E33] there are limits to look at', () => {
    assert.ok(limits.includes('maxDepth') && limits.length >= 7)
  })

  for (const limit of limits) {
    test(`[E33] limits.${limit} of an agent, as data and as code`, async () => {
      for (const value of wrongFor(limit)) {
        const bad = { ...agent('bad'), limits: { [limit]: value } }
        const refused = { code: 'LIMIT_INVALID', path: `limits.${limit}`, message: names(limit) }
        await assert.rejects(runtime.agents.save(bad as never), refused, `${value}`)
        assert.throws(() => defineAgent(bad as never), refused)
        const { errors } = await runtime.agents.check([bad])
        assert.deepEqual([errors[0]?.code, errors[0]?.path], ['LIMIT_INVALID', `limits.${limit}`])
      }
      assert.deepEqual(
        (await runtime.agents.list()).items.map(({ id }) => id),
        ['plain'],
      )
    })
  }

  test('[E33] limits that are no object, and a limit of null that has a default', async () => {
    for (const value of [0, null, 'x', [1]]) {
      await assert.rejects(runtime.agents.save({ ...agent('bad'), limits: value as never }), { path: 'limits' })
    }
    const bad = { ...agent('bad'), limits: { maxDepth: null } }
    await assert.rejects(runtime.agents.save(bad as never), { code: 'LIMIT_INVALID', path: 'limits.maxDepth' })
  })

  test('[E33] the cap of a conversation', async () => {
    for (const value of wrong) {
      await assert.rejects(runtime.start({ agent: 'plain', prompt: 'x', maxModelIterationsPerCall: value as number }), {
        code: 'LIMIT_INVALID',
        path: 'maxModelIterationsPerCall',
      })
    }
    assert.deepEqual((await runtime.listConversations()).items, [])
  })

  test('[E33] the ceilings of the runtime; only a depth may be endless', async () => {
    for (const name of ['maxDepth', 'maxModelCalls'] as const) {
      for (const value of wrong) {
        if (name === 'maxDepth' && value === Number.POSITIVE_INFINITY) continue
        assert.throws(() => createRuntime({ limits: { [name]: value as number } }), {
          code: 'LIMIT_INVALID',
          path: `limits.${name}`,
          message: names(name),
        })
      }
    }
    await createRuntime({ limits: { maxDepth: Number.POSITIVE_INFINITY, maxModelCalls: 100_000 } }).close()
  })
})
