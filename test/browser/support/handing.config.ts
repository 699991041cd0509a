/** A desk that hands bills over to billing for good, and asks the archive, which gives control back. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

const desk: Rule = (request) => {
  const said = lastUserMessage(request)
  if (said.startsWith('[from @archive')) return 'The letter is in box 7, says the archive. Shall I have it sent to you?'
  return call('transfer_to_agent', { agent_name: said.includes('letter') ? 'archive' : 'billing' })
}

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'desk',
      name: 'Front desk',
      description: 'Knows who can help.',
      model: scriptedModel(desk, { id: 'scripted/desk' }),
      instructions: 'Hand over.',
      subAgents: [{ agent: 'clerk', description: 'Looks up names.' }],
      transfers: [
        { agent: 'billing', description: 'Takes everything about bills.' },
        { agent: 'archive', description: 'Finds letters.', returnsTo: 'caller' },
      ],
    }),
    defineAgent({
      id: 'billing',
      name: 'Billing',
      description: 'Knows the bills.',
      model: scriptedModel(
        (request) =>
          lastUserMessage(request).includes('stop') ? call('StopBill', { bill: 7 }) : 'Bill 7 was **paid** on Monday.',
        { id: 'scripted/billing' },
      ),
      instructions: 'Answer.',
      actions: [{ name: 'StopBill', description: 'Stops a bill.', parametersSample: { bill: 7 } }],
    }),
    defineAgent({
      id: 'archive',
      name: 'Archive',
      description: 'Keeps the letters.',
      model: scriptedModel(() => 'Box 7, second shelf.', { id: 'scripted/archive' }),
      instructions: 'Find.',
    }),
    defineAgent({
      id: 'clerk',
      name: 'Clerk',
      model: scriptedModel(() => 'Noted.', { id: 'scripted/clerk' }),
      instructions: 'Note.',
    }),
  ],
})
