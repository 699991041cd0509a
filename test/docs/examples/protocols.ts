/** A protocol as code and one as data; a mistake in the order of its messages is found before it is saved. */
import { createRuntime, defineProtocol } from '@witan/core'

const stock = defineProtocol({
  name: 'stock-request',
  purpose: 'What is in the warehouse.',
  processing: 'Look up the article, and answer with its count.',
  messages: [
    {
      name: 'ask',
      from: 'initiator',
      schema: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
      reply: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    },
    { name: 'order', from: 'initiator', schema: { type: 'object', properties: { count: { type: 'integer' } } } },
  ],
  order: {
    start: 'idle',
    final: ['idle', 'closed'],
    states: { idle: { ask: 'asked' }, asked: { ask: 'asked', order: 'closed' }, closed: {} },
  },
})
const runtime = createRuntime({ protocols: [stock] })

const { revision, source, messages } = await runtime.protocols.get('stock-request')
console.log(revision, source, messages.map(({ name, from }) => `${name} by the ${from}`).join(', '))

const data = { ...stock, order: { ...stock.order, start: 'idel' } }
const report = await runtime.agents.check([], [data])
for (const { code, path, detail, hint } of report.errors) console.log(`${code} at ${path}: ${detail}\n  → ${hint}`)

const { protocol } = await runtime.protocols.save({ ...stock, processing: 'Look it up twice.' })
console.log(protocol.revision, protocol.source)
await runtime.close()
