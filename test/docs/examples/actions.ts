/** An action parks the run. Here one is answered by a handler, and one by somebody who only knows its id. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const profile = defineAgent({
  id: 'profile',
  instructions: 'Change what the employee asks for.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('ChangeName', { name: 'Ann' }), { id: 'demo/p' }),
  parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
  actions: [
    {
      name: 'ChangeName',
      description: 'Changes the name.',
      parametersSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  ],
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('profile', { message: 'Change the name.' })),
  subAgents: [{ agent: 'profile', description: 'Changes profiles.' }],
})
const runtime = createRuntime({ agents: [profile, desk] })
const parameters = { userId: 'employees/3' }

const handled = runtime.conversation('desk', { parameters })
handled.handle(
  'profile/ChangeName',
  ({ name, userId }) => `${userId === 'employees/3' ? 'You are' : 'Somebody is'} ${name} now.`,
)
console.log((await handled.run('Call me Ann.')).text)

const open = await runtime.conversation('desk', { parameters }).run('Call me Ann.')
const [asked] = open.interruptions
if (asked?.kind === 'action') console.log(open.status, asked.path, asked.arguments)
const actionResponses = [{ id: asked?.id ?? '', response: 'The change is on its way.' }]
const resumed = await runtime.run(open.conversationId, { actionResponses })
console.log((await resumed.result).text, resumed.runId === open.runId)
const late = { answer: 'no, it is not' }
await runtime.answerInterruption(asked?.id ?? '', late).catch((error) => console.log(error.code))
await runtime.close()
