/** A run as spans: a collector on this machine prints what it gets. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

interface Batch {
  readonly resourceSpans: { scopeSpans: { spans: { name: string; traceId: string; parentSpanId?: string }[] }[] }[]
}

const batches: Promise<unknown>[] = []
const collector = createServer((request, response) => {
  batches.push(json(request).finally(() => response.end('{}')))
}).listen(0, '127.0.0.1')
await once(collector, 'listening')
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`

const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: 'Take a coat.' }
  if (last?.content === 'In Oslo?') return { text: 'Cold.' }
  return { toolCalls: [{ id: 'one', name: 'weather', arguments: '{"message":"In Oslo?"}' }] }
})
const weather = defineAgent({ id: 'weather', model, instructions: 'You know the weather.' })
const subAgents = [{ agent: 'weather', description: 'Asks for the weather.' }]
const guide = defineAgent({ id: 'guide', model, instructions: 'You guide.', subAgents })

const runtime = createRuntime({ agents: [guide, weather], telemetry: { otlp: { url, protocol: 'http/json' } } })
const run = await runtime.conversation('guide').run('What shall I wear?')
await runtime.close()

for (const batch of (await Promise.all(batches)) as Batch[]) {
  for (const { name, traceId, parentSpanId } of batch.resourceSpans.flatMap(
    ({ scopeSpans }) => scopeSpans[0]?.spans ?? [],
  ))
    console.log(name, traceId === run.traceId, parentSpanId === undefined ? 'root' : 'below')
}
collector.close()
