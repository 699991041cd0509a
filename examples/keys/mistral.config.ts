/** Mistral, by its package of the AI SDK, which reads the key from `MISTRAL_API_KEY`. */
import { mistral } from '@ai-sdk/mistral'
import { defineConfig } from '@witan/server'

export default defineConfig({
  models: { 'mistral/mistral-small-latest': mistral('mistral-small-latest') },
  agents: [{ id: 'helper', model: 'mistral/mistral-small-latest', instructions: 'Help, and be brief.' }],
})
