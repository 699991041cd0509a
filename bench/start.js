/** A cold process: imports the library, makes one agent with one tool in a runtime, and prints how long that took since it began. Plain JavaScript, so that nothing but the library is paid for. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { z } from 'zod'

const imported = performance.now()
const tool = defineTool({
  name: 'lookup',
  description: 'Look up the weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `${city}: 21 degrees`,
})
const agent = defineAgent({ id: 'helper', instructions: 'You help.', model: 'local/any', tools: [tool] })
const runtime = createRuntime({
  agents: [agent],
  connections: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } },
})
console.log(JSON.stringify({ imported, constructed: performance.now() }))
await runtime.close()
