/** Where values come from and who sees them: a trusted hidden id, a shown country, and a topic that a model supplies. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, systemText, turns } from '@witan/core/testing'

const recordsModel = scriptedModel(() => 'Three orders.', { id: 'demo/records' })
const records = defineAgent({
  id: 'records',
  instructions: 'Read the records.',
  model: recordsModel,
  parameters: [
    { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' },
    { name: 'country' },
    { name: 'topic', description: 'What to read about.' },
  ],
})
const deskModel = scriptedModel(
  turns(call('records', { message: 'Count them.', topic: 'orders', userId: 'employees/9' }), 'You have three orders.'),
  { id: 'demo/desk' },
)
const desk = defineAgent({
  id: 'desk',
  instructions: 'Talk with the employee.',
  model: deskModel,
  subAgents: [{ agent: 'records', description: 'Reads records.' }],
})

const runtime = createRuntime({ agents: [records, desk] })
const parameters = { userId: 'employees/3', country: { value: 'Norway', sendToModel: true } }
const chat = runtime.conversation('desk', { id: 'chats/1', parameters })
await chat.run('How many orders do I have?')

const [asked] = deskModel.requests
const [delegated] = recordsModel.requests
if (asked === undefined || delegated === undefined) throw new Error('both models were asked')
console.log('the desk reads:', systemText(asked))
console.log(
  'its tool asks for:',
  asked.tools.map(({ parameters: schema }) => schema['required']),
)
console.log('records reads:', systemText(delegated))
const { events } = await runtime.readEvents('chats/1', { verbose: true })
for (const { type, content } of events) if (type === 'notice') console.log(content['code'], '–', content['detail'])
await runtime.close()
