/** OpenAI. The key stands in `OPENAI_API_KEY`. */
import { defineConfig } from '@witan/server'

export default defineConfig({
  connections: {
    openai: { kind: 'openai-compatible', baseUrl: 'https://api.openai.com/v1', apiKeyEnv: 'OPENAI_API_KEY' },
  },
  agents: [{ id: 'helper', model: 'openai/gpt-5-mini', instructions: 'Help, and be brief.' }],
})
