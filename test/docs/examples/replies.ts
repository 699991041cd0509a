/** A model that keeps something with its reply: only this model reads it, on the reply's message. */
import type { Model } from '@witan/core'
import { createRuntime, defineAgent } from '@witan/core'

const signing: Model = {
  id: 'home-made/signing',
  async *stream({ messages }) {
    const own = messages.filter((message) => message.role === 'assistant')
    const text = `Reply ${own.length + 1}; I signed ${JSON.stringify(own.map(({ kept }) => kept?.parts))}.`
    const kept = { by: 'home-made/signing', parts: { signature: own.length + 1 } }
    yield { type: 'reply', reply: { text, toolCalls: [], finishReason: 'stop', usage: null, model: null, kept } }
  },
}

const clerk = defineAgent({ id: 'clerk', instructions: 'Sign.', model: signing })
const runtime = createRuntime({ agents: [clerk] })
const chat = runtime.conversation('clerk', { id: 'chats/1' })
console.log((await chat.run('one')).text)
console.log((await chat.run('two')).text)
const { events } = await runtime.readEvents('chats/1', { verbose: true })
console.log(JSON.stringify(events).includes('kept'))
await runtime.close()
