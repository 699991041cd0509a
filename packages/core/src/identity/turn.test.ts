/** The share of a turn: long work is spread over turns however much of it there is, and goes on in the order in which it asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countWork, isTurnSpent, isWorkSpent, nextTurn, pause } from './turn.ts'
import { threadCpuMs } from './clock.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

/** Works for this many ms of CPU. */
function work(ms: number): void {
  for (const until = threadCpuMs() + ms; threadCpuMs() < until; );
}

test('200 jobs at once hold no turn for longer than their common share and one piece', async () => {
  const job = async () => {
    for (let piece = 0; piece < 3; piece += 1) {
      work(1)
      await pause()
    }
  }
  await assertCheap({ longest: 30 }, async () => {
    await nextTurn()
    const jobs: Promise<void>[] = []
    for (let index = 0; index < 200; index += 1) {
      await pause()
      jobs.push(job())
    }
    await Promise.all(jobs)
  })
})

test('a turn is spent after its share, and the next one is not', async () => {
  await nextTurn()
  assert.equal(isTurnSpent(), false)
  work(20)
  assert.equal(isTurnSpent(), true)
  await nextTurn()
  assert.equal(isTurnSpent(), false)
})

test('work goes on in the order in which it asked', async () => {
  const order: number[] = []
  await Promise.all([1, 2, 3, 4, 5].map((one) => nextTurn().then(() => order.push(one))))
  assert.deepEqual(order, [1, 2, 3, 4, 5])
})

test('counted work fills a turn whatever its time, and the next turn begins anew', async () => {
  await nextTurn()
  for (let piece = 0; piece < 1000; piece += 1) countWork(400)
  assert.equal(isWorkSpent(), false)
  for (let piece = 0; piece < 8; piece += 1) countWork(10_000)
  assert.equal(isWorkSpent(), true)
  await nextTurn()
  assert.equal(isWorkSpent(), false)
})
