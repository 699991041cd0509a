/** Google, by the endpoint of Gemini that speaks chat completions. The key stands in `GOOGLE_GENERATIVE_AI_API_KEY`. */
import { defineConfig } from '@witan/server'

export default defineConfig({
  connections: {
    google: {
      kind: 'openai-compatible',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      apiKeyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY',
    },
  },
  agents: [{ id: 'helper', model: 'google/gemini-flash-latest', instructions: 'Help, and be brief.' }],
})
