/** A server whose one agent asks in every way: it pays after an approval, asks questions, writes to Anna, and has an action. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { z } from 'zod'

const questions = [
  {
    id: 'colour',
    text: 'Which colour shall the door have?',
    options: [
      { id: 'r', label: 'Red' },
      { id: 'g', label: 'Green' },
    ],
  },
  {
    id: 'extras',
    text: 'What else?',
    options: [
      { id: 'bell', label: 'A bell' },
      { id: 'lamp', label: 'A lamp' },
    ],
    multiple: true,
    freeText: true,
    required: false,
  },
  { id: 'why', text: 'Why?', required: false },
]

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number().max(100), to: z.string().optional() }),
  execute: ({ amount }) => `paid ${amount}`,
})

const staff = defineTool({
  name: 'staff',
  description: 'The people of the house.',
  parameters: z.object({}),
  effect: 'none',
  execute: () =>
    Array.from({ length: 60 }, (_, index) => ({
      id: index + 1,
      name: `Person ${index + 1}`,
      note: index === 0 ? '<b>bold</b>' : null,
    })),
})

const model = scriptedModel(
  (request, turn) => {
    const said = lastUserMessage(request)
    if (said === 'write' && turn === 1) return call('Order', { much: 40 })
    if (turn > 0) return `It came to: ${toolResults(request).at(-1)}`
    if (said === 'staff') return call('staff')
    if (said === 'pay') return call('pay', { amount: 5, to: 'the carpenter' })
    return said === 'choose' ? call('ask_question', { questions }) : call('ask_user', { message: 'How many?' })
  },
  { id: 'scripted/asker' },
)

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'asker',
      model,
      instructions: 'Ask.',
      tools: [pay, staff],
      actions: [{ name: 'Order', parametersSample: { much: 1 } }],
      approvals: ['pay'],
      questions: true,
      users: [{ id: 'anna', name: 'Anna' }],
    }),
  ],
})
