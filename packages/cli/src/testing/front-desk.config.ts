/** Agents for the tests of the command line: a root, and a clerk below it with a trusted value and an action. Models answer at once. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

const desk = scriptedModel(
  (request, turn) => {
    if (lastUserMessage(request).includes('break')) return new Error('the model broke')
    return turn === 0 ? call('clerk', { message: lastUserMessage(request) }) : toolResults(request).join(' ')
  },
  { id: 'scripted/desk' },
)

const clerk = scriptedModel(
  (request, turn) => {
    const stamps = lastUserMessage(request).includes('stamp')
    if (turn === 0) return stamps ? call('Stamp', { as: 'paid' }) : call('who-is-it')
    return stamps ? `Stamped: ${toolResults(request)[0]}` : `It is ${toolResults(request)[0]}.`
  },
  { id: 'scripted/clerk' },
)

const whoIsIt = defineTool({
  name: 'who-is-it',
  description: 'The name of the user.',
  parameters: { '~standard': { version: 1, vendor: 'witan', validate: (value) => ({ value }) } },
  jsonSchema: { type: 'object', properties: {} },
  effect: 'none',
  execute: (_, { parameters }) => `user ${String(parameters.userId)}`,
})

export default {
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'front-desk',
      model: desk,
      instructions: 'Ask the clerk.',
      subAgents: [{ agent: 'clerk', description: 'Knows the user.' }],
    }),
    defineAgent({
      id: 'clerk',
      model: clerk,
      instructions: 'Say who it is.',
      parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
      tools: [whoIsIt],
      actions: [
        {
          name: 'Stamp',
          description: 'Stamps.',
          parametersSchema: { type: 'object', properties: { as: { type: 'string' } }, required: ['as'] },
        },
      ],
    }),
  ],
}
