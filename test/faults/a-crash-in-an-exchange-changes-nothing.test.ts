/** The process dies at its n-th append of an exchange of ten messages, for every n: all that was said stands once, in the same order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Runtime, type Store } from '@witan/core'
import { call, type Rule } from '@witan/core/testing'
import type { ProtocolInput } from '@witan/protocol/protocols'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { allEvents, createStage, settle } from '../support/stage.ts'

const content = { type: 'object', properties: { price: { type: 'integer' } }, required: ['price'] }
const bargain: ProtocolInput = {
  name: 'bargain',
  messages: [
    { name: 'offer', from: 'initiator', schema: content, reply: content },
    { name: 'counter', from: 'responder', schema: content },
  ],
  order: {
    start: 'open',
    final: ['open'],
    states: { open: { offer: 'offered' }, offered: { counter: 'open' } },
  },
}

/** Five offers, each with a counter-offer before its reply, which its maker answers in a document apart. */
const host: Rule = ({ messages }) => {
  const words = messages.filter(({ role }) => role === 'user').at(-1)?.content ?? ''
  const counter = /\[from @guest to @host\] counter \{"price":(\d+)\}$/.exec(words)?.[1]
  if (counter !== undefined) return `no to ${counter}`
  const made = messages.filter(({ role }) => role === 'tool').length
  return made < 5 ? call('guest_offer', { price: made }) : 'no bargain'
}
const guest: Rule = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return '{"price":9}'
  return call('host_counter', { price: messages.filter(({ role }) => role === 'user').length })
}

const leaseMs = 15_000

interface Told {
  readonly said: readonly string[]
  readonly asked: readonly string[]
  readonly result: readonly unknown[]
  readonly appends: number
  readonly fired: boolean
}

async function tell(at: number, moment: CrashMoment): Promise<Told> {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const open = (from: Store) =>
    createStage({
      agents: [
        { id: 'host', speaks: [{ protocol: 'bargain', role: 'initiator', peers: ['guest'] }] },
        { id: 'guest', speaks: [{ protocol: 'bargain', role: 'responder' }] },
      ],
      plays: { host, guest },
      options: { store: from, clock, leaseMs, protocols: [bargain] },
    })
  const crashing = crashingStore(store, at, moment)
  const first = open(crashing.store)
  const started = first.ask('host', 'Bargain.', { id: 'chats/1' }).then(() => 'end' as const)
  const fired = (await Promise.race([started, crashing.crashed.then(() => 'crash' as const)])) === 'crash'
  let last = first
  if (fired) {
    clock.advance(leaseMs + 1)
    last = open(store)
    await last.runtime.ready
    // A crash before anything was stored leaves nothing to go on with: the person sends the message again.
    const { items } = await last.runtime.listConversations()
    if (items.length === 0) await last.ask('host', 'Bargain.', { id: 'chats/1' })
  }
  const result = await atRest(last.runtime, () => clock.advance(leaseMs + 1))
  const events = await allEvents(last.runtime, 'chats/1')
  assertSound(events, 8)
  const [exchange, ...others] = await last.runtime.getExchanges(result.runId)
  assert.equal(others.length, 0, 'one exchange goes on while its order allows the message')
  const said = [exchange, ...others].flatMap((one) =>
    (one?.messages ?? []).map(({ number, from, to, name, isReply, body }) => ({
      number,
      from,
      to,
      name,
      isReply,
      body,
    })),
  )
  const asked = [...first.requests, ...last.requests].map(({ messages, tools }) =>
    JSON.stringify([messages, tools.map(({ name }) => name)]),
  )
  await Promise.all([last.runtime.close()])
  return {
    said: said.map((one) => JSON.stringify(one)).sort(),
    asked: [...new Set(asked)].sort(),
    result: [result.status, result.text],
    appends: crashing.appends(),
    fired,
  }
}

async function atRest(runtime: Runtime, pass: () => void) {
  for (let round = 0; round < 2000; round += 1) {
    const [run] = (await runtime.getConversation('chats/1')).runs
    const { result, status } = await runtime.getRun(run?.runId ?? '')
    if (status !== 'running' && result !== null) return result
    if (round % 50 === 49) pass()
    await settle(1)
  }
  throw new Error('I9: the run does not come to its end')
}

test('[I1] [I9] [I16] [C35] a crash at any append of an exchange of ten messages', async (context) => {
  const calm = await tell(0, 'before')
  assert.deepEqual(calm.result, ['completed', 'no bargain'])
  assert.equal(calm.said.length, 20, 'ten messages and ten replies')
  let fired = 0
  for (const moment of ['before', 'after'] as const) {
    for (let at = 1; at <= calm.appends; at += 1) {
      const told = await tell(at, moment)
      assert.deepEqual(told.said, calm.said, `append ${at}, ${moment}`)
      assert.deepEqual(told.result, calm.result, `append ${at}, ${moment}`)
      assert.deepEqual(told.asked, calm.asked, `append ${at}, ${moment}`)
      if (told.fired) fired += 1
    }
  }
  context.diagnostic(`${calm.appends * 2} trials, ${fired} faults fired, 0 violations`)
  assert.equal(fired, calm.appends * 2, 'I17: a fault did not fire')
})
