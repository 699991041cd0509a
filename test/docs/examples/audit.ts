/** Two saves and a deletion, and what the audit says of them. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Help.',
  model: scriptedModel(() => 'Filed.', { id: 'scripted/clerk' }),
})
const runtime = createRuntime({ agents: [clerk] })
await runtime.agents.save({ id: 'guide', model: 'scripted/clerk', instructions: 'Guide.' })
await runtime.agents.save({ id: 'guide', model: 'scripted/clerk', instructions: 'Guide well.' })
await runtime.agents.delete('guide')
for (const { by, via, action, name, before, after } of (await runtime.audit()).items)
  console.log(by, via, action, name, before, '→', after)
await runtime.close()
