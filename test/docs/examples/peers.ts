/** A buyer asks a warehouse by a protocol; a message out of order is not sent. */
import { createRuntime, defineAgent, defineProtocol } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { diagramText } from '@witan/protocol/protocols'

const count = { type: 'object', properties: { count: { type: 'integer' } } }
const stock = defineProtocol({
  name: 'stock-request',
  purpose: 'What is in the warehouse.',
  messages: [
    {
      name: 'ask',
      from: 'initiator',
      schema: { type: 'object', properties: { sku: { type: 'string' } } },
      reply: count,
    },
    { name: 'order', from: 'initiator', schema: count },
  ],
  order: {
    start: 'idle',
    final: ['idle', 'done'],
    states: { idle: { ask: 'asked' }, asked: { order: 'done' }, done: {} },
  },
})
const steps = [call('warehouse_order', { count: 2 }), call('warehouse_ask', { sku: 'A-1' }), 'There are three.']
const buyer = defineAgent({
  id: 'buyer',
  instructions: 'Buy what is asked for.',
  model: scriptedModel(() => steps.shift() ?? '', { id: 'demo/buyer' }),
  speaks: [{ protocol: 'stock-request', role: 'initiator', peers: ['warehouse'] }],
})
const keep = (words: string) => {
  console.log(words)
  return '{"count":3}'
}
const warehouse = defineAgent({
  id: 'warehouse',
  instructions: 'Keep the stock.',
  model: scriptedModel((request) => keep(lastUserMessage(request)), { id: 'demo/warehouse' }),
  speaks: [{ protocol: 'stock-request', role: 'responder' }],
})

const runtime = createRuntime({ agents: [buyer, warehouse], protocols: [stock] })
const { runId } = await runtime.conversation('buyer', { id: 'chats/1' }).run('Are there two A-1?')
console.log(diagramText(await runtime.getDiagram(runId)))
const [exchange] = await runtime.getExchanges(runId)
console.log(exchange?.state, exchange?.violations[0]?.detail)
await runtime.close()
