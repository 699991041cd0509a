/** A price of its own, a call that broke off in its words, and what the sums then say. */
import { createRuntime, defineAgent, priceTable } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const price = { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3, cacheWritePerMillion: 3.75 }
const usage = {
  inputTokens: 1000,
  outputTokens: 100,
  cachedInputTokens: 400,
  cacheWriteTokens: 500,
  reasoningTokens: 0,
}
const model = scriptedModel(
  ({ messages }) => {
    if (messages.at(-1)?.content !== 'again') return { text: 'Hello.', usage }
    return { text: 'Hel', error: new Error('the stream broke') }
  },
  { price },
)
const runtime = createRuntime({ agents: [defineAgent({ id: 'greeter', instructions: 'Greet.', model })] })
const chat = runtime.conversation('greeter')
for (const prompt of ['hello', 'again']) {
  const { status, usage: told } = await chat.run(prompt)
  console.log(status, told.totalTokens, told.cacheWriteTokens, told.costUsd, told.complete)
}
const { events } = await runtime.readEvents(chat.id, { verbose: true })
for (const { type, content } of events) if (type === 'notice') console.log(content)
console.log(priceTable['anthropic']?.models['claude-haiku-4-5']?.cacheWritePerMillion)
await runtime.close()
