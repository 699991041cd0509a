/** A desk that answers from a handbook, and a lawyer below it who sees the contracts of one customer alone. Offline, by a script. */
import { defineAgent } from '@witan/core'
import { quoting } from './model.ts'

const { WITAN_EXAMPLE_MODEL } = process.env
const model = WITAN_EXAMPLE_MODEL ?? 'demo/quoting'
const customerId = { name: 'customerId', sendToModel: false, policy: 'forbidModelGeneration' } as const

export default {
  store: { url: 'file:./.witan/handbook.db' },
  models: { 'demo/quoting': quoting },
  connections: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' } },
  knowledge: [
    { id: 'handbook', description: 'How we work: hours, leave, travel.' },
    {
      id: 'contracts',
      description: 'Contracts with customers.',
      attributes: { customer: 'string' },
      requiredFilters: ['customer'],
    },
  ],
  agents: [
    defineAgent({
      id: 'desk',
      model,
      instructions: 'Answer from the handbook, and cite what you quote. Leave contracts to the lawyer.',
      parameters: [customerId],
      knowledgeBases: ['handbook'],
      subAgents: [{ agent: 'lawyer' }],
    }),
    defineAgent({
      id: 'lawyer',
      model,
      instructions: 'Answer from the contracts, and cite what you quote.',
      description: 'Knows the contracts of the customer who asks.',
      parameters: [customerId],
      knowledgeBases: [{ id: 'contracts', filter: { customer: 'customerId' } }],
    }),
  ],
}
