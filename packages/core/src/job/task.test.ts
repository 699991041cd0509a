/** What a task may spend of its tree, and what remains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareJob } from '../testing/bare-job.ts'
import { circumstances, grantOf } from './task.ts'

const limits = { maxModelCalls: 9, maxTokens: 1000, maxCostUsd: 4 }

test('[D13] a task gets half of what the tree has left, and nothing where half of it is nothing', async () => {
  const run = await bareJob([{ id: 'a', limits }])
  assert.deepEqual(grantOf(run.job), { modelCalls: 4, iterations: null, tokens: 500, costUsd: 2 })
  for (let calls = 0; calls < 7; calls += 1) run.reply('On.')
  assert.equal(grantOf(run.job)?.modelCalls, 1)
  run.reply('On.')
  assert.equal(grantOf(run.job), null)
})

test('[D13] a model call under way counts before its reply is there', async () => {
  const { job } = await bareJob([{ id: 'a', limits }])
  job.busy.set(job.identity.id, new AbortController())
  assert.equal(grantOf(job)?.modelCalls, 4, 'half of eight')
  assert.equal(circumstances(job).openModelCalls, 0, 'itself does not count against it')
  const asked = {
    call: job.run.root,
    purpose: 'progress' as const,
    modelId: 'play/model',
    folded: null,
    usesIteration: false,
  }
  job.lifecycle.modelCalls.push({ ...asked, reserved: 2, isAsking: false, isLost: false })
  assert.equal(circumstances(job).openModelCalls, 2)
})
