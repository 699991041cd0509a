/** When spans are sent: together, and never a request for each run. */
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Delivery, type Sent } from './delivery.ts'

/** A delivery whose time and server are ours: `pass` lets the wait end, `answer` ends the oldest request. */
function createStage() {
  const waits: { readonly ms: number; readonly done: () => void }[] = []
  const requests: {
    readonly spans: number
    readonly answer: (sent: Sent) => void
    readonly leftOut: (spans: number) => void
  }[] = []
  const delivery = new Delivery({
    name: 'test',
    maxQueue: 10_000,
    random: () => 0,
    report: () => {},
    clock: {
      now: () => 0,
      after(ms: number, done: () => void) {
        const wait = { ms, done }
        waits.push(wait)
        return () => void waits.splice(waits.indexOf(wait), waits.includes(wait) ? 1 : 0)
      },
    } as unknown as ConstructorParameters<typeof Delivery>[0]['clock'],
    send: (parcels, _, leftOut) =>
      new Promise((answer) => {
        requests.push({ spans: parcels.reduce((sum, { count }) => sum + count, 0), answer, leftOut })
      }),
  })
  const offer = (count: number) =>
    delivery.offer([{ count, bytes: count * 4, data: 'span' }], { group: '', summary: null })
  const pass = () => waits.shift()?.done()
  const answer = async (sent: Sent = { kind: 'taken' }) => {
    requests.at(-1)?.answer(sent)
    await turn()
  }
  return {
    offer,
    pass,
    answer,
    waits: () => waits.map(({ ms }) => ms),
    requests: () => requests.map(({ spans }) => spans),
    counts: () => delivery.counts(),
    leaveOut: (spans: number) => requests.at(-1)?.leftOut(spans),
  }
}

test('[E80] spans that come while a request is under way wait for more, as the first ones did', async () => {
  const { offer, pass, answer, waits, requests } = createStage()
  offer(4)
  assert.deepEqual(waits(), [500])
  pass()
  offer(3)
  await answer()
  assert.deepEqual([requests(), waits()], [[4], [500]])
  offer(2)
  pass()
  assert.deepEqual(requests(), [4, 5])
})

test('[E80] what fills a request is sent at once, but for a server that has failed', async () => {
  const { offer, pass, answer, waits, requests } = createStage()
  offer(300)
  offer(300)
  assert.deepEqual(waits(), [0])
  pass()
  assert.deepEqual(requests(), [300])
  offer(600)
  await answer()
  assert.deepEqual(requests(), [300, 300])
  await answer({ kind: 'failed', reason: 'away', retryAfterMs: null })
  offer(600)
  assert.deepEqual([requests(), waits()], [[300, 300], [500]])
  assert.equal(requests().length, 2)
})

test('[E80] spans that a server did not take of a request are counted as dropped, and not sent again', async () => {
  const { offer, pass, answer, leaveOut, counts, requests } = createStage()
  offer(5)
  pass()
  await answer()
  leaveOut(2)
  const { queued, dropped } = counts()
  assert.deepEqual([requests(), queued, dropped], [[5], 0, 2])
})
