/** An agent that answers from documents, and sees those of one customer alone. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const lawyer = defineAgent({
  id: 'lawyer',
  instructions: 'Answer from the contracts, and cite them.',
  parameters: [{ name: 'customerId', sendToModel: false, policy: 'forbidModelGeneration' }],
  knowledgeBases: [{ id: 'contracts', filter: { customer: 'customerId' } }],
  model: scriptedModel(
    (request) => {
      const [result] = toolResults(request)
      if (result === undefined) return call('search_knowledge', { query: 'How long is the notice period?' })
      const [passage] = JSON.parse(result).passages
      return `${passage.text} [${passage.id}]`
    },
    { id: 'demo/lawyer' },
  ),
})

const runtime = createRuntime({
  knowledge: [{ id: 'contracts', attributes: { customer: 'string' }, requiredFilters: ['customer'] }],
  agents: [lawyer],
})
const { added } = await runtime.knowledge.documents.ingest('contracts', {
  documents: [
    { key: 'alpha.txt', text: 'The notice period is three months.', attributes: { customer: 'alpha' } },
    { key: 'beta.txt', text: 'The notice period is one year.', attributes: { customer: 'beta' } },
  ],
})
console.log(added, 'documents')

for (const customerId of ['alpha', 'beta']) {
  const chat = runtime.conversation('lawyer', { parameters: { customerId } })
  const { text, sources = [] } = await chat.run('When can we leave?')
  console.log(text.replace(/k[a-z2-7]{8}/, 'id'), 'from', sources[0]?.document)
}
await runtime.close()
