/** The rate of a connection as a played model sees it: how many requests at once, how long between two, and what retries say. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGate, createModelServer } from './support/model-server.ts'
import { agent, callsTo, until } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'
import { createWitan } from './support/witan.ts'

/** A server whose connection `play` has these bounds. */
async function withBounds(bounds: Record<string, unknown>, options: { readonly hosted?: true } = { hosted: true }) {
  const model = await createModelServer()
  const connection = { kind: 'openai-compatible', baseUrl: model.url }
  const prepare = () => ({ connections: { play: { ...connection, ...bounds }, free: connection } })
  const witan = await createWitan({ modelUrl: model.url, prepare, ...options }).catch(async (error: unknown) => {
    await model.close()
    throw error
  })
  const close = async () => {
    await witan.close()
    await model.close()
  }
  return { model, witan, ...callsTo(witan), close }
}

test('[Tb14] `maxConcurrent` and `null` bound the requests of one connection alone', async () => {
  const { model, save, ask, close } = await withBounds({ maxConcurrent: 1, minIntervalMs: 0 })
  await save(agent('first'), agent('second'), agent('other', { model: 'free/other' }))
  const gate = createGate()
  model.on('first', () => ({ text: 'first', hold: gate }))
  model.on('second', () => ({ text: 'second' }))
  model.on('other', () => ({ text: 'other' }))
  const first = ask('first', 'go')
  await gate.entered
  const second = ask('second', 'go')
  assert.equal((await ask('other', 'go')).text, 'other')
  assert.deepEqual(
    model.seen.map((seen) => seen.model),
    ['first', 'other'],
  )
  gate.open()
  assert.deepEqual([(await first).text, (await second).text], ['first', 'second'])
  await close()
})

test('[Tb14] `minIntervalMs` is the least time between two requests', async () => {
  const { model, save, ask, close } = await withBounds({ minIntervalMs: 200, maxConcurrent: null })
  await save(agent('quick'))
  const at: number[] = []
  model.on('quick', () => {
    at.push(performance.now())
    return { text: 'ok' }
  })
  const begun = performance.now()
  await Promise.all(['a', 'b', 'c'].map((prompt) => ask('quick', prompt)))
  // How late each arrives is the machine's affair. None was sent sooner than this after all began.
  for (const [index, arrived] of at.entries()) assert.ok(arrived - begun > 200 * index - 5, `${arrived - begun} ms`)
  assert.equal(at.length, 3)
  await close()
})

test('[Tb14] a run that waits for its turn can be cancelled, and its request is never made', async () => {
  const { model, witan, save, begin, ask, runAnswer, conversation, close } = await withBounds({ maxConcurrent: 1 })
  await save(agent('holds'), agent('waits'))
  const gate = createGate()
  model.on('holds', () => ({ text: 'held', hold: gate }))
  model.on('waits', () => ({ text: 'never' }))
  const holding = ask('holds', 'go')
  await gate.entered
  const { id } = await begin('waits')
  const { body } = await runAnswer<{ runId: string }>(id, { prompt: 'go', wait: false })
  const cancelled = await witan.call('POST', `/api/v1/runs/${body.runId}/cancel`, { body: {} })
  assert.equal(cancelled.status, 202)
  await until(
    () => conversation(id),
    ({ status }) => status === 'idle',
  )
  gate.open()
  assert.equal((await holding).text, 'held')
  assert.equal(model.of('waits').length, 0)
  await close()
})

test('[D23] [Tb14] a request that is made again is a notice `MODEL_RETRIED` with the try, the wait and why', async () => {
  const { model, save, ask, events, close } = await withBounds({})
  await save(agent('flaky'))
  model.script('flaky', { status: 503, text: 'out for lunch' }, { text: 'back' })
  const run: RunResult = await ask('flaky', 'hello')
  assert.equal(run.text, 'back')
  const notices = (await events(run.conversationId)).filter(({ type }) => type === 'notice')
  const [{ code, detail } = { code: '', detail: '' }] = notices.map(
    ({ content }) => content as { code: string; detail: string },
  )
  assert.equal(code, 'MODEL_RETRIED')
  assert.match(detail, /Try 1 of 5 .* \d+ ms: .*out for lunch/)
  await close()
})

for (const [bounds, path] of [
  [{ minIntervalMs: -1 }, 'minIntervalMs'],
  [{ maxConcurrent: 0 }, 'maxConcurrent'],
  [{ maxConcurent: 1 }, 'maxConcurent'],
] as const) {
  test(`[Tb14] a wrong bound is refused by name: ${JSON.stringify(bounds)}`, async () => {
    await assert.rejects(withBounds(bounds, {}), (error: Error) => {
      assert.match(error.message, /ended with 78/)
      assert.ok(error.message.includes(path), error.message)
      return true
    })
  })
}
