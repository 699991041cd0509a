/** An agent with an address: read in any form, kept in one, and unique among agents, people and keys. */
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const runtime = createRuntime({
  domains: { 'bots.example.com': 'default' },
  models: { 'demo/docs': scriptedModel(() => 'See page 7.', { id: 'demo/docs' }) },
})
const docs = {
  id: 'manual',
  model: 'demo/docs',
  instructions: 'Answer from the manual.',
  address: 'Docs',
  access: { call: ['role:staff', '@*@b.example'] },
}
const { agent } = await runtime.agents.save(docs)
console.log(agent.address, agent.access.call)

const found = await runtime.published.find({ local: 'docs', domain: 'bots.example.com' })
console.log(found?.data.id, found?.database, found?.revision)

for (const wrong of ['docs@localhost', '@docs@other.example'])
  await runtime.agents.save({ ...docs, address: wrong }).catch((error) => console.log(error.code, error.message))
await runtime.agents.save({ ...docs, id: 'second' }).catch((error) => console.log(error.code, error.message))
await runtime.close()
