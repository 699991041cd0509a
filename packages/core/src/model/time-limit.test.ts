import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../../test/support/clock.ts'
import { ModelCallError } from './model.ts'
import { isTimeOver, TimeLimit, withinLimit } from './time-limit.ts'

test('each call has the whole time, and one timer watches over all of them', () => {
  const { clock, timers } = counted()
  const limit = new TimeLimit(clock, 5000)
  const calls = [0, 1, 2].map(() => new AbortController())
  const watched = calls.map((call) => {
    const one = limit.begin(call)
    clock.advance(1000)
    return one
  })
  assert.equal(timers(), 1)
  for (const one of watched.slice(1, 2)) limit.end(one)
  clock.advance(2000)
  assert.deepEqual(
    calls.map(({ signal }) => isTimeOver(signal)),
    [true, false, false],
  )
  clock.advance(2000)
  const [first, ended, last] = calls.map(({ signal }) => signal)
  assert.deepEqual(
    [first, ended, last].map((signal) => signal?.aborted),
    [true, false, true],
  )
  assert.ok(last?.reason instanceof ModelCallError && !last.reason.retryable && last.reason.trouble === 'time')
  assert.equal(last.reason.mayHaveCost, true)
  assert.match(last.reason.message, /more than 5000 ms/)
})

test('nothing is aborted after the limit is closed', () => {
  const clock = fakeClock()
  const limit = new TimeLimit(clock, 5000)
  const call = new AbortController()
  limit.begin(call)
  limit.close()
  clock.advance(5000)
  assert.equal(call.signal.aborted, false)
})

test('a call that is given up is not late', async () => {
  const limit = new TimeLimit(fakeClock(), 5000)
  const given = AbortSignal.abort('cancelled')
  assert.equal(isTimeOver(given), false)
  await withinLimit(limit, given, async (signal) => assert.equal(signal.reason, 'cancelled'))
})

test('a call within the limit is aborted when its time is over', async () => {
  const clock = fakeClock()
  const late = withinLimit(
    new TimeLimit(clock, 5000),
    new AbortController().signal,
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  clock.advance(5000)
  await assert.rejects(late, /more than 5000 ms/)
})

function counted() {
  const clock = fakeClock()
  let count = 0
  const after: typeof clock.after = (...of) => {
    count += 1
    return clock.after(...of)
  }
  return { clock: { ...clock, after }, timers: () => count }
}
