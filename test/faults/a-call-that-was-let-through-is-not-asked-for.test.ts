/** A crash at any append around a call whose approval has a condition: what was decided before stays decided, whatever the code says later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { assertEpochs, assertSound, storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { allEvents, settle, until } from '../support/stage.ts'

/** A runtime on `store` whose approval predicate is `decide`. */
function open(store: Store, clock: ReturnType<typeof fakeClock>, decide: () => boolean) {
  const ran: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    effect: 'keyed',
    execute: async ({ amount }) => {
      ran.push(amount)
      await settle(1)
      return 'paid'
    },
  })
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'Pay.',
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'done' : call('pay', { amount: 7 }))),
    tools: [pay],
    approvals: [{ tool: 'pay', when: decide }],
  })
  return { runtime: createRuntime({ store, clock, agents: [clerk], retry: { tries: 1 } }), ran }
}

/** Starts unless that has happened, and waits until the run is over or waits. */
async function play(runtime: Runtime): Promise<'idle' | 'waiting'> {
  for (;;) {
    const state = await runtime.getConversation('chats/1').catch(() => null)
    if (state === null) await runtime.start({ agent: 'clerk', id: 'chats/1', prompt: 'go' })
    else if (state.status !== 'running') return state.status
    await settle(1)
  }
}

/** Whether the call of the tool had begun when the process died. */
async function isBegun(store: Store): Promise<boolean> {
  const entries = await storedEntries(store, 'chats/1').catch(() => [])
  return entries.some(({ type, kind }) => type === 'start' && kind === 'tool')
}

test('[D11] [D1] a crash at any append: a call that was let through is not asked for again, and one that was not is', async () => {
  let letThrough = 0
  let asked = 0
  const clock = fakeClock()
  const counting = crashingStore(memoryStore({ now: clock.now }), 0)
  const calm = open(counting.store, clock, () => false)
  await play(calm.runtime)
  await calm.runtime.close()
  for (const moment of ['before', 'after'] satisfies CrashMoment[]) {
    for (let at = 1; at <= counting.appends(); at += 1) {
      const where = `append ${at}, ${moment}`
      const time = fakeClock()
      const inner = outliving(memoryStore({ now: time.now }))
      const crashing = crashingStore(inner, at, moment)
      const first = open(crashing.store, time, () => false)
      void play(first.runtime)
      await crashing.crashed
      await settle(5)
      const begun = await isBegun(inner)
      const second = open(inner, time, () => true)
      await second.runtime.ready
      time.advance(15_001)
      const status = await play(second.runtime)
      assert.equal(status, begun ? 'idle' : 'waiting', where)
      if (begun) assert.ok(first.ran.length + second.ran.length > 0, where)
      else assert.deepEqual([first.ran, second.ran], [[], []], where)
      const events = await allEvents(second.runtime, 'chats/1')
      if (begun) assertSound(events)
      assertEpochs(await storedEntries(inner, 'chats/1'))
      assert.equal(events.filter(({ type }) => type === 'approval_required').length, begun ? 0 : 1, where)
      await second.runtime.close()
      if (begun) letThrough += 1
      else asked += 1
    }
  }
  assert.ok(letThrough > 0 && asked > 0, `${letThrough} had begun, ${asked} had not`)
})

test('[D11] a call that waits for its approval waits on after a restart, whatever the predicate says then', async () => {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const first = open(store, clock, () => true)
  assert.equal(await play(first.runtime), 'waiting')
  await first.runtime.close()
  const second = open(store, clock, () => false)
  assert.equal(await play(second.runtime), 'waiting')
  const { items } = await second.runtime.listInterruptions({ state: 'open' })
  assert.equal(items.length, 1)
  await second.runtime.answerInterruption(items[0]?.id ?? '', { answer: { decision: 'denied' } })
  await until(async () => (await second.runtime.getConversation('chats/1')).status === 'idle')
  assert.deepEqual([first.ran, second.ran], [[], []])
  await second.runtime.close()
})
