/** What the model of a target reads: the words of the person as they are, and what the other agent did as told. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'

const desk = defineAgent({
  id: 'desk',
  instructions: 'Hand over bills.',
  model: scriptedModel(() => call('transfer_to_agent', { agent_name: 'billing' }), { id: 'demo/desk' }),
  transfers: [{ agent: 'billing', description: 'Bills and payments.' }],
})
const billing = defineAgent({
  id: 'billing',
  instructions: 'You know bills.',
  model: scriptedModel(
    ({ messages }) => {
      for (const { role, content } of messages) console.log(`${role}: ${content}`)
      return 'It is paid.'
    },
    { id: 'demo/billing' },
  ),
})

const runtime = createRuntime({ agents: [desk, billing] })
await runtime.conversation('desk', { id: 'chats/1' }).run('Is my bill paid?')
console.log((await runtime.getDocument('chats/1')).agents)
await runtime.close()
