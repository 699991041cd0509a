/** What a job does next, by its state and what is under way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BareJob, bareJob } from '../testing/bare-job.ts'
import { decide } from './decide.ts'
import { recordWork } from './perform.ts'

const idle = { busy: new Map(), remembered: new WeakSet(), isFailing: false, hooks: null }
const helpers = { subAgents: [{ agent: 'b' }, { agent: 'c' }], tools: ['note'] }
const system = [{ id: 'a', ...helpers }, { id: 'b' }, { id: 'c' }]

/** The kinds of work to do now, or why there is none. */
function next({ job }: BareJob, underway = idle): string {
  const decided = decide(job.run, underway)
  return decided.kind === 'work' ? decided.work.map(({ kind }) => kind).join(' ') : decided.kind
}

/** Does the work that only records. */
function admitAll({ job }: BareJob): void {
  const decided = decide(job.run, idle)
  if (decided.kind === 'work') for (const work of decided.work) recordWork(work, job)
}

test('a run that has begun asks its model, and then waits for it', async () => {
  const run = await bareJob(system)
  assert.equal(next(run), 'think')
  assert.equal(next(run, { ...idle, busy: new Map([[run.job.identity.id, null]]) }), 'busy')
})

test('the calls of a reply are admitted before anything else, and then run beside each other', async () => {
  const run = await bareJob(system)
  run.reply('', ['note', {}], ['note', {}])
  assert.equal(next(run), 'admit')
  admitAll(run)
  assert.equal(next(run), 'act act')
})

test('[C14] no more runs at once than the tree allows, whatever it is', async () => {
  const run = await bareJob([{ id: 'a', ...helpers, limits: { maxParallel: 2 } }, { id: 'b' }, { id: 'c' }])
  run.reply('', ['note', {}], ['b', { message: 'one' }], ['c', { message: 'two' }])
  admitAll(run)
  assert.equal(next(run), 'act think')
  assert.equal(
    next(run, { busy: new Map([['other', null]]), isFailing: false, remembered: new WeakSet(), hooks: null }),
    'act',
  )
})

test('an answer ends a run; a message that nobody has read lets it go on', async () => {
  const run = await bareJob(system)
  run.reply('Done.')
  assert.equal(next(run), 'finish')
  run.apply({ type: 'message', kind: null, body: { author: 'user', text: 'And more.' } })
  assert.equal(next(run), 'think')
})

test('a run that fails or was cancelled stops what is under way first, and begins nothing', async () => {
  const run = await bareJob(system)
  const busy = new Map([[run.job.identity.id, null]])
  assert.deepEqual(
    [
      next(run, { busy, isFailing: true, remembered: new WeakSet(), hooks: null }),
      next(run, { ...idle, isFailing: true }),
    ],
    ['stop', 'finish'],
  )
  run.apply({ type: 'cancel', kind: null, body: { by: 'user:local', tasks: false } })
  assert.deepEqual(
    [next(run, { busy, isFailing: false, remembered: new WeakSet(), hooks: null }), next(run)],
    ['stop', 'finish'],
  )
})
