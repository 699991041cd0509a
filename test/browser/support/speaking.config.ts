/** A buyer that asks two warehouses by a protocol and orders too early, in a wrong form; one of them asks back, and a manager is asked for a yes. */
import { defineAgent, defineProtocol } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

const object = (properties: object) => ({ type: 'object', properties })
const stock = defineProtocol({
  name: 'stock-request',
  purpose: 'What is in the warehouses.',
  messages: [
    { name: 'ask', from: 'initiator', schema: object({ sku: { type: 'string' } }) },
    { name: 'clarify', from: 'responder', schema: object({ question: { type: 'string' } }) },
    { name: 'order', from: 'initiator', schema: object({ count: { type: 'integer' } }), reply: object({ ok: {} }) },
  ],
})

const north: Rule = (request, turn) => {
  if (lastUserMessage(request).includes(' order ')) return 'I cannot say.'
  return turn === 0 ? call('buyer_clarify', { question: 'The long or the short one?' }) : 'Three of the long ones.'
}
const buyer: Rule = (request) => {
  const said = lastUserMessage(request)
  if (said.includes('clarify')) return 'The long one.'
  const results = request.messages.filter(({ role }) => role === 'tool').length
  if (results === 0) {
    const asked = ['north_ask', 'south_ask'].map((name) => ({ name, arguments: { sku: 'beam-7' } }))
    return { toolCalls: [...asked, { name: 'north_order', arguments: { count: 'many' } }] }
  }
  return results === 3 ? call('north_order', { count: 2 }) : 'North has three long beams, but takes no order.'
}
const speaks = [{ protocol: 'stock-request', role: 'responder' as const }]

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  protocols: [stock],
  agents: [
    defineAgent({
      id: 'buyer',
      name: 'Buyer',
      model: scriptedModel(buyer, { id: 'scripted/buyer' }),
      instructions: 'Buy.',
      speaks: [{ protocol: 'stock-request', role: 'initiator', peers: ['north', 'south'] }],
    }),
    defineAgent({
      id: 'north',
      name: 'North',
      description: 'The warehouse in the north.',
      model: scriptedModel(north, { id: 'scripted/north' }),
      instructions: 'Answer.',
      speaks,
    }),
    defineAgent({
      id: 'south',
      name: 'South',
      description: 'The warehouse in the south.',
      model: scriptedModel(() => '**None**, says `south`.', { id: 'scripted/south' }),
      instructions: 'Answer.',
      speaks,
    }),
  ],
})
