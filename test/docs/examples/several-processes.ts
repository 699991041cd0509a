/** Two runtimes on one store, as in two processes, of which one lacks a tool: what the log says then. */
import { createRuntime, defineAgent, defineTool, postgresStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const url = process.env.DATABASE_URL ?? 'postgres://localhost/app'
const model = scriptedModel((request) => toolResults(request)[0] ?? call('weigh'), { id: 'scripted/scale' })
const weigh = defineTool({ name: 'weigh', description: 'Weighs.', parameters: z.object({}), execute: () => '3 kg' })
const scale = defineAgent({ id: 'scale', instructions: 'Weigh it.', model, tools: [weigh] })

const equipped = createRuntime({ store: postgresStore({ url, schema: 'witan_example' }), agents: [scale] })
await equipped.ready
const bare = createRuntime({
  store: postgresStore({ url, schema: 'witan_example' }),
  models: { 'scripted/scale': model },
})
for (const runtime of [equipped, bare]) {
  const { run, id } = await runtime.start({ agent: 'scale', prompt: 'How heavy?' })
  console.log((await run?.result)?.text)
  const { events } = await runtime.readEvents(id, { verbose: true, limit: 20 })
  for (const { type, content } of events) if (type === 'notice') console.log(content['code'], '–', content['detail'])
}
await Promise.all([equipped.close(), bare.close()])
