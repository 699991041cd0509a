/** Two agents: a front desk that asks a specialist. The specialist knows who is asking; no model does. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const records = defineAgent({
  id: 'records',
  instructions: 'Answer from the personnel records.',
  model: scriptedModel(() => 'Your manager is Andrew Fuller.', { id: 'demo/records' }),
  parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask your specialists; answer from what they say.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('records', { message: 'Who is the manager?' })),
  subAgents: [{ agent: 'records', description: 'Knows the personnel records.' }],
})

const runtime = createRuntime({ agents: [records, desk] })
const chat = runtime.conversation('desk', { parameters: { userId: 'employees/3' } })
const result = await chat.run('Who is my manager?')
console.log(result.text, `(${result.usage.modelCalls} model calls)`)
await runtime.close()
