/** What tests of peers share: a protocol of two messages in order, its two ends, and both saved together. */
import assert from 'node:assert/strict'
import type { CallOut } from './exchange.ts'
import { agent, type AgentJson, type Stage } from './stage.ts'
import type { WitanEvent } from './wire.ts'

const object = (properties: Record<string, unknown>, more: object = {}) => ({ type: 'object', properties, ...more })

const asking = {
  name: 'ask',
  from: 'initiator',
  schema: object({ sku: { type: 'string' } }, { required: ['sku'], additionalProperties: false }),
  reply: object({ inStock: { type: 'integer' } }, { required: ['inStock'] }),
}
const ordering = {
  name: 'order',
  from: 'initiator',
  schema: object({ count: { type: 'integer' } }, { required: ['count'] }),
}

/** First asked, then ordered, then closed. */
const stockOrder = {
  start: 'idle',
  final: ['idle', 'closed'],
  states: { idle: { ask: 'asked' }, asked: { ask: 'asked', order: 'closed' }, closed: {} },
}

export const stock = (more: object = {}) => ({
  name: 'stock-request',
  purpose: 'What is in stock.',
  processing: 'Look before you answer.',
  messages: [asking, ordering],
  order: stockOrder,
  ...more,
})

/** A protocol of one message, `ask`, with a free reply and no order. */
export const chat = (name: string, more: object = {}) => ({
  name,
  messages: [{ name: 'ask', from: 'initiator', schema: object({ text: { type: 'string' } }) }],
  ...more,
})

export const initiates = (protocol: string, ...peers: string[]) => ({ protocol, role: 'initiator', peers })
export const responds = (protocol: string, peers: string[] | null = null) => ({ protocol, role: 'responder', peers })

/** A buyer and a warehouse that speak `stock-request`. */
export const buyer = (more: object = {}) =>
  agent('buyer', { speaks: [initiates('stock-request', 'warehouse')], ...more })
export const warehouse = (more: object = {}) => agent('warehouse', { speaks: [responds('stock-request')], ...more })

export async function saveAll(stage: Stage, protocols: object[], agents: AgentJson[]): Promise<void> {
  const answer = await stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents, protocols } })
  assert.ok(answer.status === 200 || answer.status === 201, `batch: ${answer.status} ${answer.text}`)
}

/** A model's message to a peer. */
export const send = (peer: string, message: string, args: Record<string, unknown>): CallOut => ({
  name: `${peer}_${message}`,
  args,
})

/** An invitation that its guest may answer with a question; `states` say when, from `idle` to `done`. */
export const invitation = (states: object, ...more: object[]) => ({
  name: 'offer',
  messages: [
    { name: 'invite', from: 'initiator', schema: { type: 'object' } },
    { name: 'clarify', from: 'responder', schema: { type: 'object' } },
    ...more,
  ],
  order: { start: 'idle', final: ['done'], states: { idle: { invite: 'invited' }, ...states, done: {} } },
})

interface Exchange {
  id: string
  state: string | null
  finished: boolean
  violations: { seq: number; code: string; detail: string }[]
  messages: { seq: number; number: number; from: string; to: string; name: string; isReply: boolean; body: unknown }[]
}

/** The exchanges of a run. */
export async function exchangesIn(stage: Stage, run: string): Promise<Exchange[]> {
  const { body } = await stage.witan.call<{ exchanges: Exchange[] }>('GET', `/api/v1/runs/${run}/exchanges`)
  return body.exchanges
}

/** The codes of the notices among these events. */
export const noticesIn = (events: readonly WitanEvent[]) =>
  events.filter(({ type }) => type === 'notice').map(({ content }) => content['code'])
