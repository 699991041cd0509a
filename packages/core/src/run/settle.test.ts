/** How calls and jobs end: what is recorded, in which order, and what becomes of the job's row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '@witan/protocol'
import { bareJob } from '../testing/bare-job.ts'
import { failRun } from '../job/job.ts'
import { admit } from './admit.ts'
import { failCall, finish, park } from './settle.ts'

const system = [
  { id: 'a', tools: ['note'], subAgents: [{ agent: 'b' }], actions: [{ name: 'Ship', description: 'Ships.' }] },
  { id: 'b' },
]

test('a run that has its answer ends with it', async () => {
  const run = await bareJob(system)
  run.reply('Done.')
  const result = await finish(run.job)
  assert.deepEqual([result?.status, result?.text, run.lines()], ['completed', 'Done.', ['end agent']])
  assert.deepEqual(
    run.changes.map(({ kind, id }) => [kind, id]),
    [['rest', run.job.identity.id]],
  )
})

test('[I6] whatever has begun gets its end before a run that failed, the last one first', async () => {
  const run = await bareJob(system)
  run.reply('', ['note', {}], ['b', { message: 'Look.' }], ['Ship', {}])
  admit(run.job.run.root, run.job)
  run.lines()
  failRun(run.job, problem('BUDGET_EXCEEDED', 'Too much.'))
  assert.equal((await finish(run.job))?.error?.code, 'BUDGET_EXCEEDED')
  assert.deepEqual(run.lines(), [
    'error agent RUN_CANCELLED by b',
    'error tool RUN_CANCELLED',
    'resolved',
    'error tool RUN_CANCELLED',
    'error agent BUDGET_EXCEEDED',
  ])
})

test('a child that fails is an error to its caller, and the run goes on', async () => {
  const run = await bareJob(system)
  run.reply('', ['b', { message: 'Look.' }])
  admit(run.job.run.root, run.job)
  run.lines()
  const child = [...run.job.run.calls.values()].at(-1) as (typeof run.job.run)['root']
  failCall(child, run.job, { code: 'MODEL_CALL_FAILED', detail: 'down', hint: 'Wait.' })
  assert.deepEqual([run.lines(), run.job.lifecycle.failure], [['error agent MODEL_CALL_FAILED by b'], null])
  failCall(run.job.run.root, run.job, { code: 'MODEL_CALL_FAILED', detail: 'down', hint: 'Wait.' })
  assert.equal(run.job.lifecycle.failure?.code, 'MODEL_CALL_FAILED', 'what fails the root fails the run')
})

test('a run that waits records nothing, and its row rests', async () => {
  const run = await bareJob(system)
  run.reply('', ['Ship', {}])
  admit(run.job.run.root, run.job)
  run.lines()
  const result = await park(run.job)
  assert.deepEqual([result?.status, run.lines()], ['waiting', []])
  assert.equal(run.changes.at(-1)?.kind, 'rest')
})
