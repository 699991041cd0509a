/** What an agent sets for its model, and who is asked where that one is not available. */
import { createRuntime, defineAgent, type Model, ModelCallError } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const busy: Model = {
  id: 'cloud/big',
  stream() {
    throw new ModelCallError('no room', { retryable: true })
  },
}
const small = scriptedModel(() => 'I can help.', { id: 'local/small' })

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Help.',
  model: busy,
  maxOutputTokens: 2000,
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } }, openaiCompatible: { top_k: 20 } },
  fallbacks: ['local/small'],
})
const runtime = createRuntime({ agents: [clerk], models: { 'local/small': small }, retry: { tries: 1 } })
console.log((await runtime.conversation('clerk', { id: 'chats/1' }).run('hello')).text)
console.log(small.requests[0]?.maxOutputTokens, small.requests[0]?.providerOptions)
const { events } = await runtime.readEvents('chats/1', { verbose: true })
for (const { type, content } of events) if (type === 'notice') console.log(content)
await runtime.close()
