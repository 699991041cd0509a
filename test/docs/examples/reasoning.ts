/** What a model reasons, shown: live as deltas of its own kind, later in the document in full detail, never in the text. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const guide = defineAgent({
  id: 'guide',
  instructions: 'Be short.',
  showReasoning: true,
  model: scriptedModel(() => ({ delayMs: 50, reasoning: ['The bridge ', 'is closed.'], deltas: ['Turn ', 'left.'] }), {
    sleep: (ms) => sleep(ms),
  }),
})
const runtime = createRuntime({ agents: [guide] })
const { id } = await runtime.start({ agent: 'guide', id: 'chats/1' })

const leave = new AbortController()
const reading = (async () => {
  for await (const event of runtime.followEvents(id, { signal: leave.signal })) {
    if (event.type === 'delta') console.log(event.kind, event.content)
    if (event.type === 'end' && event.kind === 'agent') leave.abort()
  }
})()
const result = await (await runtime.run(id, { prompt: 'Where to?' })).result
await reading

console.log(result.text)
for (const detail of ['detailed', 'full'] as const) {
  const { messages } = await runtime.getDocument(id, { detail })
  console.log(detail, messages.at(-1)?.reasoning)
}
await runtime.close()
