/** A shop that asks for consent once in a conversation, and whose one tool wants to be paid before each search. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const search = defineTool({
  name: 'search',
  description: 'Searches the archive.',
  parameters: z.object({ words: z.string() }),
  async execute({ words }, { demand }) {
    const { receipt } = await demand({ kind: 'payment_required', message: 'A search costs one euro.' })
    return receipt === 'r-1' ? `one book about ${words}` : 'nothing without a receipt'
  },
})

const shop = defineAgent({
  id: 'shop',
  instructions: 'Search for what is asked.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('search', { words: 'owls' })),
  tools: [search],
  demands: [{ kind: 'consent_required', message: 'May we keep your words for a day?', per: 'conversation' }],
})

const runtime = createRuntime({ agents: [shop] })
const chat = runtime.conversation('shop')
let waiting = await chat.run('Anything about owls?')
const meet = async (answer: object) => {
  const [asked] = waiting.interruptions
  if (asked?.kind === 'policy') console.log(`${asked.issuer}: ${asked.policy['message']}`)
  const { result } = await runtime.run(chat.id, { answers: [{ id: asked?.id ?? '', answer }] })
  waiting = await result
}
await meet({ resolution: {} })
await meet({ resolution: { receipt: 'r-1' } })
console.log(waiting.text)

waiting = await chat.run('And about bats?')
await meet({ decision: 'declined' })
console.log(waiting.status, waiting.text)
await runtime.close()
