/** Documents: the handbook of the firm, and the contracts of the account of the person, which a filter binds. */
import { type Agent, defineAgent } from '@witan/core'
import type { KnowledgeBaseInput } from '@witan/protocol/knowledge'
import type { ModelFor } from '../model.ts'
import { researchScript } from '../scripts/research.ts'
import { accountId, setting } from '../world.ts'

/** The two knowledge bases. Documents of `contracts` say whose they are, and no agent may search them without a filter. */
export const bases: KnowledgeBaseInput[] = [
  { id: 'handbook', description: 'How we work: discounts, travel, leave.' },
  {
    id: 'contracts',
    description: 'The contracts with the account of the person: term, notice, response times, prices.',
    attributes: { account: 'string' },
    requiredFilters: ['account'],
  },
]

export const researchAgent = (model: ModelFor): Agent =>
  defineAgent({
    id: 'research',
    name: 'Research',
    description:
      'Answers from documents with their sources: the handbook of the firm, and the contracts of the account of the person.',
    model: model('research', researchScript),
    instructions: `${setting}
Answer from the documents and from nothing else, and cite each passage by its id in brackets. If they do not say, say that.`,
    parameters: [accountId],
    knowledgeBases: ['handbook', { id: 'contracts', filter: { account: 'accountId' } }],
  })
