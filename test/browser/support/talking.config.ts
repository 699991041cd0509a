/** A server whose one agent answers at once, for conversations of many turns. */
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'

export default defineConfig({
  store: { url: 'memory:' },
  auth: { mode: 'none' },
  server: { port: 0 },
  agents: [
    defineAgent({
      id: 'talker',
      model: scriptedModel(() => 'Heard.', { id: 'scripted/talker' }),
      instructions: 'Answer.',
    }),
  ],
})
