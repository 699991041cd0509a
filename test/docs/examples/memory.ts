/** An agent that remembers what its guest wants, and the guest who looks, corrects and erases. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'

const waiter = defineAgent({
  id: 'waiter',
  instructions: 'Remember what the guest drinks.',
  memory: {},
  model: scriptedModel(
    (request, turn) => {
      const [said = '', , memory] = lastUserMessage(request).split('\n')
      if (memory !== undefined) return `As always: ${JSON.parse(memory.slice(memory.indexOf('{'))).blocks[0].text}`
      return turn === 0 ? call('remember', { key: 'drink', text: said }) : 'Noted.'
    },
    { id: 'demo/waiter' },
  ),
})

const runtime = createRuntime({ agents: [waiter] })
const say = async (words: string) => console.log((await runtime.conversation('waiter').run(words)).text)

await say('Tea, no sugar.')
await say('The usual, please.')

const [block] = (await runtime.memory.list({ subject: 'user:local' })).items
if (block !== undefined) {
  console.log(block.key, block.revision, 'by', block.writtenBy.agent)
  await runtime.memory.change(block.id, { text: 'Coffee.', expectedRevision: block.revision })
}
await say('The usual, please.')

const { erased, conversations } = await runtime.memory.erase({ subject: 'user:local' })
console.log(erased, 'erased, quoted in', conversations.length, 'conversations')
await runtime.close()
