/** A desk that hands over to a specialist for good, and to another one that gives control back. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'

const billing = defineAgent({
  id: 'billing',
  description: 'Bills and payments.',
  instructions: 'You know bills.',
  model: scriptedModel(() => 'Your bill of May is paid.', { id: 'demo/billing' }),
})
const returns = defineAgent({
  id: 'returns',
  description: 'Sends goods back.',
  instructions: 'You know returns.',
  model: scriptedModel(() => 'The parcel is picked up tomorrow.', { id: 'demo/returns' }),
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Hand over to the right specialist.',
  model: scriptedModel(
    (request) => {
      const words = lastUserMessage(request)
      if (words.includes('[from @returns')) return 'All arranged. Anything else?'
      return call('transfer_to_agent', { agent_name: words.includes('bill') ? 'billing' : 'returns' })
    },
    { id: 'demo/desk' },
  ),
  transfers: [{ agent: 'billing' }, { agent: 'returns', returnsTo: 'caller' }],
})

const runtime = createRuntime({ agents: [billing, returns, desk] })
for (const prompt of ['Is my bill paid?', 'I send the lamp back.']) {
  const { id, run } = await runtime.start({ agent: 'desk', prompt })
  const { agent, text } = (await run?.result) ?? { agent: '', text: '' }
  console.log(`${agent}: ${text}`)
  for (const { type, content } of (await runtime.readEvents(id)).events) {
    if (type === 'transfer') console.log(`  ${content.from} → ${content.to}${content.returned ? ' (back)' : ''}`)
  }
}
await runtime.close()
