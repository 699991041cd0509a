/** What a worker does with a job that it claims while it still has it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobPlace, JobRow, Store } from '../store/store.ts'
import { bareJob } from '../testing/bare-job.ts'
import { Worker } from './worker.ts'

/** A worker at work on a job, with an effect of it under way, and the row of a later claim of the same job. */
async function working() {
  const { job } = await bareJob([{ id: 'a' }])
  const { env, log, identity } = job
  const released: (readonly JobPlace[] | undefined)[] = []
  const store: Partial<Store> = {
    releaseJobs: async (_owner, ids) => void released.push(ids),
    claimJobs: async () => [],
  }
  type Context = ConstructorParameters<typeof Worker>[0]
  const context = { env, store, takesWork: true, maxJobs: 10, note: null }
  const worker = new Worker(context as unknown as Context)
  worker.live.set(identity.id, job)
  const effect = new AbortController()
  job.busy.set('a-call', effect)
  const claimed = { owner: env.owner, epoch: identity.epoch + 1, attempts: 1 }
  const row = { database: 'default', id: identity.id, kind: 'run', ...claimed } as JobRow
  return { worker, job, effect, released, claim: () => worker.run(row, log) }
}

test('[D5] a job claimed anew gives up what its first claim has under way, and is claimed once more from the log', async () => {
  const { job, effect, released, claim } = await working()
  claim()
  assert.equal(job.lifecycle.stopped, 'taken over')
  assert.equal(effect.signal.aborted, true)
  assert.equal(job.log.isBroken, true)
  assert.deepEqual(released, [[{ database: 'default', id: job.identity.id }]])
})

test('[D5] a job that was woken before its worker has left it begins again once it has, and nothing is given up', async () => {
  const { job, effect, released, claim } = await working()
  job.lifecycle.isReleased = true
  claim()
  assert.equal(job.lifecycle.stopped, null)
  assert.equal(effect.signal.aborted, false)
  assert.equal(typeof job.lifecycle.next, 'function')
  assert.deepEqual(released, [])
})

test('[D5] an earlier claim that is told late changes nothing', async () => {
  const { worker, job, effect, released } = await working()
  const late = { id: job.identity.id, epoch: job.identity.epoch, owner: job.env.owner } as JobRow
  worker.run(late, job.log)
  assert.equal(job.lifecycle.stopped, null)
  assert.equal(effect.signal.aborted, false)
  assert.deepEqual(released, [])
})
