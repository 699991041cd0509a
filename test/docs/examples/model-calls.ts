/** What a model was asked, computed from the log. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const guide = defineAgent({
  id: 'guide',
  instructions: 'Be short.',
  parameters: [{ name: 'city' }, { name: 'ticket', sendToModel: false }],
  model: scriptedModel(() => 'Turn left.'),
})
const runtime = createRuntime({ agents: [guide] })
const parameters = { city: 'Oslo', ticket: 'T-4711' }
const { id, run } = await runtime.start({ agent: 'guide', id: 'chats/1', parameters, prompt: 'I have T-4711.' })
await run?.result

const { items } = await runtime.modelCalls.list(id)
for (const one of items) {
  const { request, exact, masked } = await runtime.modelCalls.get(id, one.id)
  console.log(`model call ${one.number} of ${one.agent}`, { exact, masked })
  for (const { role, content } of request?.messages ?? []) console.log(`${role}: ${content}`)
}
const readers = await runtime.modelCalls.readers(id, 1)
for (const { agent, as } of readers.items) console.log(`read by ${agent} as ${as}`)
await runtime.close()
