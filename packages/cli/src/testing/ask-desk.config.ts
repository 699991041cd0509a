/** An agent that asks people in every way, for the tests of the command line: it pays after an approval, asks questions, and writes to Anna. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

const questions = [
  {
    id: 'colour',
    text: 'Which colour?',
    options: [
      { id: 'r', label: 'Red' },
      { id: 'g', label: 'Green' },
    ],
  },
  { id: 'why', text: 'Why?', required: false },
]

const asker = scriptedModel(
  (request, turn) => {
    const said = lastUserMessage(request)
    if (turn > 0) return `It came to: ${toolResults(request)[0]}`
    if (said.includes('demand')) return call('charge', {})
    if (said.includes('spend')) return call('spend', { amount: 700 })
    if (said.includes('twice')) return { toolCalls: [3, 4].map((amount) => ({ name: 'pay', arguments: { amount } })) }
    if (said.includes('pay'))
      return call('pay', { amount: 5, to: 'a very long name of somebody who is paid '.repeat(3) })
    if (said.includes('choose')) return call('ask_question', { questions })
    return call('ask_user', { message: 'How many?' })
  },
  { id: 'scripted/asker' },
)

const anyArguments = {
  '~standard': { version: 1, vendor: 'witan', validate: (value: unknown) => ({ value }) },
} as const

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: anyArguments,
  jsonSchema: {
    type: 'object',
    properties: { amount: { type: 'number', maximum: 100 }, to: { type: 'string' } },
    required: ['amount'],
  },
  execute: (args) => `paid ${(args as { amount: number }).amount}`,
})

const spend = defineTool({
  name: 'spend',
  description: 'Spends.',
  parameters: anyArguments,
  jsonSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  execute: () => 'spent',
})

const charge = defineTool({
  name: 'charge',
  description: 'Charges.',
  parameters: anyArguments,
  jsonSchema: { type: 'object', properties: {} },
  execute: async (_, { demand }) => {
    await demand({ kind: 'payment_required', message: 'It costs one euro.' })
    return 'charged'
  },
})

/** On a store in memory; with a file in `WITAN_STORE_URL` it outlives its process. */
export default {
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'asker',
      model: asker,
      instructions: 'Ask.',
      tools: [pay, spend, charge],
      approvals: ['pay', { tool: 'spend', when: { properties: { amount: { minimum: 500 } }, required: ['amount'] } }],
      questions: true,
      users: [{ id: 'anna', name: 'Anna' }],
    }),
  ],
}
