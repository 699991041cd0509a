/** A crash between an effect and its record: `once` is never repeated and its outcome is unknown; `keyed` and reads are done again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, settle, until } from '../support/stage.ts'

const effects = ['none', 'keyed', 'once'] as const

/** Counts executions by tool and call id; it outlives every process. */
type Ledger = Map<string, number>

function open(store: Store, ledger: Ledger, clock: ReturnType<typeof fakeClock>) {
  const model = scriptedModel(
    cast({
      root: [
        { toolCalls: [...effects, 'once'].map((name) => ({ name, arguments: {} })) },
        { toolCalls: [{ name: 'once', arguments: {} }] },
        'done',
      ],
    }),
  )
  const tools = effects.map((effect) =>
    defineTool({
      name: effect,
      description: effect,
      parameters: z.object({}),
      effect,
      execute: async (_args, { callId }) => {
        await settle(1)
        const key = `${effect} ${callId}`
        ledger.set(key, 1 + (ledger.get(key) ?? 0))
        return `${effect} done`
      },
    }),
  )
  const runtime = createRuntime({
    store,
    clock,
    models: { 'play/model': model },
    agents: [agent('root', { tools: [...effects] })],
    tools,
    retry: { tries: 1 },
  })
  return { runtime, requests: model.requests }
}

async function trial(at: number, moment: CrashMoment) {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const ledger: Ledger = new Map()
  const crashing = crashingStore(inner, at, moment)
  const first = open(crashing.store, ledger, clock)
  const ended = first.runtime
    .start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    .then(({ run }) => run?.result)
    .then(() => 'end' as const)
  const came = await Promise.race([ended, crashing.crashed.then(() => 'crash' as const)])
  if (came === 'end') return null
  await settle(5)
  clock.advance(15_001)
  const second = open(inner, ledger, clock)
  const started = await second.runtime.getConversation('chats/1').then(
    () => true,
    () => false,
  )
  if (!started) await second.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  await until(async () => (await second.runtime.getConversation('chats/1')).status === 'idle')
  const events = await allEvents(second.runtime, 'chats/1')
  assertSound(events)
  for (const request of [...first.requests, ...second.requests]) assertAlternates(request)
  return { ledger, events, runtime: second.runtime }
}

test('[D1] [E78] [I4] [I5] a crash at any append: no `once` tool runs twice, and what is unknown is said', async (context) => {
  const sums = { trials: 0, unknown: 0, unknownButDone: 0, keyedTwice: 0, readTwice: 0 }
  for (const moment of ['before', 'after'] as const) {
    for (let at = 1; at < 60; at += 1) {
      const told = await trial(at, moment)
      if (told === null) break
      sums.trials += 1
      const { ledger, events } = told
      const starts = events.filter(({ type, kind }) => type === 'start' && kind === 'tool')
      for (const { callId, content } of starts) {
        const effect = String(content['name'])
        const times = ledger.get(`${effect} ${callId}`) ?? 0
        const over = events.find((event) => event.callId === callId && event.kind === 'tool' && event.type !== 'start')
        const unknown = over?.content['code'] === 'OUTCOME_UNKNOWN'
        if (effect === 'once') {
          assert.ok(times <= 1, `I4: a once tool ran ${times} times (append ${at}, ${moment})`)
          assert.ok(unknown || times === 1, 'I4: a once tool that did not run is told as done')
          if (unknown) sums.unknown += 1
          if (unknown && times === 1) sums.unknownButDone += 1
        } else {
          assert.ok(times >= 1, `I5: a ${effect} tool did not run`)
          assert.equal(over?.type, 'end')
          if (times > 1 && effect === 'keyed') sums.keyedTwice += 1
          if (times > 1 && effect === 'none') sums.readTwice += 1
        }
      }
      // What no log knows of may have been a read; it was never an effect.
      const known = new Set(starts.map(({ callId, content }) => `${content['name']} ${callId}`))
      for (const key of ledger.keys())
        assert.ok(known.has(key) || key.startsWith('none'), `an effect without an intent: ${key}`)
    }
  }
  context.diagnostic(JSON.stringify(sums))
  assert.ok(sums.trials >= 12, 'I17: too few crashes fired')
  assert.ok(sums.unknownButDone > 0, 'I17: no crash fell between effect and record')
  assert.ok(sums.keyedTwice > 0, 'I17: no keyed tool was repeated')
  assert.ok(sums.readTwice > 0, 'I17: no read was repeated')
})
