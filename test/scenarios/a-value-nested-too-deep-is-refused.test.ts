/** Values from code that nest so deep that writing them down would exhaust the stack: each door refuses them by name. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineAgent, type Runtime } from '@witan/core'
import { agent, createStage } from '../support/stage.ts'

let deep: unknown = 1
for (let depth = 0; depth < 20_000; depth += 1) deep = { a: deep }
const circle: Record<string, unknown> = {}
circle['self'] = circle
const refused = { code: 'JSON_TOO_DEEP', message: /nested deeper than 64/ }

describe('a value nested too deep', () => {
  let runtime: Runtime
  before(() => {
    runtime = createStage({ agents: [{ id: 'plain' }], plays: { plain: () => 'ok' } }).runtime
  })
  after(() => runtime.close())

  for (const [name, value] of Object.entries({ deep, circle })) {
    test(`${name}: in an agent, as data and as code, and in a check`, async () => {
      const bad = { ...agent('bad'), outputSchema: { type: 'object', properties: value } }
      await assert.rejects(runtime.agents.save(bad), refused)
      assert.throws(() => defineAgent(bad as never), refused)
      const { errors } = await runtime.agents.check([bad])
      assert.equal(errors[0]?.code, 'JSON_TOO_DEEP')
    })

    test(`${name}: in a start, a run and an answer; the conversation goes on`, async () => {
      await assert.rejects(runtime.start({ agent: 'plain', parameters: { a: value } }), refused)
      const chat = runtime.conversation('plain')
      await chat.run('hello')
      const artificialActions = [{ name: 'Look', response: value }]
      await assert.rejects(runtime.run(chat.id, { prompt: 'and now?', artificialActions }), refused)
      await assert.rejects(runtime.answerInterruption('int_1', { answer: value }), refused)
      assert.equal((await chat.run('still there?')).status, 'completed')
    })
  }
})
