/** What an agent's model will read, a tool tried alone, and the revisions of the agent: nothing is stored and no model is asked. */
import { createRuntime, defineTool } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { z } from 'zod'

const price = defineTool({
  name: 'price',
  description: 'The price of an article.',
  parameters: z.object({ article: z.string(), tenant: z.string() }),
  effect: 'none',
  execute: ({ article, tenant }) => ({ article, list: `prices of ${tenant}`, eur: 12 }),
})
const runtime = createRuntime({
  models: { 'local/any': scriptedModel(() => 'Twelve euros.') },
  tools: [price],
  agents: [
    {
      id: 'clerk',
      model: 'local/any',
      instructions: 'You sell.',
      parameters: [{ name: 'country' }, { name: 'tenant', sendToModel: false, policy: 'forbidModelGeneration' }],
      tools: ['price'],
    },
  ],
})
const parameters = { country: 'DE', tenant: 'northwind' }

const preview = await runtime.agents.preview('clerk', { parameters })
console.log(preview.system)
for (const { name, parameters: schema } of preview.tools) console.log(name, JSON.stringify(schema['properties']))
console.log(preview.errors.map(({ code }) => code))

const draft = { model: 'local/any', instructions: 'You sell in {country}.', tools: ['price'] }
console.log((await runtime.agents.preview('clerk', { draft })).system)

const request = { parameters, arguments: { article: 'tea', tenant: 'other' } }
const { status, result, bound, notices } = await runtime.agents.tools.try('clerk', 'price', { request })
console.log(status, JSON.stringify(result), bound, notices[0]?.code)

await runtime.agents.save({ id: 'clerk', model: 'local/any', instructions: 'You sell tea.' })
for (const { revision, source, changed } of (await runtime.agents.revisions.list('clerk')).items)
  console.log(revision, source, changed)
await runtime.close()
