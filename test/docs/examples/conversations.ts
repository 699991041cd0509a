/** A second message while a run is live joins it; a cancelled run ends, and the conversation goes on. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const gate = Promise.withResolvers<string>()
const wait = defineTool({
  name: 'wait',
  description: 'Waits for the post.',
  parameters: z.object({}),
  execute: () => gate.promise,
})
const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Wait for the post.',
  model: scriptedModel((request) => {
    const said = request.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    if (said.at(-1) === 'Stop here') return { hang: true }
    return toolResults(request).length > 0 || said.length > 1 ? `I heard: ${said.join(' | ')}` : call('wait')
  }),
  tools: [wait],
})
const runtime = createRuntime({ agents: [clerk] })
const { id, run } = await runtime.start({ agent: 'clerk', id: 'chats/', prompt: 'Any post?' })

const joined = await runtime.run(id, { prompt: 'And any parcels?' })
await runtime.run(id, { prompt: 'Hello?', onActive: 'reject' }).catch((error) => console.log(error.code))
gate.resolve('one letter')
console.log((await joined.result).text, joined.runId === run?.runId)

const hanging = await runtime.run(id, { prompt: 'Stop here' })
await runtime.cancelRun(hanging.runId)
console.log((await hanging.result).status)
const { status, runs } = await runtime.getConversation(id)
console.log(
  status,
  runs.map((one) => one.status),
)
await runtime.close()
