/** A crash at any append around an approval: a `once` effect never happens before its approval and never twice, and a denied one never happens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { assertAlternates, assertEpochs, assertSound, storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, settle } from '../support/stage.ts'

const decisions = ['approved', 'denied'] as const
type Decision = (typeof decisions)[number]

interface Ledger {
  ran: number
  /** Whether an answer had been given when it ran. */
  readonly tooEarly: number[]
  isAnswered: boolean
}

function open(store: Store, ledger: Ledger, clock: ReturnType<typeof fakeClock>) {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    execute: async ({ amount }) => {
      if (!ledger.isAnswered) ledger.tooEarly.push(amount)
      ledger.ran += 1
      await settle(1)
      return 'paid'
    },
  })
  const model = scriptedModel(
    cast({
      root: ({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? 'done' : call('leaf', { message: 'pay' }),
      leaf: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'over' : call('pay', { amount: 9 })),
    }),
  )
  const runtime = createRuntime({
    store,
    clock,
    models: { 'play/model': model },
    agents: [agent('root', { subAgents: [{ agent: 'leaf' }] }), agent('leaf', { tools: ['pay'], approvals: ['pay'] })],
    tools: [pay],
    retry: { tries: 1 },
  })
  return { runtime, requests: model.requests }
}

/** Starts, answers, waits for the end; each step again where a crash cut it off. */
async function play(runtime: Runtime, ledger: Ledger, decision: Decision): Promise<'end'> {
  for (;;) {
    const state = await runtime.getConversation('chats/1').catch(() => null)
    if (state === null) await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    else if (state.status === 'idle') return 'end'
    for (const { id } of state?.interruptions ?? []) {
      ledger.isAnswered = true
      await runtime.answerInterruption(id, { answer: { decision } }).catch(() => {})
    }
    await settle(1)
  }
}

async function trial(at: number, moment: CrashMoment, decision: Decision) {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const ledger: Ledger = { ran: 0, tooEarly: [], isAnswered: false }
  const crashing = crashingStore(inner, at, moment)
  const first = open(crashing.store, ledger, clock)
  const came = await Promise.race([
    play(first.runtime, ledger, decision),
    crashing.crashed.then(() => 'crash' as const),
  ])
  const second = came === 'crash' ? open(inner, ledger, clock) : first
  if (came === 'crash') {
    await settle(5)
    clock.advance(15_001)
    await play(second.runtime, ledger, decision)
  }
  const events = await allEvents(second.runtime, 'chats/1')
  assertSound(events)
  assertEpochs(await storedEntries(inner, 'chats/1'))
  for (const request of [...first.requests, ...second.requests]) assertAlternates(request)
  const unknown = events.filter(({ content }) => content['code'] === 'OUTCOME_UNKNOWN').length
  return { ledger, came, unknown, appends: crashing.appends() }
}

for (const decision of decisions)
  test(`[D11] [D1] [I4] a crash at any append: a call that is ${decision} happens as often as it may`, async (context) => {
    const calm = await trial(0, 'before', decision)
    assert.equal(calm.ledger.ran, decision === 'approved' ? 1 : 0)
    let fired = 0
    let unknown = 0
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; at <= calm.appends; at += 1) {
        const told = await trial(at, moment, decision)
        const where = `append ${at}, ${moment}`
        assert.deepEqual(told.ledger.tooEarly, [], where)
        assert.ok(told.ledger.ran <= 1, `ran ${told.ledger.ran} times: ${where}`)
        if (decision === 'denied') assert.equal(told.ledger.ran, 0, where)
        else assert.equal(told.ledger.ran + told.unknown > 0, true, `neither ran nor is it unknown: ${where}`)
        if (told.came === 'crash') fired += 1
        unknown += told.unknown
      }
    }
    context.diagnostic(`${fired} crashes, ${unknown} outcomes unknown`)
    assert.equal(fired, 2 * calm.appends, 'I17: a fault did not fire')
    if (decision === 'approved') assert.ok(unknown > 0, 'I17: no effect was cut off')
  })
