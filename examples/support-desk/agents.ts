/** The agents of a support desk. A script stands in for each model, so that everything runs without a key. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { backOffice, complaints, goodwill } from './complaints.ts'

/** What the shop knows of an order. */
const orders: Readonly<Record<string, string>> = {
  '1042': 'lamp, 49.00, delivered on 2026-11-18',
  '1043': 'desk, 199.00, on its way, expected on 2026-11-25',
}

const findOrder = defineTool({
  name: 'find-order',
  description: 'What the shop knows of an order.',
  parameters: z.object({ number: z.string() }),
  effect: 'none',
  execute: ({ number }) => orders[number] ?? `there is no order ${number}`,
})

const numberIn = (words: string) => /\b\d{4}\b/.exec(words)?.[0] ?? '1042'

/** Looks the order up, then says what follows from it. */
function specialist(id: string, description: string, says: (order: string) => string) {
  return defineAgent({
    id,
    description,
    instructions: `You are the specialist for this: ${description} Look the order up before you answer.`,
    tools: [findOrder],
    model: scriptedModel(
      (request) => {
        const [order] = toolResults(request)
        return order === undefined ? call('find-order', { number: numberIn(lastUserMessage(request)) }) : says(order)
      },
      { id: `script/${id}` },
    ),
  })
}

export const billing = specialist(
  'billing',
  'Bills, refunds and payments.',
  (order) => `The refund for this is on its way: ${order}.`,
)
export const shipping = specialist(
  'shipping',
  'Where a parcel is.',
  (order) => `This is what the carrier says: ${order}.`,
)
export const returns = specialist(
  'returns',
  'Goods that arrive broken or go back.',
  (order) => `A new one is sent today for: ${order}.`,
)

export const draft = defineAgent({
  id: 'draft',
  instructions: 'Write a short, friendly letter about what was arranged. Follow the review.',
  model: scriptedModel(
    (request) => {
      const arranged = /is sent today for: ([^,]+)/.exec(lastUserMessage(request))?.[1] ?? 'order'
      const isReviewed = lastUserMessage(request).includes('[from @review')
      return isReviewed
        ? `Dear customer, we are sorry that your ${arranged} arrived broken. A new one leaves today.`
        : `Your ${arranged} will be replaced.`
    },
    { id: 'script/draft' },
  ),
})
export const review = defineAgent({
  id: 'review',
  instructions: 'Say what to change. If the letter is friendly and says what happens next, end the loop.',
  model: scriptedModel(
    (request) => (lastUserMessage(request).includes('Dear customer') ? call('exit_loop', {}) : 'Greet, and say sorry.'),
    { id: 'script/review' },
  ),
})

/** Draft and review, until the review is content. */
export const letter = defineAgent({
  id: 'letter',
  description: 'Writes a letter to the customer.',
  workflow: { kind: 'loop', agents: ['draft', 'review'], maxIterations: 4, exitBy: ['review'] },
})

const reader = (id: string, instructions: string, verdict: string) =>
  defineAgent({ id, instructions, model: scriptedModel(() => verdict, { id: `script/${id}` }) })

export const tone = reader('tone', 'Is the tone right?', 'Friendly and short.')
export const facts = reader('facts', 'Is everything in it true?', 'The order and the date are right.')
export const policy = reader(
  'policy',
  'Does it promise what the shop may promise?',
  'A replacement is within the policy.',
)

/** Three readers at once. */
export const panel = defineAgent({
  id: 'panel',
  description: 'Three readers of a letter.',
  workflow: { kind: 'parallel', agents: ['tone', 'facts', 'policy'] },
})

/** The letter, then its readers. */
export const reply = defineAgent({
  id: 'reply',
  description: 'Writes a letter to the customer, and has it read by three others.',
  workflow: { kind: 'sequence', agents: ['letter', 'panel'] },
})

const specialists: readonly (readonly [RegExp, string])[] = [
  [/complain|unfair|angry/i, 'complaints'],
  [/refund|bill|pay/i, 'billing'],
  [/broken|return|damaged/i, 'returns'],
  [/where|parcel|late/i, 'shipping'],
]

/** The coordinator: hands over to a specialist, gets control back, and sees to the letter. A complaint it hands over for good. */
export const desk = defineAgent({
  id: 'desk',
  instructions:
    'Hand over to the right specialist. When something was arranged for broken goods, have a letter written.',
  transfers: [
    ...[billing, shipping, returns].map(({ data }) => ({ agent: data.id, returnsTo: 'caller' as const })),
    { agent: 'complaints' },
  ],
  subAgents: [{ agent: 'reply' }],
  model: scriptedModel(
    (request) => {
      const words = lastUserMessage(request)
      const [verdicts] = toolResults(request).slice(-1)
      if (verdicts?.includes('Friendly and short.'))
        return 'A new one is sent today, and a letter about it is ready; three colleagues have read it.'
      const [, from, told = ''] = /\[from @(billing|shipping|returns) to @user\] (.*)/.exec(words) ?? []
      if (from !== undefined) return from === 'returns' ? call('reply', { message: told }) : told
      const found = specialists.find(([about]) => about.test(words))
      return found === undefined
        ? 'I can help with bills, parcels, broken goods and complaints. What is it about?'
        : call('transfer_to_agent', { agent_name: found[1] })
    },
    { id: 'script/desk' },
  ),
})

/** Every agent of the desk. */
export const agents = [
  ...[desk, billing, shipping, returns, complaints, goodwill, backOffice],
  ...[reply, letter, draft, review, panel, tone, facts, policy],
]
