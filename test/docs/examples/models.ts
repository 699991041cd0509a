/** A model is one method: pieces of text while somebody reads, then one whole reply. */
import type { Model } from '@witan/core'
import { createRuntime, defineAgent } from '@witan/core'

const echoing: Model = {
  id: 'home-made/echo',
  async *stream(request, { deltas, signal }) {
    signal.throwIfAborted()
    const text = `You said: ${request.messages.at(-1)?.content}`
    if (deltas) for (const piece of text.split(/(?<= )/)) yield { type: 'delta', text: piece }
    const usage = { inputTokens: 12, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 }
    yield { type: 'reply', reply: { text, toolCalls: [], finishReason: 'stop', usage, model: null } }
  },
}

const echo = defineAgent({ id: 'echo', instructions: 'Repeat.', model: echoing, temperature: 0 })
const runtime = createRuntime({
  agents: [echo],
  connections: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' } },
})
const result = await runtime.conversation('echo').run('good morning')
console.log(result.text, `(${result.usage.totalTokens} tokens)`)
console.log(runtime.models)

const hosted = { id: 'hosted', instructions: 'Help.', model: 'local/qwen3' }
console.log((await runtime.agents.save(hosted)).agent.model)
await runtime.agents.save({ ...hosted, model: 'cloud/qwen3' }).catch((error) => console.log(error.code, error.message))
await runtime.close()
