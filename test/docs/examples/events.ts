/** Following a conversation: stored events, then live ones with the words as they come. */
import { setTimeout as wait } from 'node:timers/promises'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const guide = defineAgent({
  id: 'guide',
  instructions: 'Be short.',
  model: scriptedModel(() => ({ delayMs: 50, deltas: ['Turn ', 'left.'] }), { sleep: (ms) => wait(ms) }),
})
const runtime = createRuntime({ agents: [guide] })
const { id } = await runtime.start({ agent: 'guide', id: 'chats/1' })

const leave = new AbortController()
const reading = (async () => {
  for await (const event of runtime.followEvents(id, { signal: leave.signal })) {
    console.log(event.seq ?? '-', event.type, event.kind, 'text' in event.content ? event.content.text : '')
    if (event.type === 'end' && event.kind === 'agent') leave.abort()
  }
})()
await (await runtime.run(id, { prompt: 'Where to?' })).result
await reading

const { events, lastSeq } = await runtime.readEvents(id, { from: 3 })
const seqs = events.map(({ seq }) => seq)
console.log('after 3:', seqs, 'last', lastSeq)
await runtime.close()
