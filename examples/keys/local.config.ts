/** A server on this machine, which asks for no key: Ollama; llama.cpp listens on 8080 and LM Studio on 1234. */
import { defineConfig } from '@witan/server'

export default defineConfig({
  connections: {
    local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
  },
  agents: [{ id: 'helper', model: 'local/qwen3:8b', instructions: 'Help, and be brief.' }],
})
