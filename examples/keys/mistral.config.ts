/** Mistral, by a provider package of the AI SDK. The key stands in `MISTRAL_API_KEY`. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { defineConfig } from '@witan/server'

const { MISTRAL_API_KEY: apiKey } = process.env
const mistral = createOpenAICompatible({
  name: 'mistral',
  baseURL: 'https://api.mistral.ai/v1',
  ...(apiKey === undefined ? {} : { apiKey }),
})

export default defineConfig({
  models: { 'mistral/mistral-small-latest': mistral('mistral-small-latest') },
  agents: [{ id: 'helper', model: 'mistral/mistral-small-latest', instructions: 'Help, and be brief.' }],
})
