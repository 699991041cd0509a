/** Two agents in a row: the second one reads the answer of the first one. */
import { createRuntime, defineAgent } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'

const draft = defineAgent({
  id: 'draft',
  instructions: 'Write a letter.',
  model: scriptedModel(() => 'Dear Ada, the parcel is late.', { id: 'demo/draft' }),
})
const polish = defineAgent({
  id: 'polish',
  instructions: 'Make it friendlier.',
  model: scriptedModel(
    (request) => {
      console.log(lastUserMessage(request))
      return 'Dear Ada, we are sorry that your parcel is late.'
    },
    { id: 'demo/polish' },
  ),
})
const letter = defineAgent({ id: 'letter', workflow: { kind: 'sequence', agents: ['draft', 'polish'] } })

const runtime = createRuntime({ agents: [draft, polish, letter] })
const { agent, text } = await runtime.conversation('letter', { id: 'chats/1' }).run('Tell Ada about her parcel.')
console.log(`${agent}: ${text}`)
console.log((await runtime.getDocument('chats/1')).linkedConversations)
await runtime.close()
