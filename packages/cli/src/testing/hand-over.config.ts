/** A desk for the tests of the command line: it hands bills over to billing, asks the archive with a return, and has a clerk count in the background. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'

const desk = scriptedModel(
  (request, turn) => {
    const said = lastUserMessage(request)
    if (said === 'Count the bills.') return turn === 0 ? call('clerk', { message: said }) : 'The clerk counts.'
    if (said.startsWith('[from @archive')) return 'The archive has it.'
    const to = said.includes('letter') ? 'archive' : 'billing'
    return call('transfer_to_agent', { agent_name: to })
  },
  { id: 'scripted/desk' },
)

export default {
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'desk',
      model: desk,
      instructions: 'Hand over.',
      subAgents: [{ agent: 'clerk', description: 'Counts.', blocking: 'never' }],
      transfers: [
        { agent: 'billing', description: 'Takes bills.' },
        { agent: 'archive', description: 'Finds letters.', returnsTo: 'caller' },
      ],
    }),
    defineAgent({
      id: 'clerk',
      model: scriptedModel(() => 'There are 7.', { id: 'scripted/clerk' }),
      instructions: 'Count.',
    }),
    defineAgent({
      id: 'billing',
      model: scriptedModel(() => 'Your bill is paid.', { id: 'scripted/billing' }),
      instructions: 'Answer.',
    }),
    defineAgent({
      id: 'archive',
      model: scriptedModel(() => 'It is in box 7.', { id: 'scripted/archive' }),
      instructions: 'Find.',
    }),
  ],
}
