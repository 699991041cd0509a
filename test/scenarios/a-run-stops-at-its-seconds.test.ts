/** A run that has used up its wall time ends, also in the middle of a model call or a tool. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'

test('[D13] a model call that hangs is stopped at maxSeconds, and the run fails with what is used up', async () => {
  const clock = fakeClock()
  const model = scriptedModel(() => ({ hang: true }), { id: 'scripted/slow' })
  const agent = defineAgent({ id: 'slow', model, instructions: 'Take your time.', limits: { maxSeconds: 5 } })
  const witan = createRuntime({ agents: [agent], clock })
  const opened = await witan.start({ agent: 'slow', prompt: 'go' })
  clock.advance(4_999)
  assert.equal((await witan.getConversation(opened.id)).status, 'running')
  clock.advance(1)
  const result = await opened.run?.result
  assert.equal(result?.status, 'failed')
  assert.equal(result?.error?.code, 'BUDGET_EXCEEDED')
  assert.match(result?.error?.detail ?? '', /seconds 5 of 5/)
  await witan.close()
})

test('[D13] an hour of waiting is no work, so it uses up no seconds; the clock of the result counts it', async () => {
  const clock = fakeClock()
  const model = scriptedModel(turns(call('Ask'), 'done'), { id: 'scripted/asker' })
  const agent = defineAgent({
    id: 'asker',
    model,
    instructions: 'Ask.',
    actions: [{ name: 'Ask' }],
    limits: { maxSeconds: 5 },
  })
  const witan = createRuntime({ agents: [agent], clock })
  const opened = await witan.start({ agent: 'asker', prompt: 'go' })
  const waiting = await opened.run?.result
  assert.deepEqual([waiting?.status, waiting?.elapsedMs], ['waiting', 0])
  clock.advance(3_600_000)
  const actionResponses = [{ id: waiting?.interruptions[0]?.id ?? '', response: 'ok' }]
  const result = await (await witan.run(opened.id, { actionResponses })).result
  assert.deepEqual([result.status, result.elapsedMs], ['completed', 3_600_000])
  await witan.close()
})
