/** A server elsewhere that says nothing, or nothing more: what time, a cancel and the end of the process do then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { callerOf } from '../support/played-remote.ts'
import { streamOf, task, text } from '../support/remote-call.ts'
import { createStage, settle, until } from '../support/stage.ts'

type Fetch = Parameters<typeof callerOf>[0]['fetch']

/** A run whose remote call has sent its message. The first frame comes when `begin` is called; `cancels` are the answers to a cancel. */
async function staged(...cancels: readonly number[]) {
  const clock = fakeClock()
  const [asked, signals]: [string[], AbortSignal[]] = [[], []]
  const begun = Promise.withResolvers<void>()
  const fetch: Fetch = async (_, { body = '', signal }) => {
    const { method, params } = JSON.parse(body)
    asked.push(`${method} ${params.id ?? ''}`.trim())
    signals.push(signal)
    if (method === 'CancelTask') {
      const status = cancels[asked.filter((one) => one.startsWith('Cancel')).length - 1] ?? 200
      return status === 200 ? text({ result: task('TASK_STATE_CANCELED').task }) : text({}, 'application/json', status)
    }
    const gone = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    gone.catch(() => {})
    async function* frames() {
      await Promise.race([begun.promise, gone])
      yield* streamOf([task('TASK_STATE_WORKING')]).body
      await gone
    }
    return { ...streamOf([]), body: frames() }
  }
  const stage = createStage({
    agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }] }],
    plays: { desk: (_, turn) => (turn === 0 ? call('docs', { message: 'Find it.' }) : 'done') },
    options: { clock, remotes: callerOf({ fetch }, { clock, isIdempotent: false }) },
  })
  const { run } = await stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' })
  await until(() => asked.length === 1)
  return { ...stage, clock, asked, signals, begin: begun.resolve, run: run?.runId ?? '' }
}

const failureOf = async ({ events }: Awaited<ReturnType<typeof staged>>) =>
  (await events('chats/1')).find(({ type }) => type === 'error')?.content['code']

test('[D1] a message that gets no word in two minutes is not sent again: whether it arrived is unknown', async () => {
  const stage = await staged()
  stage.clock.advance(120_000)
  await until(async () => (await failureOf(stage)) === 'OUTCOME_UNKNOWN')
  assert.deepEqual(stage.asked, ['SendStreamingMessage'])
  await stage.runtime.close()
})

test('[D20] a stream that says no word for two minutes is left, and its task is followed anew', async () => {
  const stage = await staged()
  stage.begin()
  await settle()
  stage.clock.advance(119_000)
  await settle()
  assert.equal(stage.asked.length, 1)
  stage.clock.advance(1_000)
  await settle()
  stage.clock.advance(500)
  await until(() => stage.asked.length === 2)
  assert.equal(stage.asked[1], 'SubscribeToTask t')
  await stage.runtime.close()
})

test('[D10] a task whose id comes after the cancel is stopped', async () => {
  const { runtime, run, begin, asked } = await staged()
  await runtime.cancelRun(run)
  assert.equal((await (await runtime.followRun(run)).result).status, 'cancelled')
  begin()
  await until(() => asked.length === 2)
  assert.deepEqual(asked, ['SendStreamingMessage', 'CancelTask t'])
  await runtime.close()
})

test('[D10] an id that does not come within five seconds is not waited for', async () => {
  const { runtime, run, clock, signals, asked } = await staged()
  await runtime.cancelRun(run)
  await settle()
  assert.equal(signals[0]?.aborted, false)
  clock.advance(5_000)
  assert.equal(signals[0]?.aborted, true)
  await settle()
  assert.equal(asked.length, 1)
  await runtime.close()
})

test('[D1] where the process closes, and the run goes on in another, no task is stopped', async () => {
  const { runtime, begin, clock, asked } = await staged()
  await runtime.close()
  begin()
  await settle()
  clock.advance(5_000)
  await settle()
  assert.deepEqual(asked, ['SendStreamingMessage'])
})

for (const [cancels, times] of [
  [[503, 429], 3],
  [[503, 503, 503, 503], 3],
  [[404], 1],
] as const)
  test(`[D10] a server that answers a cancel with ${cancels.join(', ')} is asked ${times} times`, async () => {
    const { runtime, run, begin, clock, asked } = await staged(...cancels)
    begin()
    await settle()
    await runtime.cancelRun(run)
    for (let round = 0; round < 10; round += 1) {
      await settle()
      clock.advance(450)
    }
    assert.equal(asked.filter((one) => one === 'CancelTask t').length, times)
    await runtime.close()
  })
