/** A program that ends by itself can wait until its traces are delivered, however often the collector refuses them first. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

/** A runtime whose collector answers with these statuses, the last one for ever; null answers never. */
async function withCollector(statuses: readonly (number | null)[], { slowMs = 0 } = {}) {
  let requests = 0
  let taken = 0
  const problems: string[] = []
  const collector = createServer((request, response) => {
    const status = statuses[Math.min(requests, statuses.length - 1)] ?? null
    requests += 1
    request.resume()
    const answer = () => {
      if (!response.destroyed && status === 200) taken += 1
      response.writeHead(status ?? 500).end()
    }
    if (status !== null) setTimeout(answer, slowMs)
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`
  const model = scriptedModel(() => 'Hello.', { id: 'script/greeter' })
  const runtime = createRuntime({
    agents: [defineAgent({ id: 'greeter', instructions: 'Greet.', model })],
    telemetry: { otlp: { url } },
    random: () => 0,
    report: (error) => problems.push(String((error as Error).stack)),
  })
  const close = async () => {
    collector.closeAllConnections()
    collector.close()
    await runtime.close()
  }
  return { runtime, close, problems, requests: () => requests, taken: () => taken }
}

test('[E80] all that has ended is delivered once a flush says so, after as many tries as it takes', async () => {
  const { runtime, close, requests } = await withCollector([503, 200])
  assert.equal(await runtime.flushTraces(), true, 'nothing waits yet')
  await runtime.conversation('greeter').run('Hi')
  assert.equal(await runtime.flushTraces(), true)
  assert.equal(requests(), 2)
  await close()
  assert.equal(requests(), 2, 'nothing was left for the end')
})

test('[E80] a flush gives up after its time, and a runtime without traces has nothing to wait for', async () => {
  const { runtime, close } = await withCollector([null])
  await runtime.conversation('greeter').run('Hi')
  const began = performance.now()
  assert.equal(await runtime.flushTraces(200), false)
  assert.ok(performance.now() - began >= 199)
  await close()
  const plain = createRuntime()
  assert.equal(await plain.flushTraces(0), true)
  await plain.close()
})

test('[E80] an end waits for a slow collector as long as it is told to, and what is lost is reported in one line', async () => {
  for (const [tracesWithinMs, taken, reports] of [
    [5_000, 1, 0],
    [50, 0, 2],
  ] as const) {
    const collector = await withCollector([200], { slowMs: 400 })
    await collector.runtime.conversation('greeter').run('Hi')
    await collector.runtime.close({ tracesWithinMs })
    assert.deepEqual([collector.taken(), collector.problems.length], [taken, reports], collector.problems.join())
    for (const problem of collector.problems) assert.match(problem, /^Error: Traces to 127\.0\.0\.1:\d+: [^\n]+$/)
    await collector.close()
  }
})
