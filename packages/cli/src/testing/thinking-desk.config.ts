/** A desk whose agents reason; all but the front desk show it. */
import { defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

const model = scriptedModel(
  (request, turn) => {
    if (request.messages[0]?.content === 'You know.')
      return { text: 'It rains.', reasoning: 'The window is wet. So it rains.' }
    return turn === 0
      ? { ...call('clerk', { message: 'Is it raining?' }), reasoning: 'The clerk sits at the window.' }
      : { text: 'Yes, it rains.', reasoning: 'The clerk is right.' }
  },
  { id: 'scripted/thinking' },
)

export default defineConfig({
  store: { url: 'memory:' },
  agents: [
    defineAgent({ id: 'desk', model, instructions: 'You ask.', showReasoning: true, subAgents: [{ agent: 'clerk' }] }),
    defineAgent({ id: 'clerk', model, instructions: 'You know.', showReasoning: true }),
    defineAgent({ id: 'quiet', model, instructions: 'You know.' }),
  ],
})
