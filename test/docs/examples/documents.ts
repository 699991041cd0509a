/** The same conversation, read from both ends: what the root's document holds, and what the delegate's holds. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'

const records = defineAgent({
  id: 'records',
  instructions: 'Read the records.',
  model: scriptedModel(() => 'Andrew Fuller', { id: 'demo/records' }),
  parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }, { name: 'country' }],
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask.',
  model: scriptedModel(turns(call('records', { message: 'Who is the manager?' }), 'It is Andrew Fuller.')),
  subAgents: [{ agent: 'records', description: 'Reads records.' }],
})

const runtime = createRuntime({ agents: [records, desk] })
const parameters = { userId: 'employees/3', country: 'Norway' }
await runtime.conversation('desk', { id: 'chats/1', parameters }).run('Who is my manager?')

for (const path of ['chats/1', 'chats/1/records']) {
  const document = await runtime.getDocument(path)
  console.log(path, JSON.stringify(document.parameters))
  for (const { role, author, text, toolCalls } of document.messages)
    console.log(' ', role, author, text || toolCalls.map((one) => `${one.name} → ${one.result}`).join())
}
await runtime.close()
