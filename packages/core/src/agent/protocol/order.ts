/** The order of a protocol's messages: an automaton over the names of messages. */
import type { Protocol } from '@witan/protocol/protocols'

/** Where an exchange stands: its state, null without an order, and whether it may end there. */
export interface Standing {
  readonly state: string | null
  readonly finished: boolean
}

/** What a message does to an exchange: where it then stands and whether it begins a new exchange; or the messages allowed instead. */
type Move =
  | { readonly ok: true; readonly standing: Standing; readonly begins: boolean }
  | { readonly ok: false; readonly state: string; readonly allowed: readonly string[] }

/**
 * What message `name` does to an exchange, null before the first message. In a final state that does not allow it, the exchange is
 * over, and the message begins a new one [C35].
 */
export function moveOf({ order }: Pick<Protocol, 'order'>, at: Standing | null, name: string): Move {
  if (order === null) return { ok: true, standing: { state: null, finished: true }, begins: at === null }
  const state = at?.state ?? order.start
  const next = nextState(order, state, name)
  if (next !== undefined) return { ok: true, standing: standingIn(order, next), begins: at === null }
  const again = at?.finished === true ? nextState(order, order.start, name) : undefined
  if (again !== undefined) return { ok: true, standing: standingIn(order, again), begins: true }
  const here = Object.keys(order.states[state] ?? {})
  const anew = at?.finished === true ? Object.keys(order.states[order.start] ?? {}) : []
  return { ok: false, state, allowed: [...new Set([...here, ...anew])] }
}

/** Whether an exchange is open: its state allows a message. Without an order it always is. */
export function isOpen({ order }: Pick<Protocol, 'order'>, { state }: Standing): boolean {
  return order === null || Object.keys(order.states[state ?? order.start] ?? {}).length > 0
}

type Order = NonNullable<Protocol['order']>

function nextState({ states }: Order, state: string, name: string): string | undefined {
  const moves = Object.hasOwn(states, state) ? states[state] : undefined
  return moves !== undefined && Object.hasOwn(moves, name) ? moves[name] : undefined
}

function standingIn({ final }: Order, state: string): Standing {
  return { state, finished: final.includes(state) }
}
