/** Handles complaints: a hand-over without a return, an agent as a tool, and a second agent for when a person cannot be reached. */
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

/** A tool of the agent below. Although it could reach everybody, it keeps to its answer. */
export const goodwill = defineAgent({
  id: 'goodwill',
  description: 'Says how much may be given for a complaint.',
  instructions: 'Say how much the shop gives for this. Never more than 20.00.',
  transferReach: 'tree',
  disableTransfer: true,
  model: scriptedModel(() => 'Up to 20.00.', { id: 'script/goodwill' }),
})

export const backOffice = defineAgent({
  id: 'back-office',
  description: 'Writes down what a person must decide later.',
  instructions: 'Write down what is to be decided, and say when.',
  model: scriptedModel(() => 'It is on the list of tomorrow morning.', { id: 'script/back-office' }),
})

/** It keeps control, and may hand over to every agent that the desk reaches. */
export const complaints = defineAgent({
  id: 'complaints',
  description: 'Complaints, and what the shop gives for them.',
  instructions:
    'Ask goodwill what may be given, then Vera whether it is given. If she cannot be reached, tell the back office. Hand over what is no complaint.',
  transferReach: 'tree',
  subAgents: [{ agent: 'goodwill', style: 'agentTool' }, { agent: 'back-office' }],
  users: [
    { id: 'vera', name: 'Vera', roles: ['lead'] },
    { id: 'max', name: 'Max' },
  ],
  model: scriptedModel(
    (request, turn) => {
      // Below the words of the person stands what the desk has done.
      const [words = ''] = lastUserMessage(request).split('\n')
      if (/parcel/i.test(words)) return call('transfer_to_agent', { agent_name: 'shipping' })
      const said = toolResults(request).at(-1) ?? ''
      if (turn === 0) return call('goodwill', { request: words })
      if (turn === 1) return call('ask_user', { user: 'vera', message: `May I give this? ${said}` })
      if (turn > 2) return `I am sorry. Nobody who decides is here. ${said}`
      return said.includes('"error"')
        ? call('back-office', { message: `Vera is away: ${words}` })
        : `Vera says: ${said}`
    },
    { id: 'script/complaints' },
  ),
})
