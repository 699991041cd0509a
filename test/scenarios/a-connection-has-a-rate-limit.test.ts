/** `maxConcurrent` and `minIntervalMs` of a connection: what waits for its turn, and what ends the wait. Retries are notices. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime, ModelCallError, type RuntimeOptions } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { createGate, createModelServer, type ModelServer } from '../acceptance/support/model-server.ts'
import { fakeClock } from '../support/clock.ts'
import { agent, allEvents, createStage, settle } from '../support/stage.ts'

type Bounds = Pick<
  Exclude<NonNullable<RuntimeOptions['connections']>[string], (model: string) => unknown>,
  'maxConcurrent' | 'minIntervalMs'
>

/** A runtime whose connection `play` has these bounds and `free` has none, on a clock that stands still. */
async function staged(bounds: Bounds, more: RuntimeOptions = {}) {
  const model = await createModelServer()
  const clock = fakeClock()
  const kind = 'openai-compatible'
  const runtime = createRuntime({
    clock,
    agents: ['a', 'b', 'c', 'free']
      .map((id) => agent(id, id === 'b' ? { limits: { maxSeconds: 60 } } : {}))
      .map((one) => ({
        ...one,
        model: one.id === 'free' ? 'free/free' : `play/${one.id}`,
      })),
    connections: {
      play: { kind, baseUrl: model.url, ...bounds },
      free: { kind, baseUrl: model.url },
    },
    ...more,
  })
  for (const id of ['a', 'b', 'c', 'free']) model.on(id, () => ({ text: `from ${id}` }))
  const begin = async (id: string) => {
    const opened = await runtime.start({ agent: id, id: `chats/${id}`, prompt: 'go' })
    if (opened.run === null) throw new Error('no run')
    return opened.run
  }
  const close = async () => {
    await runtime.close()
    await model.close()
  }
  return { model, clock, runtime, begin, close }
}

const seen = (model: ModelServer) => model.seen.map((one) => one.model)

describe('[Tb14] `maxConcurrent: 1` of a connection', () => {
  test('lets runs take turns in the order they came, while another connection goes on', async () => {
    const { model, begin, close } = await staged({ maxConcurrent: 1 })
    const gate = createGate()
    model.on('a', () => ({ text: 'from a', hold: gate }))
    const runs = [await begin('a')]
    await gate.entered
    runs.push(await begin('b'), await begin('c'))
    assert.equal((await (await begin('free')).result).text, 'from free')
    assert.deepEqual(seen(model), ['a', 'free'])
    gate.open()
    const texts = await Promise.all(runs.map(async ({ result }) => (await result).text))
    assert.deepEqual(texts, ['from a', 'from b', 'from c'])
    assert.deepEqual(seen(model), ['a', 'free', 'b', 'c'])
    await close()
  })

  test('[C30] a run that is cancelled while it waits ends at once, and its request is never made', async () => {
    const { model, runtime, begin, close } = await staged({ maxConcurrent: 1 })
    const gate = createGate()
    model.on('a', () => ({ text: 'from a', hold: gate }))
    const first = await begin('a')
    await gate.entered
    const second = await begin('b')
    await settle()
    await runtime.cancelRun(second.runId)
    assert.equal((await second.result).status, 'cancelled')
    gate.open()
    assert.equal((await first.result).text, 'from a')
    assert.deepEqual(seen(model), ['a'])
    await close()
  })

  test('[D13] the wait is time of the run: `maxSeconds` ends it', async () => {
    const { model, clock, begin, close } = await staged({ maxConcurrent: 1 }, { leaseMs: 600_000 })
    const gate = createGate()
    model.on('a', () => ({ text: 'from a', hold: gate }))
    const first = await begin('a')
    await gate.entered
    const second = await begin('b')
    await settle()
    clock.advance(60_000)
    assert.equal((await second.result).error?.code, 'BUDGET_EXCEEDED')
    gate.open()
    assert.equal((await first.result).text, 'from a')
    assert.deepEqual(seen(model), ['a'])
    await close()
  })

  test('[D5] a run that waits keeps its lease', async () => {
    const { model, runtime, clock, begin, close } = await staged({ maxConcurrent: 1 }, { leaseMs: 3000 })
    const gate = createGate()
    model.on('a', () => ({ text: 'from a', hold: gate }))
    const first = await begin('a')
    await gate.entered
    const second = await begin('b')
    for (let round = 0; round < 20; round += 1) {
      clock.advance(500)
      await settle()
    }
    gate.open()
    assert.deepEqual([(await first.result).text, (await second.result).text], ['from a', 'from b'])
    const codes = (await allEvents(runtime, 'chats/b')).filter(({ type }) => type === 'notice')
    assert.deepEqual(codes, [], 'nobody took it over')
    await close()
  })

  test('a runtime that closes while runs wait ends, and asks for nothing more', async () => {
    const { model, begin, close } = await staged({ maxConcurrent: 1 })
    const gate = createGate()
    model.on('a', () => ({ text: 'from a', hold: gate }))
    await begin('a')
    await gate.entered
    await begin('b')
    await close()
    assert.deepEqual(seen(model), ['a'])
    gate.open()
  })

  test('holds nothing while a delegate works: a parent and its child on one connection come to an end', async () => {
    const model = await createModelServer()
    const runtime = createRuntime({
      connections: { play: { kind: 'openai-compatible', baseUrl: model.url, maxConcurrent: 1 } },
      agents: [
        { ...agent('a', { subAgents: [{ agent: 'b' }] }), model: 'play/a' },
        { ...agent('b'), model: 'play/b' },
      ],
    })
    const two = [1, 2].map(() => ({ name: 'b', args: { message: 'go' } }))
    model.script('a', { calls: two }, { text: 'done' })
    model.on('b', () => ({ text: 'from b' }))
    assert.equal((await runtime.conversation('a').run('go')).text, 'done')
    assert.deepEqual(seen(model), ['a', 'b', 'b', 'a'])
    await runtime.close()
    await model.close()
  })
})

test('[Tb14] `minIntervalMs` of a connection is the least time between two of its requests', async () => {
  const { model, clock, begin, close } = await staged({ minIntervalMs: 1000 })
  const runs = [await begin('a'), await begin('b')]
  assert.equal((await runs[0]?.result)?.text, 'from a')
  await settle()
  clock.advance(999)
  await settle()
  assert.deepEqual(seen(model), ['a'])
  clock.advance(1)
  assert.equal((await runs[1]?.result)?.text, 'from b')
  await close()
})

test('[Tb14] bounds that are none are refused with the place of the mistake', () => {
  const wrong: readonly [Record<string, unknown>, string][] = [
    [{ minIntervalMs: -1 }, 'minIntervalMs'],
    [{ minIntervalMs: 1.5 }, 'minIntervalMs'],
    [{ minIntervalMs: Number.POSITIVE_INFINITY }, 'minIntervalMs'],
    [{ maxConcurrent: 0 }, 'maxConcurrent'],
    [{ maxConcurrent: '2' }, 'maxConcurrent'],
    [{ maxConcurrent: Number.NaN }, 'maxConcurrent'],
  ]
  for (const [bounds, key] of wrong) {
    const connection = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', ...bounds } as never
    assert.throws(() => createRuntime({ connections: { play: connection } }), {
      code: 'CONFIG_INVALID',
      path: `connections.play.${key}`,
    })
  }
})

describe('[D23] [Tb14] a retry', () => {
  test('is a notice with the try, the wait and the reason, for each try that is repeated', async () => {
    const answers = [
      new ModelCallError('busy', { status: 429, retryable: true }),
      new ModelCallError('busy still', { status: 503, retryable: true }),
      'done',
    ]
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: { root: () => answers.shift() },
      options: { retry: { tries: 3, baseMs: 100 }, random: () => 0.5, clock: atOnce() },
    })
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.equal(result.text, 'done')
    const notices = (await stage.events('chats/1')).flatMap(({ type, content }) => (type === 'notice' ? [content] : []))
    const about = (attempt: number, ms: number, why: string) => ({
      code: 'MODEL_RETRIED',
      detail: `Try ${attempt} of 3 of \`scripted/model\` failed; the next follows in ${ms} ms: ${why}`,
    })
    assert.deepEqual(notices, [about(1, 75, 'busy'), about(2, 150, 'busy still')])
    assert.equal(result.usage.modelCalls, 1)
    await stage.runtime.close()
  })

  test('that never comes is none: the last failure and what is not repeated give no notice', async () => {
    for (const [error, count] of [
      [new ModelCallError('busy', { retryable: true }), 1],
      [new ModelCallError('refused', { retryable: false }), 0],
    ] as const) {
      const stage = createStage({
        agents: [{ id: 'root' }],
        plays: { root: () => error },
        options: { retry: { tries: 2, baseMs: 100 }, clock: atOnce() },
      })
      await stage.ask('root', 'go', { id: 'chats/1' })
      const notices = (await stage.events('chats/1')).filter(({ content }) => content['code'] === 'MODEL_RETRIED')
      assert.equal(notices.length, count)
      await stage.runtime.close()
    }
  })

  test('[D15] names no hidden value that its provider repeats', async () => {
    const answers = [new ModelCallError('busy with canary-7', { retryable: true }), 'done']
    const model = scriptedModel(() => answers.shift() ?? call('none'))
    const runtime = createRuntime({
      models: { 'play/model': model },
      agents: [
        agent('root', {
          parameters: [{ name: 'key', secret: true, sendToModel: false, policy: 'forbidModelGeneration' }],
        }),
      ],
      retry: { tries: 2, baseMs: 1 },
    })
    await (await runtime.start({ agent: 'root', id: 'chats/1', parameters: { key: 'canary-7' }, prompt: 'go' })).run
      ?.result
    const told = JSON.stringify(await allEvents(runtime, 'chats/1'))
    assert.ok(told.includes('MODEL_RETRIED') && !told.includes('canary-7'), told)
    await runtime.close()
  })
})

/** A clock whose timers for retries ring at once. */
function atOnce() {
  const clock = fakeClock()
  return {
    ...clock,
    after(ms: number, run: () => void, { background = false }: { readonly background?: boolean } = {}) {
      if (background) return clock.after(ms, run)
      const timer = setImmediate(run)
      return () => clearImmediate(timer)
    },
  }
}
