/** Anthropic, by the endpoint that speaks chat completions. The key stands in `ANTHROPIC_API_KEY`. */
import { defineConfig } from '@witan/server'

export default defineConfig({
  connections: {
    anthropic: { kind: 'openai-compatible', baseUrl: 'https://api.anthropic.com/v1', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  },
  agents: [{ id: 'helper', model: 'anthropic/claude-haiku-4-5', instructions: 'Help, and be brief.' }],
})
