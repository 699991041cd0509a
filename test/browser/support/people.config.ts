/** A server whose one agent asks the people who take part, and says who spoke last. */
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { defineAgent } from '@witan/core'
import { defineConfig } from '@witan/server'

const model = scriptedModel(
  (request, turn) => {
    if (turn > 0) return `It came to: ${toolResults(request).at(-1)}`
    const said = lastUserMessage(request)
    return said.includes('ask') ? call('ask_user', { user: 'bob', message: 'Which day?' }) : `I read: ${said}`
  },
  { id: 'scripted/host' },
)

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [defineAgent({ id: 'host', model, instructions: 'Bring people together.', users: 'participants' })],
})
