/** The archive, `archive.test`: it asks for consent once in a conversation, and for 2.00 EUR for each article. */
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, toolResults } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { z } from 'zod'
import { played } from '../federation/pace.ts'
import { ports, resolve, storeOf, tillUrl } from './places.ts'

const article = defineTool({
  name: 'article',
  description: 'Fetches the article that fits best.',
  parameters: z.object({ words: z.string() }),
  // It runs again from its beginning once the demand is met. What was said there is no proof: the till knows who has paid.
  async execute({ words }, { demand, callId }) {
    const bill = `${tillUrl}/bills/${callId}`
    await demand({
      kind: 'payment_required',
      title: 'An article has its price',
      message: `The article costs 2.00 EUR. Pay at ${bill} and accept then.`,
      data: { 'test.archive.amount': '2.00 EUR' },
    })
    const isPaid = (await (await fetch(`${bill}/paid`)).text()) === 'true'
    return isPaid ? `“On ${words}”, Annals 12, 1911, pages 3 to 40.` : 'The bill was not paid, so there is no article.'
  },
})

const search = defineAgent({
  id: 'search',
  name: 'Archive',
  description: 'Searches the archive.',
  instructions: 'Fetch the article that fits what is asked.',
  address: 'search',
  // Not every agent of the office, and not for everybody: the office says for whom its desk asks, and signs that.
  access: { call: [['@desk@office.test', 'for:@local@office.test']] },
  demands: [
    {
      kind: 'consent_required',
      message: 'The archive keeps what you ask for a week. May it?',
      per: 'conversation',
    },
  ],
  tools: [article],
  model: played('search', (request) => {
    const [found] = toolResults(request).slice(-1)
    return request.messages.at(-1)?.role === 'tool' ? found : call('article', { words: lastUserMessage(request) })
  }),
})

export default defineConfig({
  server: { port: ports.archive, domain: 'archive.test', publicUrl: 'https://archive.test' },
  store: storeOf('archive'),
  federation: { resolve },
  agents: [search],
})
