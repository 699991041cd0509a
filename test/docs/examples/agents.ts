/** One agent as code and one as data; a save makes a revision, and a save that changes nothing makes none. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const greeter = defineAgent({
  id: 'greeter',
  instructions: 'Greet people.',
  model: scriptedModel(() => 'Hello!', { id: 'demo/greeter' }),
})

const runtime = createRuntime({
  agents: [greeter],
  models: { 'demo/poet': scriptedModel(() => 'Roses are red.', { id: 'demo/poet' }) },
})

const poet = { id: 'poet', model: 'demo/poet', instructions: 'Answer in verse.' }
const first = await runtime.agents.save(poet)
const again = await runtime.agents.save(poet)
const changed = await runtime.agents.save({ ...poet, instructions: 'Answer in prose.' })
console.log('revisions', first.agent.revision, again.agent.revision, changed.agent.revision)

for (const agent of (await runtime.agents.list()).items) console.log(agent.id, agent.source, agent.limits.maxIterations)

const misspelled = { ...poet, instruction: 'typo' }
await runtime.agents.save(misspelled).catch((error) => console.log(error.code, error.hint))
console.log((await runtime.conversation('poet').run('A poem, please')).text)
await runtime.close()
