/** Two delegates at once, then one of them again: each keeps a document of its own, and remembers. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

const specialist = (id: string) =>
  defineAgent({
    id,
    instructions: `You know about ${id}.`,
    model: scriptedModel(
      ({ messages }) => `${id} heard ${messages.filter(({ role }) => role === 'user').length} question(s)`,
      { id: `demo/${id}` },
    ),
  })
const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask your specialists.',
  model: scriptedModel((request) => {
    const results = toolResults(request)
    if (results.length > 0) return results.join('; ')
    const orders = call('orders', { message: lastUserMessage(request) })
    const stock = call('stock', { message: lastUserMessage(request) })
    return { toolCalls: [...(orders.toolCalls ?? []), ...(stock.toolCalls ?? [])] }
  }),
  subAgents: [
    { agent: 'orders', description: 'Knows orders.' },
    { agent: 'stock', description: 'Knows stock.', history: 'isolated' },
  ],
})

const runtime = createRuntime({ agents: [specialist('orders'), specialist('stock'), desk] })
const chat = runtime.conversation('desk', { id: 'chats/1' })
console.log((await chat.run('What is open?')).text)
console.log((await chat.run('And now?')).text)
console.log((await runtime.getDocument('chats/1')).linkedConversations)
await runtime.close()
