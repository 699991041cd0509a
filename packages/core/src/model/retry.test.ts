/** Tests of tries, waits and the provider's wish. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedModel } from '../testing/scripted-model.ts'

import { ModelCallError, type ModelPart, type ModelRequest } from './model.ts'
import type { RetryOptions } from './retry.ts'
import { readRetryAfter, readRetryWish, withRetries } from './retry.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

const request: ModelRequest = {
  messages: [],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}
const busy = (more: { retryAfterMs?: number } = {}) =>
  new ModelCallError('busy', { status: 429, retryable: true, ...more })

function failing(errors: readonly Error[], options: Partial<RetryOptions> = {}) {
  const waits: number[] = []
  const left = [...errors]
  const inner = scriptedModel(() => left.shift() ?? 'Fine.')
  const sleep = async (ms: number) => void waits.push(ms)
  return { inner, waits, model: withRetries(inner, { random: () => 0.5, sleep, ...options }) }
}

async function collect(
  model: ReturnType<typeof withRetries>,
  signal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal, deltas: true })) parts.push(part)
  return parts
}

test('a call that fails four times succeeds at the fifth, with waits that double [D23]', async () => {
  const { model, inner, waits } = failing([busy(), busy(), busy(), busy()])
  const parts = await collect(model)
  assert.deepEqual(
    parts.map(({ type }) => type),
    ['delta', 'reply'],
  )
  assert.equal(inner.requests.length, 5)
  assert.deepEqual(waits, [375, 750, 1500, 3000])
})

test('the fifth failure is thrown as it is', async () => {
  const last = busy()
  const { model, inner } = failing([busy(), busy(), busy(), busy(), last])
  await assert.rejects(collect(model), (error) => error === last)
  assert.equal(inner.requests.length, 5)
})

test('the jitter stays between half the wait and the whole of it, and the wait below its cap', async () => {
  const least = failing([busy(), busy(), busy()], { random: () => 0, maxDelayMs: 800 })
  await collect(least.model)
  assert.deepEqual(least.waits, [250, 400, 400])
  const most = failing([busy(), busy(), busy()], { random: () => 1, maxDelayMs: 800 })
  await collect(most.model)
  assert.deepEqual(most.waits, [500, 800, 800])
})

test('a wish of the provider lengthens the wait; one beyond the cap ends the call', async () => {
  const longer = failing([busy({ retryAfterMs: 9_000 }), busy({ retryAfterMs: 1 })])
  await collect(longer.model)
  assert.deepEqual(longer.waits, [9_000, 750])
  const tooLong = failing([busy({ retryAfterMs: 60_001 })])
  await assert.rejects(collect(tooLong.model), /busy/)
  assert.deepEqual(tooLong.waits, [])
})

test('what is not retryable is not retried, nor what is no failure of a call', async () => {
  for (const error of [new ModelCallError('bad', { status: 400, retryable: false }), new TypeError('bug')]) {
    const { model, inner } = failing([error])
    await assert.rejects(
      collect(model),
      (thrown) => thrown instanceof ModelCallError && thrown.message === error.message,
    )
    assert.equal(inner.requests.length, 1)
  }
})

test('after the first delta nothing is retried', async () => {
  const inner = scriptedModel(() => ({ deltas: ['Half'], error: busy() }))
  const model = withRetries(inner, { random: () => 0, sleep: async () => undefined })
  await assert.rejects(collect(model), /busy/)
  assert.equal(inner.requests.length, 1)
})

test('an abort ends the wait at once, also where the sleep does not listen', async () => {
  const controller = new AbortController()
  const reason = new Error('stop')
  const { model, inner } = failing([busy()], {
    sleep: () => new Promise(() => undefined),
    onRetry: () => setImmediate(() => controller.abort(reason)),
  })
  await assert.rejects(collect(model, controller.signal), (error) => error === reason)
  assert.equal(inner.requests.length, 1)
})

test('who asks is told of each retry', async () => {
  const told: unknown[] = []
  const { model } = failing([busy(), busy()], { onRetry: ({ attempt, delayMs }) => told.push([attempt, delayMs]) })
  await collect(model)
  assert.deepEqual(told, [
    [1, 375],
    [2, 750],
  ])
})

test('[D23] a wish in the body of a refusal is read, whatever form it has, and costs little', async () => {
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }
  const bodies: readonly (readonly [unknown, number | null])[] = [
    [{ error: { code: 429, details: [{ '@type': 'QuotaFailure' }, info] } }, 12_500],
    [[{ error: { code: 429, details: [info] } }], 12_500],
    [{ error: { details: [{ retryDelay: '0s' }] } }, 0],
    [{ error: { details: [{ retryDelay: 7 }, null, { retryDelay: 'soon' }] } }, null],
    [{ error: { details: 'none' } }, null],
    [{ retry_after: 3 }, 3_000],
    [{ error: { retry_after_ms: 250, retry_after: 9 } }, 250],
    [{ retry_after: -1 }, null],
    [{ retry_after: 'Infinity' }, null],
    [{ retry_after: '' }, null],
    [null, null],
    ['text', null],
  ]
  for (const [body, wish] of bodies) assert.equal(readRetryWish(body, ''), wish, JSON.stringify(body))
  const words: readonly (readonly [string, number | null])[] = [
    ['Rate limit reached. Please try again in 12s. Visit our page.', 12_000],
    ['Please try again in 350ms.', 350],
    ['Please try again in 1m2s.', 62_000],
    ['Please try again in 2m59.56s. Need more tokens?', 179_560],
    ['Please try again in 1h0m1s', 3_601_000],
    ['Please retry in 35.684s.', 35_684],
    ['Please retry after 6 seconds.', 6_000],
    ['Try again in 1 minute and 2 seconds', 62_000],
    ['retry in a while, then try again in 5 secs', 5_000],
    ['Please try again in 2 more tries', null],
    ['try again in 5 sausages', null],
    ['Please try again later.', null],
    ['You have 12s left', null],
    ['', null],
  ]
  for (const [text, wish] of words) assert.equal(readRetryWish(null, text), wish, text)
  const document = { error: { details: Array(100_000).fill({ retryDelay: '9'.repeat(100) }) } }
  for (const hostile of ['try again in ', 'retry in 9', 'try again in 1m2s', ' , ,'])
    await assertCheap({ total: 50 }, () => readRetryWish(document, hostile.repeat(100_000)), hostile)
})

test('Retry-After is read as seconds, as a date by the clock of the server, and in milliseconds', () => {
  const read = (headers: Record<string, string>) => readRetryAfter((name) => headers[name])
  assert.equal(read({ 'retry-after': '2' }), 2_000)
  assert.equal(read({ 'retry-after': '0.5' }), 500)
  assert.equal(read({ 'retry-after-ms': '150', 'retry-after': '2' }), 150)
  assert.equal(read({ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date: 'Wed, 21 Oct 2015 07:28:00 GMT' }), 30_000)
  assert.equal(read({ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }), 0)
  for (const wish of ['', 'soon', '-1', 'NaN']) assert.equal(read({ 'retry-after': wish }) ?? 0, 0)
  assert.equal(read({}), null)
})
