/** Tests of the rate of a connection: order, bounds, aborts, and nothing left behind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedModel } from '../testing/scripted-model.ts'
import { fakeClock } from '../../../../test/support/clock.ts'
import { settle } from '../../../../test/support/stage.ts'
import { type Model, ModelCallError, type ModelPart, type ModelRequest } from './model.ts'
import { createRateLimit, type RateLimitOptions, withRateLimit } from './rate-limit.ts'
import { withRetries } from './retry.ts'
import { slowness } from '../../../../test/support/cpu.ts'

const request: ModelRequest = {
  messages: [],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}

/** A clock that counts its open timers. */
function countingClock(start?: number) {
  const clock = fakeClock(start)
  const open = new Set<object>()
  return {
    ...clock,
    open,
    after(ms: number, run: () => void) {
      const key = {}
      open.add(key)
      const cancel = clock.after(ms, () => {
        open.delete(key)
        run()
      })
      return () => {
        open.delete(key)
        cancel()
      }
    },
  }
}

/** A model whose calls hang until a test lets them go on, and the order in which they began. */
function held() {
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const reply = { text: 'ok', toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
  const model = (name: string): Model => ({
    id: name,
    async *stream() {
      begun.push(name)
      await new Promise<void>((resolve, reject) => {
        ends.set(name, (error) => (error === undefined ? resolve() : reject(error)))
      })
      yield { type: 'delta', text: 'o' }
      yield { type: 'reply', reply }
    },
  })
  return { begun, ends, model }
}

async function read(model: Model, signal = new AbortController().signal): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal, deltas: true })) parts.push(part)
  return parts
}

function limited(options: RateLimitOptions, start?: number) {
  const clock = countingClock(start)
  const limit = createRateLimit(clock, options)
  const { begun, ends, model } = held()
  const ask = (name: string, signal?: AbortSignal) => read(withRateLimit(model(name), limit), signal)
  return { clock, limit, begun, ends, ask }
}

test('[Tb14] `maxConcurrent` bounds the requests of all models of a connection, first come first served', async () => {
  const { begun, ends, ask, clock } = limited({ maxConcurrent: 2 })
  const all = ['a', 'b', 'c', 'd'].map((name) => ask(name))
  await settle()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')?.()
  await settle()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  ends.get('a')?.()
  ends.get('c')?.()
  await settle()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  ends.get('d')?.()
  for (const parts of await Promise.all(all)) assert.equal(parts.length, 2)
  assert.equal(clock.open.size, 0, 'a bound of number needs no timer')
})

test('[Tb14] `minIntervalMs` is the least time between the beginnings of two requests', async () => {
  const { begun, ends, ask, clock } = limited({ minIntervalMs: 1000 })
  const all = ['a', 'b', 'c'].map((name) => ask(name))
  await settle()
  assert.deepEqual([begun, clock.open.size], [['a'], 1])
  clock.advance(999)
  await settle()
  assert.deepEqual(begun, ['a'])
  clock.advance(1)
  await settle()
  assert.deepEqual([begun, clock.open.size], [['a', 'b'], 1])
  clock.advance(1000)
  await settle()
  assert.deepEqual([begun, clock.open.size], [['a', 'b', 'c'], 0])
  for (const end of ends.values()) end()
  await Promise.all(all)
  clock.advance(5000)
  const late = ask('d')
  await settle()
  assert.deepEqual(begun.at(-1), 'd', 'after a rest the next one begins at once')
  ends.get('d')?.()
  await late
  assert.equal(clock.open.size, 0)
})

test('[Tb14] both bounds together: a slot that becomes free is taken no sooner than the interval', async () => {
  const { begun, ends, ask, clock } = limited({ maxConcurrent: 1, minIntervalMs: 100 })
  const all = ['a', 'b'].map((name) => ask(name))
  await settle()
  clock.advance(10)
  ends.get('a')?.()
  await settle()
  assert.deepEqual([begun, clock.open.size], [['a'], 1])
  clock.advance(90)
  await settle()
  ends.get('b')?.()
  await Promise.all(all)
  assert.deepEqual([begun, clock.open.size], [['a', 'b'], 0])
})

test('[D10] a request that is aborted while it waits leaves the queue at once, with its reason and without a request', async () => {
  const { begun, ends, ask, clock } = limited({ minIntervalMs: 1000 })
  const first = ask('a')
  const controllers = ['b', 'c'].map((name) => {
    const controller = new AbortController()
    return { controller, done: ask(name, controller.signal) }
  })
  await settle()
  assert.equal(clock.open.size, 1)
  for (const { controller, done } of controllers) {
    const reason = new Error('not wanted')
    controller.abort(reason)
    await assert.rejects(done, reason)
  }
  assert.equal(clock.open.size, 0, 'nobody waits, so no timer does')
  await assert.rejects(ask('d', AbortSignal.abort(new Error('before'))), /before/)
  ends.get('a')?.()
  await first
  assert.deepEqual(begun, ['a'])
})

test('[D10] an abort between its admission and its beginning gives the slot on', async () => {
  const { begun, ends, ask, limit } = limited({ maxConcurrent: 1 })
  await limit.enter(new AbortController().signal)
  const controller = new AbortController()
  const second = ask('b', controller.signal)
  const third = ask('c')
  limit.leave()
  controller.abort(new Error('late'))
  await assert.rejects(second, /late/)
  await settle()
  assert.deepEqual(begun, ['c'])
  ends.get('c')?.()
  await third
})

test('a failure, an abort that the adapter ignores, and a reader who leaves all give the slot on', async () => {
  const { begun, ends, ask, limit } = limited({ maxConcurrent: 1 })
  const failing = ask('a')
  await settle()
  ends.get('a')?.(new ModelCallError('down', { retryable: false }))
  await assert.rejects(failing, /down/)

  const controller = new AbortController()
  void ask('b', controller.signal).catch(() => {})
  await settle()
  controller.abort()

  const left = withRateLimit(
    scriptedModel(() => ({ deltas: ['x', 'y'] })),
    limit,
  )
  for await (const _ of left.stream(request, { signal: new AbortController().signal, deltas: true })) break

  const throwing: Model = {
    id: 'throwing',
    stream() {
      throw new ModelCallError('no room', { retryable: true })
    },
  }
  await assert.rejects(read(withRateLimit(throwing, limit)), /no room/)

  const last = ask('e')
  await settle()
  assert.deepEqual(begun, ['a', 'b', 'e'])
  ends.get('e')?.()
  await last
})

test('[D23] each try of a call is a request: it waits behind those that came before, and holds no slot while it waits to be repeated', async () => {
  const clock = countingClock()
  const limit = createRateLimit(clock, { maxConcurrent: 1 })
  const order: string[] = []
  const naming = (name: string, answers: (Error | string)[]) =>
    scriptedModel(() => {
      order.push(name)
      return answers.shift()
    })
  const busy = new ModelCallError('busy', { status: 429, retryable: true })
  const patient = withRetries(withRateLimit(naming('a', [busy, 'ok']), limit), {
    random: () => 0,
    sleep: (ms) => new Promise((resolve) => void clock.after(ms, () => resolve())),
  })
  const first = read(patient)
  const second = read(withRateLimit(naming('b', ['ok']), limit))
  await settle()
  assert.deepEqual(order, ['a', 'b'])
  clock.advance(250)
  await Promise.all([first, second])
  assert.deepEqual(order, ['a', 'b', 'a'])
})

test('a clock that is set back holds no request for longer than the interval', async () => {
  let now = 1_000_000
  const alarms: { at: number; run: () => void }[] = []
  const clock = {
    now: () => now,
    after(ms: number, run: () => void) {
      alarms.push({ at: ms, run })
      return () => {}
    },
  }
  const limit = createRateLimit(clock, { minIntervalMs: 50 })
  await limit.enter(new AbortController().signal)
  now = 10
  void limit.enter(new AbortController().signal)
  assert.deepEqual(
    alarms.map(({ at }) => at),
    [50],
  )
})

test('thousands that wait and are aborted together hold nobody up', async () => {
  const { begun, ends, ask } = limited({ maxConcurrent: 1 })
  const first = ask('first')
  // Each call has a signal of its own; node looks through all listeners of one signal for each that is added.
  const controllers = Array.from({ length: 20_000 }, () => new AbortController())
  const many = controllers.map(({ signal }, at) => ask(`${at}`, signal).catch(() => {}))
  await settle()
  const before = process.threadCpuUsage()
  for (const controller of controllers) controller.abort()
  const { user, system } = process.threadCpuUsage(before)
  assert.ok((user + system) / 1000 < 500 * slowness(), `${(user + system) / 1000} ms of CPU`)
  await Promise.all(many)
  ends.get('first')?.()
  await first
  assert.deepEqual(begun, ['first'])
})
