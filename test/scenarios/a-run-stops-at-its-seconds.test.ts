/** A run that has used up its wall time ends, also in the middle of a model call or a tool. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
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
