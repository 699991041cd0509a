/** What a database has used, by agent and by day. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const usage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 }
const price = { inputPerMillion: 3, outputPerMillion: 15 }
const model = scriptedModel(() => ({ text: 'Hello.', usage }), { price })
const runtime = createRuntime({ agents: [defineAgent({ id: 'greeter', instructions: 'Greet.', model })] })
await runtime.conversation('greeter').run('hello')
const chat = runtime.conversation('greeter')
await chat.run('hello')
await runtime.deleteConversation(chat.id)

const { items, nextCursor } = await runtime.usage({ by: 'agent' })
for (const { key, modelCalls, totalTokens, costUsd, complete } of items)
  console.log(key, modelCalls, totalTokens, costUsd, complete)
console.log(nextCursor, (await runtime.usage({ by: 'day', to: '2020-01-01' })).items)
await runtime.close()
