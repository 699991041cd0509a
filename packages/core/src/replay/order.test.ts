/** Tb29: a plan may assume that entries were recorded in another order than they were stored in, and they are stored in that of the log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import { inOrder, otherPlans, usualPlan } from './plan.ts'
import { createScript, isEarly, takeEntry, takeStored } from './script.ts'

/** An entry of each of these jobs, in the order of the log. */
function logOf(...jobs: readonly string[]): readonly Entry[] {
  return jobs.map((job, at) => {
    const place = {
      call: job,
      parentCall: null,
      run: job,
      document: 'chats/1',
      author: 'a',
      agentPath: 'a',
      invocation: job,
    }
    const body = { code: 'MODEL_WARNING', detail: `${at}` } as const
    const entry = makeEntry({ type: 'notice', kind: null, body }, { place, job, epoch: 1, appendNo: 9 + at, at: 0 })
    return { ...entry, seq: at + 1 }
  })
}

const jobsIn = (entries: readonly Entry[]) => entries.map(({ job }) => job).join('')

test('[Tb29] an entry that was recorded early is stored in the order of the log', () => {
  const log = logOf('a', 'b')
  const [first, second] = log as [Entry, Entry]
  const script = createScript(inOrder(log, { ...usualPlan, moves: [[1, 0, 1]] }), { from: 0, jobs: [] })
  takeEntry(script, second)
  takeEntry(script, first)
  assert.equal(script.difference, null)
  assert.equal(isEarly(script, { entries: [second] }), true)
  takeStored(script, first)
  assert.equal(isEarly(script, { entries: [second] }), false)
  takeStored(script, second)
  assert.equal(script.difference, null)
})

test('[Tb29] an entry that is stored before one that the log has before it is a difference', () => {
  const log = logOf('a', 'b')
  const script = createScript(inOrder(log, { ...usualPlan, moves: [[1, 0, 1]] }), { from: 0, jobs: [] })
  for (const entry of log.toReversed()) takeStored(script, entry)
  assert.equal(script.difference?.seq, 1)
  assert.equal(script.difference.came?.job, 'b')
})

test('[Tb29] a plan keeps the order of each job', () => {
  const log = logOf('a', 'a', 'b', 'c', 'b', 'd')
  const orders = [...otherPlans(usualPlan, { order: log, at: 2, stored: [1, 2] })].map((plan) => [
    [...plan.holds].join(),
    jobsIn(inOrder(log, plan)),
  ])
  assert.deepEqual(orders.slice(0, 3), [
    ['2,3', 'aabcbd'],
    ['1,3', 'aabcbd'],
    ['', 'baacbd'],
  ])
  for (const [, order = ''] of orders) {
    assert.equal(order.replaceAll(/[^b]/g, ''), 'bb')
    assert.equal([...order].sort().join(''), 'aabbcd')
  }
  assert.ok(orders.some(([, order]) => order === 'caabbd'))
  assert.ok(!orders.some(([, order]) => order === 'bbaacd'))
})

test('[Tb29] a plan moves what a job recorded together, up to what its next owner recorded', () => {
  const log = logOf('a', 'b', 'a', 'a', 'a').map((entry, at) => (at === 4 ? { ...entry, epoch: 2 } : entry))
  const moved = [...otherPlans(usualPlan, { order: log, at: 2, stored: [] })].map(({ moves: [one] }) => one?.join())
  assert.ok(moved.includes('2,1,2'))
  assert.ok(!moved.includes('2,1,3'))
})
