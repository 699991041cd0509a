/** The order of a protocol: which message each state allows, when an exchange ends, and when the next one begins. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { protocolSchema } from '@witan/protocol/schemas'
import fc from 'fast-check'
import { holds } from '../../../../../test/support/seeds.ts'
import { isOpen, moveOf, type Standing } from './order.ts'

const messages = ['ask', 'order', 'thank'].map((name) => ({ name, from: 'initiator' as const }))
const stock = protocolSchema.parse({
  name: 'stock',
  messages,
  order: {
    start: 'idle',
    final: ['idle', 'closed'],
    states: { idle: { ask: 'asked' }, asked: { ask: 'asked', order: 'closed' }, closed: { thank: 'done' }, done: {} },
  },
})

/** Sends these messages one after another, and says where each leads. */
function sent(names: readonly string[]): readonly string[] {
  let at: Standing | null = null
  return names.map((name) => {
    const move = moveOf(stock, at, name)
    if (!move.ok) return `not in ${move.state}: ${move.allowed.join(' ')}`
    at = move.standing
    return `${move.begins ? 'begins, ' : ''}${at.state}${at.finished ? ', may end' : ''}`
  })
}

describe('the order of a protocol', () => {
  test('a message leads to the next state, and what is out of order is told with what is allowed', () => {
    assert.deepEqual(sent(['order', 'ask', 'ask', 'order']), [
      'not in idle: ask',
      'begins, asked',
      'asked',
      'closed, may end',
    ])
  })

  test('after a final state a message that it does not allow begins a new exchange, if `start` allows it', () => {
    assert.deepEqual(sent(['ask', 'order', 'ask', 'thank']).slice(2), ['begins, asked', 'not in asked: ask order'])
    assert.deepEqual(
      sent(['ask', 'order', 'thank']).at(-1),
      'done',
      'what a final state allows goes on with the exchange',
    )
    assert.deepEqual(
      sent(['ask', 'order', 'thank', 'ask']).at(-1),
      'not in done: ',
      'a state that is not final ends nothing',
    )
    assert.deepEqual(isOpen(stock, { state: 'done', finished: false }), false)
    assert.deepEqual(isOpen(stock, { state: 'closed', finished: true }), true)
  })

  test('without an order every message is allowed at any time, in one exchange', () => {
    const free = { order: null }
    const first = moveOf(free, null, 'any')
    assert.deepEqual(first, { ok: true, standing: { state: null, finished: true }, begins: true })
    assert.deepEqual(
      moveOf(free, { state: null, finished: true }, 'more').ok && isOpen(free, { state: null, finished: true }),
      true,
    )
  })

  test('names of JavaScript are names like any other', () => {
    const order = JSON.parse('{"start":"constructor","final":["a"],"states":{"constructor":{"ask":"a"},"a":{}}}')
    assert.equal(moveOf({ order }, null, 'toString').ok, false)
    assert.equal(moveOf({ order }, null, 'ask').ok, true)
    assert.equal(moveOf({ order: { ...order, start: '__proto__' } }, null, 'ask').ok, false)
  })

  test('any sequence of messages is accepted exactly where an automaton that restarts accepts it', async (context) => {
    const stateNames = ['s0', 's1', 's2']
    const moves = fc.dictionary(fc.constantFrom('ask', 'order', 'thank'), fc.constantFrom(...stateNames))
    const orders = fc.record({
      start: fc.constantFrom(...stateNames),
      final: fc.uniqueArray(fc.constantFrom(...stateNames), { minLength: 1 }),
      states: fc.record({ s0: moves, s1: moves, s2: moves }),
    })
    const sequences = fc.array(fc.constantFrom('ask', 'order', 'thank'), { maxLength: 12 })
    await holds(
      context,
      fc.property(orders, sequences, (order, names) => {
        let at: Standing | null = null
        let state = order.start
        for (const name of names) {
          const table = order.states as Record<string, Record<string, string>>
          const own: string | undefined = table[state]?.[name]
          const again: string | undefined =
            at !== null && order.final.includes(state) ? table[order.start]?.[name] : undefined
          const wanted: string | undefined = own ?? again
          const move = moveOf({ order }, at, name)
          assert.equal(move.ok, wanted !== undefined)
          if (!move.ok || wanted === undefined) continue
          assert.deepEqual(move.standing, { state: wanted, finished: order.final.includes(wanted) })
          assert.equal(move.begins, at === null || own === undefined)
          at = move.standing
          state = wanted
        }
      }),
      300,
    )
  })
})
