/** A process that ends in order: an effect that must not repeat may end first, so that nobody has to wonder whether it happened. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, createGate, type Gate, settle, until } from '../support/stage.ts'

function open(store: Store, effect: 'once' | 'keyed', pay: (signal: AbortSignal) => Promise<string>) {
  const clock = fakeClock()
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    effect,
    execute: (_args, { signal }) => pay(signal),
  })
  const plays = { root: [{ toolCalls: [{ name: 'pay', arguments: {} }] }, 'done'] }
  const models = { 'play/model': scriptedModel(cast(plays)) }
  return {
    clock,
    runtime: createRuntime({ store, clock, models, tools: [tool], agents: [agent('root', { tools: ['pay'] })] }),
  }
}

async function trial(effect: 'once' | 'keyed', gate: Gate) {
  const store = outliving(memoryStore())
  const paid: string[] = []
  const first = open(store, effect, async (signal) => {
    paid.push('first')
    await Promise.race([gate.opened, new Promise((_, reject) => signal.addEventListener('abort', reject))])
    return 'paid'
  })
  await first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(() => paid.length === 1)
  const closing = first.runtime.close()
  await settle()
  return {
    closing,
    clock: first.clock,
    /** What the next process comes to. */
    async next() {
      await closing
      const second = open(store, effect, async () => String(paid.push('second')))
      await until(async () => (await second.runtime.getConversation('chats/1')).status === 'idle')
      const over = (await allEvents(second.runtime, 'chats/1')).find(
        ({ type, kind }) => kind === 'tool' && type !== 'start',
      )
      await second.runtime.close()
      return { paid, result: over?.content['result'] ?? over?.content['code'] }
    },
  }
}

test('[D1] a `once` effect that is under way at an orderly end is waited for, and its result is stored', async () => {
  const gate = createGate()
  const { closing, next } = await trial('once', gate)
  assert.equal(await Promise.race([closing.then(() => 'closed'), settle().then(() => 'waits')]), 'waits')
  gate.open()
  assert.deepEqual(await next(), { paid: ['first'], result: 'paid' })
})

test('[D1] it is waited for three seconds; then its outcome is unknown', async () => {
  const { clock, next } = await trial('once', createGate())
  clock.advance(3_000)
  assert.deepEqual(await next(), { paid: ['first'], result: 'OUTCOME_UNKNOWN' })
})

test('[D1] an effect that may be repeated is not waited for: the next process does it again', async () => {
  const { next } = await trial('keyed', createGate())
  assert.deepEqual(await next(), { paid: ['first', 'second'], result: '2' })
})
