/** Who owns a job, by its log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '../run/loop.ts'
import { bareJob } from '../testing/bare-job.ts'
import { takeOver } from '../worker/drive.ts'
import { isOurs } from './job.ts'

test('[D1] [D5] a job stops where its log shows a later owner, and does nothing of what that one has begun', async () => {
  const run = await bareJob([{ id: 'a' }])
  assert.equal(isOurs(run.job), true)
  const later = run.next(2)
  takeOver(later, { kind: 'run', attempts: 2 }, false)
  run.lines()
  assert.equal(isOurs(later), true)
  assert.equal(isOurs(run.job), false)
  assert.deepEqual(await advance(run.job), { kind: 'stopped', reason: 'fenced' })
  assert.deepEqual(run.lines(), [])
})
