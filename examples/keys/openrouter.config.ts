/** OpenRouter: one key, `OPENROUTER_API_KEY`, for models of many vendors. Their names have a slash of their own. */
import { defineConfig } from '@witan/server'

export default defineConfig({
  connections: {
    openrouter: {
      kind: 'openai-compatible',
      baseUrl: 'https://openrouter.ai/api/v1',
      apiKeyEnv: 'OPENROUTER_API_KEY',
    },
  },
  agents: [{ id: 'helper', model: 'openrouter/qwen/qwen3-32b', instructions: 'Help, and be brief.' }],
})
