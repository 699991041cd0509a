/** An owner that stood still reads what the next one wrote before it hears that its lease is lost: what that one has begun is not its to do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Model, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { agent, createGate, settle, until } from '../support/stage.ts'

const leaseMs = 3_000

/** A worker with a clock of its own, which stands still until it is moved. */
function open(store: Store, model: Model, pay: () => Promise<string>) {
  const clock = fakeClock()
  const tool = defineTool({ name: 'pay', description: 'Pays.', parameters: z.object({}), execute: pay })
  const models = { 'play/model': model }
  const agents = [agent('root', { tools: ['pay'] })]
  return {
    clock,
    runtime: createRuntime({ store, clock, leaseMs, models, agents, tools: [tool], retry: { tries: 1 } }),
  }
}

test('[D1] [D5] [I4] a call that the next owner has begun is not run by the one before it', async () => {
  let now = Date.UTC(2026, 0, 1)
  const root = memoryStore({ now: () => now })
  const paid: string[] = []
  const [thinking, paying] = [createGate(), createGate()]
  const pays = (who: string) => async () => {
    paid.push(who)
    await paying.opened
    return 'paid'
  }
  let turn = 0
  const next = async () => (turn++ === 0 ? call('pay') : 'done')
  let isAsked = false
  const silent = async () => {
    isAsked = true
    await thinking.opened
    return 'too late'
  }
  const frozen = open(root, scriptedModel(silent), pays('frozen'))
  await frozen.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(() => isAsked)
  now += leaseMs + 1
  const other = open(memoryStore({ beside: root }), scriptedModel(next), pays('next'))
  await until(() => paid.length > 0)
  // It hears of every append, and its clock has not yet told it to prolong its lease.
  await settle(200)
  assert.deepEqual(paid, ['next'])
  paying.open()
  await until(async () => (await other.runtime.getConversation('chats/1')).status === 'idle')
  assert.deepEqual(paid, ['next'])
  thinking.open()
  await Promise.all([frozen.runtime.close(), other.runtime.close()])
})

test('[D5] an owner that hears that its lease is lost gives up the model call that is under way', async () => {
  let now = Date.UTC(2026, 0, 1)
  const root = memoryStore({ now: () => now })
  const state = { isAsked: false, isAborted: false }
  const silent: Model = {
    id: 'silent',
    async *stream(_, { signal }) {
      state.isAsked = true
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      state.isAborted = true
      yield { type: 'reply', reply: { text: '', toolCalls: [], finishReason: 'stop', usage: null, model: null } }
    },
  }
  // It hears nothing of what others append.
  const frozen = open({ ...root, listen: () => () => {} }, silent, async () => 'paid')
  await frozen.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(() => state.isAsked)
  now += leaseMs + 1
  const working = createGate()
  const next = async () => {
    await working.opened
    return 'done'
  }
  const other = open(memoryStore({ beside: root }), scriptedModel(next), async () => 'paid')
  await other.runtime.ready
  frozen.clock.advance(leaseMs)
  await until(() => state.isAborted)
  working.open()
  await until(async () => (await other.runtime.getConversation('chats/1')).status === 'idle')
  await Promise.all([frozen.runtime.close(), other.runtime.close()])
})
