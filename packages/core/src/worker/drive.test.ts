/** What a worker records when it takes a job over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareJob } from '../testing/bare-job.ts'
import { mostInARow, takeOver } from './drive.ts'

const lost = ['error model MODEL_CALL_LOST', 'notice USAGE_INCOMPLETE']

test('a first owner, and one that takes up what was at rest, record nothing', async () => {
  const run = await bareJob([{ id: 'a' }])
  takeOver(run.job, { kind: 'run', attempts: 1 }, false)
  takeOver(run.next(1), { kind: 'run', attempts: 1 }, false)
  assert.deepEqual(run.lines(), [])
})

test('[D23] after a loss the next owner says so, and that a model call under way is spent', async () => {
  const run = await bareJob([{ id: 'a' }])
  takeOver(run.next(2), { kind: 'run', attempts: 2 }, false)
  assert.deepEqual(run.lines(), ['notice RUN_RECOVERED', ...lost])
})

test('a process that had let a job go itself says only what it had under way', async () => {
  const run = await bareJob([{ id: 'a' }])
  takeOver(run.next(1), { kind: 'run', attempts: 1 }, true)
  assert.deepEqual(run.lines(), lost)
})

test('[D23] too many losses in a row set a job aside', async () => {
  for (const attempts of [mostInARow, mostInARow + 1]) {
    const job = (await bareJob([{ id: 'a' }])).next(attempts)
    takeOver(job, { kind: 'run', attempts }, false)
    const code = attempts > mostInARow ? 'RUN_QUARANTINED' : undefined
    assert.equal(job.lifecycle.failure?.code, code, `after ${attempts}`)
  }
})
