/** A model that is busy at first: its call is made again, and the log says so. */
import { createRuntime, defineAgent, type Model, ModelCallError } from '@witan/core'

let asked = 0
const busy: Model = {
  id: 'cloud/busy',
  async *stream() {
    asked += 1
    if (asked < 3) throw new ModelCallError('too many requests', { status: 429, retryable: true })
    yield { type: 'reply', reply: { text: 'Here.', toolCalls: [], finishReason: 'stop', usage: null, model: null } }
  },
}
const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: busy })
const runtime = createRuntime({ agents: [clerk], retry: { tries: 3, baseMs: 10 }, random: () => 0.5 })

const { text, usage } = await runtime.conversation('clerk', { id: 'chats/1' }).run('hello')
console.log(text, usage.modelCalls)
const { events } = await runtime.readEvents('chats/1', { verbose: true })
for (const { type, content } of events) if (type === 'notice') console.log(content.code, content.detail)
await runtime.close()
