/** A desk whose counting is done in the background, for the tests of the command line. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'

const desk = scriptedModel(
  (request, turn) => {
    const said = lastUserMessage(request)
    if (said.startsWith('[from @counter')) return 'The count is in: 12 boxes.'
    if (said.includes('hello')) return 'Good day.'
    return turn === 0 ? call('counter', { message: 'count the boxes' }) : 'I have it counted.'
  },
  { id: 'scripted/desk' },
)

/** Counts for some turns of the event loop, so that the run that asked has ended first. */
const counter = scriptedModel(
  async (request) => {
    if (!lastUserMessage(request).includes('count the boxes')) return 'Half of them are counted.'
    for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    return '12 boxes'
  },
  { id: 'scripted/counter' },
)

export default {
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'desk',
      model: desk,
      instructions: 'Have it counted.',
      subAgents: [{ agent: 'counter', description: 'Counts.', blocking: 'never' }],
    }),
    defineAgent({ id: 'counter', model: counter, instructions: 'Count.' }),
  ],
}
