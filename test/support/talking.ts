/** A protocol without an order that both ends may write by, and how agents speak it. */
import type { ProtocolInput } from '@witan/protocol/protocols'

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

export const talk: ProtocolInput = {
  name: 'talk',
  messages: [
    { name: 'ask', from: 'initiator', schema },
    { name: 'tell', from: 'responder', schema },
  ],
}

export const initiates = (...peers: string[]) => ({ protocol: 'talk', role: 'initiator' as const, peers })

export const responds = { protocol: 'talk', role: 'responder' as const }
