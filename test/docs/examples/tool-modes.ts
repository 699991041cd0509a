/** A model that must look first and says when it has seen enough; then its answer in words, and in a structured form. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  effect: 'none',
  execute: ({ city }) => `rain in ${city}`,
})
const replies = [
  call('weather', { city: 'Oslo' }),
  call('weather', { city: 'Bergen' }),
  call('end_tool_mode'),
  'Take a coat: it rains in both cities.',
  call('set_output', { coat: true }),
  'You are welcome.',
  call('set_output', { coat: true }),
]
const model = scriptedModel(() => replies.shift() ?? 'Hello.')
const guide = defineAgent({
  id: 'guide',
  model,
  instructions: 'Look before you answer.',
  tools: [weather],
  toolMode: 'force',
  endToolMode: true,
  outputMode: 'tool',
  outputSchema: { type: 'object', properties: { coat: { type: 'boolean' } }, required: ['coat'] },
})
const runtime = createRuntime({ agents: [guide] })

const result = await runtime.conversation('guide', { id: 'chats/1' }).run('What do I pack?')
console.log(result.text, result.output)
for (const { toolChoice, tools } of model.requests) console.log(toolChoice, tools.map(({ name }) => name).join(' '))

const thanked = await runtime.run('chats/1', { prompt: 'Thanks!', toolMode: 'none' })
console.log((await thanked.result).text, model.requests[5]?.toolChoice)
await runtime.close()
